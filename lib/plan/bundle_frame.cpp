#include "plan/bundle_frame.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/zstd_frame.h"
#include "plan/errors.h"

namespace hipplan::plan {
namespace {

constexpr uint32_t kZstdMagic = 0xfd2fb528u;
constexpr size_t kFrameHeaderBytes = 6, kChecksumBytes = 4, kTarBlock = 512;
constexpr uint8_t kHasChecksum = 4;
/// Bytes that a reader hands out at once.
constexpr size_t kPieceBytes = 64 << 10;

/// The seal: the header of a raw last block of 64 bytes, a tag, and the digest.
constexpr std::string_view kSealTag("hipplan.bundle.seal.1\0\0\0\0\0\0\0\0\0\0\0", 32);
constexpr size_t kBundleSealBytes = kSealTag.size() + sizeof(Digest::bytes);
constexpr std::array<uint8_t, 3> kSealBlock = {kBundleSealBytes * 8 % 256 + 1,
                                               kBundleSealBytes * 8 / 256, 0};
constexpr size_t kSealFront = kSealBlock.size() + kSealTag.size();
constexpr size_t kSealTail = kSealBlock.size() + kBundleSealBytes + kChecksumBytes;

ByteView seal_block() {
  return {reinterpret_cast<const std::byte*>(kSealBlock.data()), kSealBlock.size()};
}

Error broken_frame(const std::string& where, std::string what, std::string expected,
                   std::string found) {
  return damaged("bundle-stream", where, std::move(what), std::move(expected), std::move(found));
}

/// A header that no writer of bundles makes, but other programs do.
Error foreign_frame(const std::string& where, std::string what, std::string expected,
                    std::string found) {
  Error error = broken_frame(where, std::move(what), std::move(expected), std::move(found));
  error.advice = "it is damaged, or another program's archive: fetch it again, or bundle it anew";
  return error;
}

constexpr const char* kUnsound = "not a sound tar.zst stream";

/// Writers set no flag but the checksum's and announce no size; before there were seals they had
/// one window.
Result<void> check_header(ByteView bundle, const std::string& where) {
  constexpr uint8_t kWindow = 11 << 3;  // 2 MiB
  const auto flags = load<uint8_t>(bundle, 4), window = load<uint8_t>(bundle, 5);
  if (!flags || !window)
    return broken_frame(where, "file ends inside its header", cat(kFrameHeaderBytes, " bytes"),
                        cat(bundle.size(), " bytes"));
  if ((*flags & ~kHasChecksum) != 0)
    return foreign_frame(where, "header of the zstd frame has flags that bundles never have",
                         "none but the checksum's", cat(unsigned{*flags}));
  if (*window != kWindow && !is_sealed_bundle(bundle))
    return foreign_frame(where, "header of the zstd frame has a window that bundles never have",
                         cat("descriptor ", unsigned{kWindow}), cat(unsigned{*window}));
  return {};
}

}  // namespace

BundleFrameWriter::BundleFrameWriter(Put put, int level)
    : put_(std::move(put)), context_(ZSTD_createCCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
  auto* context = static_cast<ZSTD_CCtx*>(context_);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
}

BundleFrameWriter::~BundleFrameWriter() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_));
}

Result<void> BundleFrameWriter::compress(ByteView raw, int directive, const Put& put) {
  Bytes buffer(ZSTD_CStreamOutSize());
  ZSTD_inBuffer in{raw.data(), raw.size(), 0};
  const auto mode = static_cast<ZSTD_EndDirective>(directive);
  while (true) {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    const size_t left = ZSTD_compressStream2(static_cast<ZSTD_CCtx*>(context_), &out, &in, mode);
    if (ZSTD_isError(left) != 0) return machine("bundle-write", "bundle", ZSTD_getErrorName(left));
    if (out.pos > 0) HIPPLAN_TRY(put(ByteView(buffer).first(out.pos)));
    if (in.pos == in.size && (left == 0 || mode == ZSTD_e_continue)) return {};
  }
}

Result<void> BundleFrameWriter::emit(ByteView stored) {
  hash_.update(stored);
  return put_(stored);
}

Result<void> BundleFrameWriter::write(ByteView raw) {
  return compress(raw, ZSTD_e_continue, [&](ByteView stored) { return emit(stored); });
}

Result<void> BundleFrameWriter::finish() {
  // The archive stays a whole number of tar's blocks; what follows its end mark is skipped by all.
  const Bytes zeros(kTarBlock - kBundleSealBytes);
  HIPPLAN_TRY(compress(zeros, ZSTD_e_flush, [&](ByteView stored) { return emit(stored); }));
  HIPPLAN_TRY(emit(seal_block()));
  HIPPLAN_TRY(emit(as_bytes(kSealTag)));
  const Digest digest = hash_.finish();
  Bytes seal;
  append(seal, as_bytes(kSealTag));
  append(seal, digest.bytes);
  // How zstd would store the seal is left out; the checksum behind it is over the content alone.
  Bytes end;
  HIPPLAN_TRY(compress(seal, ZSTD_e_end, [&](ByteView stored) -> Result<void> {
    append(end, stored);
    return {};
  }));
  if (end.size() < kChecksumBytes) return machine("bundle-write", "bundle", "no checksum was made");
  HIPPLAN_TRY(put_(ByteView(seal).subspan(kSealTag.size())));
  return put_(ByteView(end).last(kChecksumBytes));
}

bool is_sealed_bundle(ByteView bundle) {
  if (bundle.size() < kFrameHeaderBytes + kSealTail) return false;
  if ((*load<uint8_t>(bundle, 4) & kHasChecksum) == 0) return false;
  const ByteView front = bundle.last(kSealTail).first(kSealFront);
  return std::ranges::equal(front.first(kSealBlock.size()), seal_block()) &&
         as_text(front.subspan(kSealBlock.size())) == kSealTag;
}

Result<void> check_bundle_frame(ByteView bundle, const std::string& where) {
  if (load<uint32_t>(bundle, 0) != kZstdMagic)
    return broken_frame(where, "not a bundle", "magic 28 b5 2f fd", "other bytes");
  HIPPLAN_TRY(check_header(bundle, where));
  const size_t frame = ZSTD_findFrameCompressedSize(bundle.data(), bundle.size());
  if (ZSTD_isError(frame) != 0)
    return broken_frame(where, kUnsound, "one sound zstd frame", zstd_fault(frame));
  if (frame != bundle.size())
    return broken_frame(where, "bytes after the end of the stream", cat(frame, " bytes"),
                        cat(bundle.size(), " bytes"));
  if (!is_sealed_bundle(bundle)) return {};
  const size_t sealed = bundle.size() - kSealTail + kSealFront;
  Digest expected;
  expected.bytes = *load<decltype(expected.bytes)>(bundle, sealed);
  const Digest actual = sha256(bundle.first(sealed));
  if (actual == expected) return {};
  return broken_frame(where, "bundle does not match the digest in its seal", expected.hex(),
                      actual.hex());
}

BundleFrameReader::BundleFrameReader(ByteView bundle, std::string where)
    : left_(bundle), where_(std::move(where)), buffer_(kPieceBytes), context_(ZSTD_createDCtx()) {
  if (context_ == nullptr) throw std::bad_alloc();
}

BundleFrameReader::~BundleFrameReader() {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context_));
}

Result<ByteView> BundleFrameReader::next() {
  while (!ended_) {
    ZSTD_inBuffer in{left_.data(), left_.size(), 0};
    ZSTD_outBuffer out{buffer_.data(), buffer_.size(), 0};
    const size_t more = ZSTD_decompressStream(static_cast<ZSTD_DCtx*>(context_), &out, &in);
    if (ZSTD_isError(more) != 0)
      return broken_frame(where_, kUnsound, "one sound zstd frame", zstd_fault(more));
    if (in.pos == 0 && out.pos == 0 && more != 0)
      return broken_frame(where_, kUnsound, "one sound zstd frame", "a frame that ends early");
    left_ = left_.subspan(in.pos);
    ended_ = more == 0;
    if (out.pos > 0) return ByteView(buffer_).first(out.pos);
  }
  return ByteView();
}

}  // namespace hipplan::plan
