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

/// Locks an open temporary file or folder without waiting: its writer does as long as it works, and
/// what can be locked by others has no writer any more. False when another process holds the lock,
/// or when the temporary is gone from its folder: taken for a dead writer's between its making and
/// its locking. The lock goes when the descriptor is closed.
[[nodiscard]] bool lock_temporary(int descriptor);

}  // namespace hipplan
