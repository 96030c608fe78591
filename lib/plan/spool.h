// A growing store of bytes: in memory at first, then in an unnamed temporary file.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::plan {

class Spool {
 public:
  explicit Spool(uint64_t memory_bytes) : memory_bytes_(memory_bytes) {}
  /// Returns the offset at which the bytes can be read again.
  Result<uint64_t> add(ByteView bytes);
  Result<Bytes> read(uint64_t offset, uint64_t size) const;

 private:
  Result<void> move_to_file();
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  uint64_t memory_bytes_;
  uint64_t file_bytes_ = 0;  ///< how much of the store is in the file; the rest is in tail_
  Bytes tail_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace hipplan::plan
