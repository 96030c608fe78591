#include "base/zstd_frame.h"

#include <zstd.h>
#include <zstd_errors.h>

#include <memory>
#include <new>

#include "base/result.h"

namespace hipplan {

std::string zstd_fault(size_t error_code) {
  switch (ZSTD_getErrorCode(error_code)) {
    case ZSTD_error_corruption_detected:
    case ZSTD_error_literals_headerWrong:
      return "a damaged frame";
    case ZSTD_error_checksum_wrong:
      return "a frame whose checksum is not that of its contents";
    case ZSTD_error_srcSize_wrong:
      return "a frame that ends early";
    case ZSTD_error_dstSize_tooSmall:
      return "a frame with more in it";
    case ZSTD_error_prefix_unknown:
    case ZSTD_error_version_unsupported:
      return "bytes that are no zstd frame";
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_dictionary_corrupted:
      return "a frame that needs a dictionary";
    case ZSTD_error_frameParameter_unsupported:
    case ZSTD_error_frameParameter_windowTooLarge:
      return "a frame of a form that is not read";
    default:
      return "a frame that cannot be read";
  }
}

std::variant<Bytes, FrameFault> read_zstd_frame(ByteView stored, uint64_t raw_bytes,
                                                FrameSize size) {
  const bool fits =
      raw_bytes <= kMostFrameBytes &&
      (stored.empty() ? raw_bytes == 0 : raw_bytes / stored.size() <= kMostFrameRatio);
  if (!fits)
    return FrameFault{true, "raw size is beyond the caps",
                      cat("at most ", kMostFrameBytes, " bytes and ", kMostFrameRatio,
                          " times the stored ", stored.size()),
                      cat(raw_bytes, " bytes")};
  const auto announced = ZSTD_getFrameContentSize(stored.data(), stored.size());
  const bool unsaid = announced == ZSTD_CONTENTSIZE_UNKNOWN && size == FrameSize::optional;
  if (announced != raw_bytes && !unsaid) {
    const bool known = announced != ZSTD_CONTENTSIZE_UNKNOWN && announced != ZSTD_CONTENTSIZE_ERROR;
    return FrameFault{false, "frame does not announce the recorded size", cat(raw_bytes, " bytes"),
                      known ? cat(announced, " bytes") : "no size"};
  }
  const size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(frame) != 0)
    return FrameFault{false, "not exactly one zstd frame",
                      cat("one frame of ", stored.size(), " bytes"), zstd_fault(frame)};
  if (frame != stored.size())
    return FrameFault{false, "not exactly one zstd frame", cat(stored.size(), " bytes"),
                      cat(frame, " bytes")};
  // A decompressor is larger than most frames, so each thread keeps its own.
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> decompressor(
      ZSTD_createDCtx(), ZSTD_freeDCtx);
  if (decompressor == nullptr) throw std::bad_alloc();
  Bytes out(static_cast<size_t>(raw_bytes));
  const size_t got =
      ZSTD_decompressDCtx(decompressor.get(), out.data(), out.size(), stored.data(), stored.size());
  if (ZSTD_isError(got) != 0)
    return FrameFault{false, "frame cannot be decompressed", "a sound frame", zstd_fault(got)};
  if (got != raw_bytes)
    return FrameFault{false, "frame cannot be decompressed", cat(raw_bytes, " bytes"),
                      cat(got, " bytes")};
  return out;
}

}  // namespace hipplan
