// Keeping a file to oneself from reading it to replacing it.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace hipplan {

/// Held by one process or thread at a time, as long as the object lives. AtomicFile puts another
/// file in the place of the locked one: whoever waited for that starts over with the new one.
class FileLock {
 public:
  /// Waits for the lock. What is no file, or cannot be opened, is not locked: opening it tells why.
  /// Fails with machine, reason "io", or when it is interrupted.
  static Result<FileLock> take(const std::filesystem::path& file);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace hipplan
