// Zstandard frames, with the caps that reading has.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "base/zstd_frame.h"
#include "plan/layout.h"

namespace hipplan::plan {

/// What a frame stores: a zstd frame where that is smaller, else the raw bytes, which must outlive
/// this.
class Packed {
 public:
  explicit Packed(ByteView raw, Bytes zstd = {}) : raw_(raw), zstd_(std::move(zstd)) {}
  [[nodiscard]] Compression compression() const { return zstd_.empty() ? kStored : kZstd; }
  [[nodiscard]] ByteView stored() const { return zstd_.empty() ? raw_ : ByteView(zstd_); }

 private:
  ByteView raw_;
  Bytes zstd_;
};

/// Compresses with one reused context, always at one level: the same bytes give the same frame. One
/// thread at a time.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  /// One frame with its content size, where that is smaller than the input.
  Result<Packed> compress(ByteView raw);

 private:
  void* context_;
};

/// Exactly one frame whose content is exactly `raw_bytes` long. Fails with damaged: beyond 2 GiB or
/// 4096:1 (reason "raw-size"), anything else (reason "zstd-frame").
Result<Bytes> decompress(ByteView stored, uint64_t raw_bytes, const std::string& where);

}  // namespace hipplan::plan
