// The zstd frame that a bundle is: written with a seal over every byte of it, read with both
// checked (docs/plan-format.md, "Bundles").
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"

namespace hipplan::plan {

/// Compresses into one frame with a content checksum. Its last block holds the seal: a tag and the
/// digest of all bytes of the frame in front of it. Same bytes in, same bytes out, however they are
/// cut into calls.
class BundleFrameWriter {
 public:
  using Put = std::function<Result<void>(ByteView)>;
  BundleFrameWriter(Put put, int level);
  ~BundleFrameWriter();
  BundleFrameWriter(const BundleFrameWriter&) = delete;
  BundleFrameWriter& operator=(const BundleFrameWriter&) = delete;
  Result<void> write(ByteView raw);
  /// Writes the seal and ends the frame.
  Result<void> finish();

 private:
  Result<void> compress(ByteView raw, int directive, const Put& put);
  Result<void> emit(ByteView stored);
  Put put_;
  Sha256 hash_;
  void* context_;
};

/// Whether the frame ends with a seal.
[[nodiscard]] bool is_sealed_bundle(ByteView bundle);

/// The whole of `bundle` is one frame with a header that writers make, and its seal, where it has
/// one, is right. Fails with damaged, reason "bundle-stream".
Result<void> check_bundle_frame(ByteView bundle, const std::string& where);

/// Decompresses a frame piece by piece.
class BundleFrameReader {
 public:
  BundleFrameReader(ByteView bundle, std::string where);
  ~BundleFrameReader();
  BundleFrameReader(const BundleFrameReader&) = delete;
  BundleFrameReader& operator=(const BundleFrameReader&) = delete;
  /// Valid until the next call; empty at the end of the frame, the content checksum having been
  /// compared. Fails with damaged, reason "bundle-stream".
  Result<ByteView> next();

 private:
  ByteView left_;
  std::string where_;
  Bytes buffer_;
  void* context_;
  bool ended_ = false;
};

}  // namespace hipplan::plan
