#include "plan/compress.h"

#include <zstd.h>

#include "plan/errors.h"

namespace hipplan::plan {

Compressor::Compressor(int level) : context_(ZSTD_createCCtx()) {
  auto* context = static_cast<ZSTD_CCtx*>(context_);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
}

Compressor::~Compressor() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_));
}

Result<Bytes> Compressor::compress(ByteView raw) {
  if (raw.empty()) return Bytes();
  Bytes out(ZSTD_compressBound(raw.size()));
  const size_t size = ZSTD_compress2(static_cast<ZSTD_CCtx*>(context_), out.data(), out.size(),
                                     raw.data(), raw.size());
  if (ZSTD_isError(size) != 0)
    return machine("compress", "zstd",
                   std::string("compression failed: ") + ZSTD_getErrorName(size));
  // A ratio beyond what readers take is stored as it is.
  if (size >= raw.size() || raw.size() / size >= kMostRatio) return Bytes();
  out.resize(size);
  return out;
}

Result<Bytes> decompress(ByteView stored, uint64_t raw_bytes, const std::string& where) {
  const bool fits = raw_bytes <= kMostRawBytes &&
                    (stored.empty() ? raw_bytes == 0 : raw_bytes / stored.size() <= kMostRatio);
  if (!fits)
    return damaged("raw-size", where, "raw size is beyond the caps",
                   cat("at most ", kMostRawBytes, " bytes and ", kMostRatio, " times the stored ",
                       stored.size()),
                   cat(raw_bytes, " bytes"));
  const auto content = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (content != raw_bytes)
    return damaged("zstd-frame", where, "frame does not announce the recorded size",
                   cat(raw_bytes));
  if (ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size())
    return damaged("zstd-frame", where, "not exactly one zstd frame");
  Bytes out(static_cast<size_t>(raw_bytes));
  const size_t got = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0 || got != raw_bytes)
    return damaged("zstd-frame", where, "frame cannot be decompressed", cat(raw_bytes, " bytes"),
                   ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : cat(got, " bytes"));
  return out;
}

}  // namespace hipplan::plan
