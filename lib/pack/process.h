// Running another program without a shell.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hipplan::pack {

struct Finished {
  int status = 0;      ///< exit status, or 128 plus the signal that ended it
  std::string output;  ///< standard output and standard error together, the first 64 KiB
};

/// Runs `arguments[0]` (looked up in PATH when it has no '/') in `folder` and waits. The program
/// gets a fixed environment, so that nobody's settings reach what it makes. Fails with machine when
/// it cannot be started, or when it is not known how it ended.
Result<Finished> run_program(const std::vector<std::string>& arguments,
                             const std::filesystem::path& folder);

/// A new folder that goes away with everything in it. It is locked while the object lives.
class TemporaryFolder {
 public:
  /// Made inside `parent`, which exists.
  static Result<TemporaryFolder> create(const std::filesystem::path& parent);
  /// Removes what killed processes left in `parent`: folders that nobody holds.
  static void remove_stale(const std::filesystem::path& parent);
  TemporaryFolder(TemporaryFolder&& other) noexcept
      : path_(std::move(other.path_)), lock_(std::exchange(other.lock_, -1)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  std::filesystem::path path_;
  int lock_;
};

/// An error about a file in `work`, a temporary folder or the one that it would be made in, as one
/// about that file in the folder that was asked for.
[[nodiscard]] Error without_temporary(Error error, const std::filesystem::path& work,
                                      const std::filesystem::path& asked);

}  // namespace hipplan::pack
