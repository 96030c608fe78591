#include "plan/spool.h"

#include <unistd.h>

#include <cerrno>

#include "plan/errors.h"

namespace hipplan::plan {
namespace {

Error io_error(const char* doing) {
  return machine("io", cat("temporary file in ", P_tmpdir),
                 cat(doing, " failed: ", std::strerror(errno)));
}

}  // namespace

Result<uint64_t> Spool::add(ByteView bytes) {
  const uint64_t offset = file_bytes_ + tail_.size();
  append(tail_, bytes);
  if (tail_.size() > memory_bytes_) HIPPLAN_TRY(move_to_file());
  return offset;
}

Result<void> Spool::move_to_file() {
  if (!file_) {
    file_.reset(std::tmpfile());
    if (!file_) return io_error("create");
  }
  ByteView rest = tail_;
  while (!rest.empty()) {
    const ssize_t done =
        ::pwrite(::fileno(file_.get()), rest.data(), rest.size(), static_cast<off_t>(file_bytes_));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return io_error("write");
    file_bytes_ += static_cast<uint64_t>(done);
    rest = rest.subspan(static_cast<size_t>(done));
  }
  tail_.clear();
  return {};
}

Result<Bytes> Spool::read(uint64_t offset, uint64_t size) const {
  if (offset >= file_bytes_) {
    const auto part = slice(tail_, offset - file_bytes_, size);
    return Bytes(part->begin(), part->end());
  }
  Bytes out(static_cast<size_t>(size));
  size_t at = 0;
  while (at < out.size()) {
    const ssize_t got = ::pread(::fileno(file_.get()), out.data() + at, out.size() - at,
                                static_cast<off_t>(offset + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return io_error("read");
    at += static_cast<size_t>(got);
  }
  return out;
}

}  // namespace hipplan::plan
