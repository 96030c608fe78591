// Folders that files are written into: why one cannot be used, and none left behind for nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/result.h"

namespace hipplan {

/// Why `doing` ("make", "read", "write into") a folder fails: bad_input, reason "open", where the
/// path is the wrong one to name, else machine, reason "io".
[[nodiscard]] Error folder_error(const std::filesystem::path& folder, std::string_view doing,
                                 const std::error_code& why);

/// Folders that were made for files and go away again unless files are kept in them.
class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(NewFolders&& other) noexcept;
  NewFolders& operator=(NewFolders&&) = delete;
  /// Removes what was made, as far as it is empty.
  ~NewFolders();
  /// Makes a folder and those above it that are missing. It may be there already. Fails as
  /// folder_error() says.
  Result<void> make(const std::filesystem::path& folder);
  /// They stay.
  void keep() { made_.clear(); }

 private:
  std::vector<std::filesystem::path> made_;  ///< each behind those that it lies in
};

}  // namespace hipplan
