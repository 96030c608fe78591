#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include "base/file_lock.h"
#include "base/interruption.h"
#include "base/path_fault.h"
#include "base/replaced_file.h"

namespace hipplan {
namespace fs = std::filesystem;
namespace {

constexpr char kTemporaryMark[] = ".hipplan-tmp-";

Error machine_error(const fs::path& path, const std::string& doing, int number) {
  if (number == EINTR) return interrupted_error();
  return {.code = Code::machine,
          .reason = "io",
          .where = path.string(),
          .what = doing + " failed: " + std::strerror(number)};
}

Error open_error(const fs::path& path, int number) {
  if (number == EINTR) return interrupted_error();
  return {.code = is_wrong_path(number) ? Code::bad_input : Code::machine,
          .reason = "open",
          .where = path.string(),
          .what = std::string("cannot open: ") + std::strerror(number)};
}

/// Opens; a pipe that has nobody at its other end waits, until the caller is asked to stop.
int open_waiting(const fs::path& path, int flags) {
  while (true) {
    const int descriptor = ::open(path.c_str(), flags);
    if (descriptor >= 0 || !call_again(errno)) return descriptor;
  }
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ > 2) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

Error too_large(const fs::path& path, uint64_t limit) {
  return {.code = Code::bad_input,
          .reason = "too-large",
          .where = path.string(),
          .what = "file is larger than this reader takes",
          .expected = cat("at most ", limit, " bytes")};
}

/// The longest stream that is kept in memory; growing takes up to twice as much.
constexpr uint64_t kLongestStream = 256ull << 20;

Result<Bytes> read_stream(int descriptor, const fs::path& path, uint64_t limit) {
  const bool ours = kLongestStream < limit;
  limit = std::min(limit, kLongestStream);
  Bytes out;
  constexpr size_t kStep = 1 << 16;
  while (true) {
    const size_t old = out.size();
    out.resize(old + kStep);
    const ssize_t got = ::read(descriptor, out.data() + old, kStep);
    if (got < 0 && call_again(errno)) {
      out.resize(old);
      continue;
    }
    if (got < 0) return machine_error(path, "read", errno);
    out.resize(old + static_cast<size_t>(got));
    if (out.size() > limit) {
      Error error = too_large(path, limit);
      error.found = "a stream that goes on";
      if (ours) error.advice = "write it to a file and name that";
      return error;
    }
    if (got == 0) return out;
  }
}

/// Files up to this size are read: nothing that becomes of them later can disturb their reader, and
/// it costs less than a mapping.
constexpr uint64_t kReadWhole = 1 << 20;

/// Fills `to` from the start of the file; how much there was when the file became shorter.
Result<size_t> read_from_start(int descriptor, const fs::path& path, std::span<std::byte> to) {
  size_t at = 0;
  while (at < to.size()) {
    const ssize_t got = ::pread(descriptor, to.data() + at, to.size() - at, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return machine_error(path, "read", errno);
    if (got == 0) break;
    at += static_cast<size_t>(got);
  }
  return at;
}

/// Removes a temporary whose writer is gone: nobody holds its lock. False when there is none.
bool remove_stale(const fs::path& temporary) {
  const Descriptor opened(::open(temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (opened.get() < 0) return false;
  if (lock_temporary(opened.get())) ::unlink(temporary.c_str());
  return true;
}

/// The target's name and what marks a temporary. Of a name that leaves no room for that the front
/// stays, cut between characters: targets that share a front share a row of numbers, no more.
fs::path temporary_name(const fs::path& target, int number) {
  const std::string mark = kTemporaryMark + std::to_string(number);
  std::string name = target.filename().string();
  if (const size_t room = NAME_MAX - mark.size(); name.size() > room && name.size() <= NAME_MAX) {
    constexpr unsigned kFollowing = 0x80, kFollowingMask = 0xC0;
    size_t end = room;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & kFollowingMask) == kFollowing) --end;
    name.resize(end == 0 ? room : end);
  }
  return target.parent_path() / (name + mark);
}

Result<void> sync_folder(const fs::path& target) {
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.get() < 0) return machine_error(folder, "open", errno);
  if (::fsync(opened.get()) != 0 && errno != EINVAL) return machine_error(folder, "fsync", errno);
  return {};
}

}  // namespace

Result<FileView> FileView::open(const fs::path& path, uint64_t limit) {
  const bool standard_input = path == "-";
  const Descriptor file(standard_input ? 0 : open_waiting(path, O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return open_error(path, errno);
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return machine_error(path, "stat", errno);
  if (S_ISDIR(info.st_mode))
    return Error{.code = Code::bad_input,
                 .reason = "open",
                 .where = path.string(),
                 .what = "is a folder",
                 .expected = "a file"};
  FileView out;
  if (!S_ISREG(info.st_mode) || info.st_size == 0) {
    // A stream is read into memory, and a device or a pipe may have no end. Files of /proc have no
    // size and hold something all the same.
    HIPPLAN_TRY_ASSIGN(auto bytes, read_stream(file.get(), path, limit));
    return own(std::move(bytes));
  }
  const auto size = static_cast<uint64_t>(info.st_size);
  if (size > limit) return too_large(path, limit);
  if (size <= kReadWhole) {
    const auto memory = std::make_shared_for_overwrite<std::byte[]>(static_cast<size_t>(size));
    const std::span<std::byte> all(memory.get(), static_cast<size_t>(size));
    HIPPLAN_TRY_ASSIGN(const size_t read, read_from_start(file.get(), path, all));
    out.view_ = all.first(read);
    out.owner_ = memory;
    return out;
  }
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (mapped == MAP_FAILED) return machine_error(path, "mmap", errno);
  out.owner_ = std::shared_ptr<const void>(
      mapped, [size](const void* p) { ::munmap(const_cast<void*>(p), size); });
  out.view_ = {static_cast<const std::byte*>(mapped), size};
  out.mapped_ = true;
  return out;
}

FileView FileView::own(Bytes bytes) {
  FileView out;
  auto owned = std::make_shared<const Bytes>(std::move(bytes));
  out.view_ = *owned;
  out.owner_ = std::move(owned);
  return out;
}

Result<Bytes> read_file(const fs::path& path, uint64_t limit) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path, limit));
  return Bytes(file.view().begin(), file.view().end());
}

AtomicFile::AtomicFile(fs::path target, fs::path temporary, int descriptor, int device)
    : target_(std::move(target)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor),
      device_(device) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      device_(std::exchange(other.device_, -1)),
      size_(other.size_) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  ::close(descriptor_);
  if (device_ >= 0) ::close(device_);
}

Result<AtomicFile> AtomicFile::create_for_device(const fs::path& named, const fs::path& target) {
  const int device = open_waiting(target, O_WRONLY | O_CLOEXEC);
  if (device < 0) return open_error(named, errno);
  const int memory = ::memfd_create("hipplan", MFD_CLOEXEC);
  if (memory >= 0) return AtomicFile(named, {}, memory, device);
  const int why = errno;
  ::close(device);
  return machine_error(named, "memfd_create", why);
}

Result<AtomicFile> AtomicFile::create(const fs::path& named) {
  std::error_code failed;
  fs::path target = named;
  // Opened by the name that was given: that of a pipe that is open already leads to no other.
  if (const auto there = fs::status(named, failed);
      fs::exists(there) && !fs::is_regular_file(there) && !fs::is_directory(there))
    return create_for_device(named, named);
  if (fs::is_symlink(named, failed)) {
    target = fs::canonical(named, failed);
    if (failed)
      return Error{.code = Code::bad_input,
                   .reason = "open",
                   .where = named.string(),
                   .what = "is a link that leads nowhere: " + failed.message()};
  }
  const auto status = fs::status(target, failed);
  if (fs::is_regular_file(status) && names_descriptor(named))
    return Error{.code = Code::bad_input,
                 .reason = "open",
                 .where = named.string(),
                 .what =
                     "is a file that is open already: in its place, what others write to it "
                     "would be lost",
                 .expected = "the name of a file, or - for standard output"};
  if (fs::is_directory(status))
    return Error{.code = Code::bad_input,
                 .reason = "open",
                 .where = named.string(),
                 .what = "is a folder",
                 .expected = "a file name to write"};
  // Names are counted up from 0, so what a dead writer left is met again by the next one.
  constexpr int kAttempts = 1000, kSwept = 16;
  // What is to replace a file is nobody else's to read until commit() knows that file's access.
  const mode_t mode = fs::exists(status) ? 0600 : 0666;
  for (int number = 0; number < kAttempts; ++number) {
    const fs::path temporary = temporary_name(target, number);
    const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && errno != EEXIST) return open_error(named, errno);
    if (descriptor < 0) {
      if (remove_stale(temporary) && !fs::exists(temporary, failed)) --number;
      continue;
    }
    if (lock_temporary(descriptor)) {
      for (int next = number + 1; next <= number + kSwept; ++next)
        (void)remove_stale(temporary_name(target, next));
      return AtomicFile(target, temporary, descriptor, -1);
    }
    ::close(descriptor);
  }
  return open_error(named, EEXIST);
}

Result<void> AtomicFile::write(ByteView bytes) {
  return write_at(size_, bytes);
}

Result<void> AtomicFile::write_at(uint64_t offset, ByteView bytes) {
  HIPPLAN_TRY(check_interruption());
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return machine_error(target_, "write", done < 0 ? errno : ENOSPC);
    offset += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  size_ = std::max(size_, offset);
  return {};
}

/// Hands the collected bytes to a pipe or device.
Result<void> AtomicFile::deliver() {
  std::array<std::byte, 1 << 16> block;
  for (uint64_t at = 0; at < size_;) {
    const ssize_t got = ::pread(descriptor_, block.data(), block.size(), static_cast<off_t>(at));
    if (got <= 0) return machine_error(target_, "read", errno);
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t done = ::write(device_, block.data() + sent, static_cast<size_t>(got - sent));
      if (done < 0 && call_again(errno)) continue;
      if (done <= 0) return machine_error(target_, "write", done < 0 ? errno : ENOSPC);
      sent += done;
    }
    at += static_cast<uint64_t>(got);
  }
  if (::close(std::exchange(device_, -1)) != 0) return machine_error(target_, "close", errno);
  return {};
}

Result<void> AtomicFile::commit() {
  HIPPLAN_TRY(check_interruption());
  if (device_ >= 0) return deliver();
  take_access_of(target_, descriptor_);
  if (::fsync(descriptor_) != 0) return machine_error(target_, "fsync", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    return machine_error(target_, "rename", errno);
  ::close(std::exchange(descriptor_, -1));
  return sync_folder(target_);
}

Result<void> write_file(const fs::path& target, ByteView bytes) {
  HIPPLAN_TRY_ASSIGN(auto file, AtomicFile::create(target));
  HIPPLAN_TRY(file.write(bytes));
  return file.commit();
}

}  // namespace hipplan
