// Where the writer puts bytes: an atomic file or memory.
#pragma once

#include <algorithm>

#include "base/bytes.h"
#include "base/file.h"
#include "base/result.h"

namespace hipplan::plan {

class Output {
 public:
  virtual ~Output() = default;
  virtual Result<void> put(ByteView bytes) = 0;
  /// Replaces bytes that were put before.
  virtual Result<void> put_at(uint64_t offset, ByteView bytes) = 0;
  [[nodiscard]] virtual uint64_t size() const = 0;
  Result<void> put_zeros(uint64_t count) {
    const Bytes zeros(static_cast<size_t>(std::min<uint64_t>(count, 1 << 16)));
    for (; count > 0; count -= std::min<uint64_t>(count, zeros.size()))
      HIPPLAN_TRY(put(ByteView(zeros).first(std::min<uint64_t>(count, zeros.size()))));
    return {};
  }
};

class MemoryOutput final : public Output {
 public:
  Result<void> put(ByteView bytes) override {
    append(bytes_, bytes);
    return {};
  }
  Result<void> put_at(uint64_t offset, ByteView bytes) override {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + static_cast<ptrdiff_t>(offset));
    return {};
  }
  [[nodiscard]] uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Collects small pieces before they go to the file.
class FileOutput final : public Output {
 public:
  explicit FileOutput(AtomicFile& file) : file_(file) {}
  Result<void> put(ByteView bytes) override {
    append(waiting_, bytes);
    return waiting_.size() < kEnough ? Result<void>() : flush();
  }
  Result<void> put_at(uint64_t offset, ByteView bytes) override {
    HIPPLAN_TRY(flush());
    return file_.write_at(offset, bytes);
  }
  [[nodiscard]] uint64_t size() const override { return file_.size() + waiting_.size(); }
  Result<void> flush() {
    HIPPLAN_TRY(file_.write(waiting_));
    waiting_.clear();
    return {};
  }

 private:
  static constexpr size_t kEnough = 1 << 20;
  AtomicFile& file_;
  Bytes waiting_;
};

}  // namespace hipplan::plan
