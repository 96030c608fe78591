// Zstandard frames, with the caps that reading has.
#pragma once

#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "base/zstd_frame.h"

namespace hipplan::plan {

/// Compresses with one reused context. One thread at a time.
class Compressor {
 public:
  explicit Compressor(int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  /// One frame with its content size; empty when that is not smaller than the input.
  Result<Bytes> compress(ByteView raw);

 private:
  void* context_;
};

/// Exactly one frame whose content is exactly `raw_bytes` long. Fails with damaged: beyond 2 GiB or
/// 4096:1 (reason "raw-size"), anything else (reason "zstd-frame").
Result<Bytes> decompress(ByteView stored, uint64_t raw_bytes, const std::string& where);

}  // namespace hipplan::plan
