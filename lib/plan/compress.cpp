#include "plan/compress.h"

#include <zstd.h>

#include <new>

#include "plan/errors.h"

namespace hipplan::plan {

namespace {

constexpr int kLevel = 3;

}  // namespace

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  auto* context = static_cast<ZSTD_CCtx*>(context_);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
}

Compressor::~Compressor() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_));
}

Result<Packed> Compressor::compress(ByteView raw) {
  if (raw.empty()) return Packed(raw);
  Bytes out(ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compress2(static_cast<ZSTD_CCtx*>(context_), out.data(), out.size(),
                                     raw.data(), raw.size());
  if (ZSTD_isError(size) != 0)
    return machine("compress", "zstd",
                   std::string("compression failed: ") + ZSTD_getErrorName(size));
  // A ratio beyond what readers take is stored as it is.
  if (size >= raw.size() || raw.size() / size >= kMostFrameRatio) return Packed(raw);
  out.resize(size);
  return Packed(raw, std::move(out));
}

Result<Bytes> decompress(ByteView stored, uint64_t raw_bytes, const std::string& where) {
  auto read = read_zstd_frame(stored, raw_bytes);
  if (auto* bytes = std::get_if<Bytes>(&read)) return std::move(*bytes);
  const auto& fault = std::get<FrameFault>(read);
  return damaged(fault.beyond_caps ? Reason("raw-size") : Reason("zstd-frame"), where, fault.what,
                 fault.expected, fault.found);
}

}  // namespace hipplan::plan
