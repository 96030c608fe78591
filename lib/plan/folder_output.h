// Files that go into a folder together: all of them or none.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/folder.h"
#include "base/result.h"

namespace hipplan::plan {

/// Collects files in a hidden folder inside their destination and moves them to their places when
/// all are there. Until commit() a failure, a full disk or an interruption leaves the destination
/// as it was; what a killed writer left goes with the next one to the same folder. Errors name the
/// places of files, not where they are collected.
class FolderOutput {
 public:
  /// Makes the folder when it does not exist. Fails as hipplan::folder_error() says.
  static Result<FolderOutput> create(const std::filesystem::path& folder);
  FolderOutput(FolderOutput&& other) noexcept;
  FolderOutput& operator=(FolderOutput&&) = delete;
  /// Without commit() everything is thrown away, the folder too when create() made it.
  ~FolderOutput();

  /// Writes what will be `name`, a relative path, in the folder: `write` is called with a file to
  /// write to. Fails when it does.
  Result<void> add(const std::filesystem::path& name,
                   const std::function<Result<void>(const std::filesystem::path&)>& write);
  /// The same, of bytes.
  Result<void> add(const std::filesystem::path& name, ByteView bytes);
  /// Moves every file to its place, over what is there. Refuses (bad_input, reason "open") a name
  /// that cannot be a file's there, as where a folder stands in its place, before anything is
  /// moved.
  Result<void> commit();

 private:
  struct Member {
    std::filesystem::path written, name;
  };
  FolderOutput() = default;
  Result<void> open_staging();
  Result<void> check_places() const;
  [[nodiscard]] Error named(Error error) const;
  void close();

  std::filesystem::path folder_, staging_;
  NewFolders made_;
  std::vector<Member> members_;
  int lock_ = -1;  ///< held on the staging folder as long as its writer lives
};

}  // namespace hipplan::plan
