// Files that go into a folder together: all of them or none.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace hipplan::plan {

/// Why a folder cannot be made: bad_input, reason "open", when the path cannot be a folder, else
/// machine, reason "io".
[[nodiscard]] Error folder_error(const std::filesystem::path& folder, const std::error_code& why);

/// Collects files in a hidden folder inside their destination and moves them to their places when
/// all are there. Until commit() a failure, a full disk or an interruption leaves the destination
/// as it was; what a killed writer left goes with the next one to the same folder.
class FolderOutput {
 public:
  /// Makes the folder when it does not exist. Fails as folder_error() says.
  static Result<FolderOutput> create(const std::filesystem::path& folder);
  FolderOutput(FolderOutput&& other) noexcept;
  FolderOutput& operator=(FolderOutput&&) = delete;
  /// Without commit() everything is thrown away, the folder too when create() made it.
  ~FolderOutput();

  /// Where to write the file that will be `name`, a relative path, in the folder.
  [[nodiscard]] std::filesystem::path place(const std::filesystem::path& name);
  /// Moves every file to its place, over what is there. Refuses (bad_input, reason "open") when a
  /// folder stands in the place of a file, before anything is moved.
  Result<void> commit();

 private:
  struct Member {
    std::filesystem::path written, name;
  };
  FolderOutput() = default;
  Result<void> open_staging();
  Result<void> check_places() const;
  void close();

  std::filesystem::path folder_, staging_;
  std::vector<std::filesystem::path> made_;  ///< folders that create() made, the outermost first
  std::vector<Member> members_;
  int lock_ = -1;  ///< held on the staging folder as long as its writer lives
};

}  // namespace hipplan::plan
