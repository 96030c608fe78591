#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/interruption.h"

namespace hipplan {
namespace fs = std::filesystem;
namespace {

/// Whether `path` still names the file that is open as `descriptor`.
bool still_named(const fs::path& path, int descriptor) {
  struct stat named{}, opened{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 &&
         named.st_ino == opened.st_ino && named.st_dev == opened.st_dev;
}

Result<void> wait_for_lock(const fs::path& path, int descriptor) {
  while (::flock(descriptor, LOCK_EX) != 0) {
    const int number = errno;
    if (call_again(number)) continue;
    if (number == EINTR) return interrupted_error();
    return Error{.code = Code::machine,
                 .reason = "io",
                 .where = path.string(),
                 .what = std::string("lock failed: ") + std::strerror(number)};
  }
  return {};
}

}  // namespace

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<FileLock> FileLock::take(const fs::path& file) {
  std::error_code ignored;
  while (true) {
    if (!fs::is_regular_file(file, ignored)) return FileLock(-1);
    FileLock lock(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (lock.descriptor_ < 0) return lock;
    HIPPLAN_TRY(wait_for_lock(file, lock.descriptor_));
    if (still_named(file, lock.descriptor_)) return lock;
  }
}

bool lock_temporary(int descriptor) {
  struct stat info{};
  return ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &info) == 0 &&
         info.st_nlink > 0;
}

}  // namespace hipplan
