// Bundles, with small limits so that one input cannot ask for much. An input that starts like one
// is read as it comes; one that starts like JSON is the manifest in front of a member, and any
// other the tar archive, in a frame with a right seal.
#include <zstd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "plan/bundle.h"

using namespace hipplan;

namespace {

constexpr plan::BundleLimits kLimits{100, 1 << 20, 4 << 20, 1 << 20};
constexpr size_t kBlock = 512;

/// Bundles that are no good are damaged, of another version, or no bundles.
void check(ByteView bytes) {
  const auto walked = plan::for_each_in_bundle(
      bytes, "fuzz", kLimits,
      [](const plan::BundleMember& member, ByteView content) -> Result<bool> {
        if (!plan::is_bundle_member_name(member.name) || content.size() != member.bytes)
          std::abort();
        return true;
      });
  if (walked || walked.error().code == Code::damaged || walked.error().code == Code::unusable ||
      walked.error().reason == "foreign-file")
    return;
  std::abort();
}

/// Compresses more of a frame, in a context that all inputs share and with a small window: what
/// takes time is to be the reader.
Bytes compressed(ByteView raw, ZSTD_EndDirective directive) {
  static ZSTD_CCtx* const context = [] {
    ZSTD_CCtx* out = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(out, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(out, ZSTD_c_windowLog, 13);
    ZSTD_CCtx_setParameter(out, ZSTD_c_checksumFlag, 1);
    return out;
  }();
  Bytes out(ZSTD_compressBound(raw.size()) + 64);
  ZSTD_inBuffer from{raw.data(), raw.size(), 0};
  ZSTD_outBuffer to{out.data(), out.size(), 0};
  if (ZSTD_compressStream2(context, &to, &from, directive) != 0 || from.pos != raw.size())
    std::abort();
  out.resize(to.pos);
  return out;
}

/// A bundle around an archive, as docs/plan-format.md tells it.
Bytes sealed(ByteView tar) {
  Bytes content(tar.begin(), tar.end());
  content.resize(content.size() + 448);
  Bytes out = compressed(content, ZSTD_e_flush);
  Bytes seal;
  append(seal, as_bytes(std::string_view("hipplan.bundle.seal.1")));
  seal.resize(32);
  append(out, as_bytes(std::string_view("\x01\x02\0", 3)));
  append(out, ByteView(seal));
  const Digest digest = sha256(out);
  append(seal, digest.bytes);
  append(out, digest.bytes);
  append(out, ByteView(compressed(seal, ZSTD_e_end)).last(4));
  return out;
}

/// One file of a tar archive.
void append_member(Bytes& to, const char* name, ByteView content) {
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  char size[12];
  std::snprintf(size, sizeof(size), "%011zo", content.size());
  put(0, name);
  put(100, "0000644");
  put(124, size);
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, "ustar");
  put(263, "00");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  std::snprintf(size, sizeof(size), "%06o", sum);
  put(148, std::string(size) + '\0' + ' ');
  append(to, as_bytes(header));
  append(to, content);
  to.resize((to.size() + kBlock - 1) / kBlock * kBlock);
}

/// Manifest and member are the input in front of its first zero byte and behind it.
Bytes with_manifest(ByteView input) {
  size_t end = 0;
  while (end < input.size() && input[end] != std::byte{0}) ++end;
  Bytes tar;
  append_member(tar, plan::kManifestName, input.first(end));
  append_member(tar, "a.hplan", end < input.size() ? input.subspan(end + 1) : ByteView());
  tar.resize(tar.size() + 2 * kBlock);
  return tar;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  if (plan::looks_like_bundle(bytes))
    check(bytes);
  else if (!bytes.empty() && bytes.front() == std::byte{'{'})
    check(sealed(with_manifest(bytes)));
  else
    check(sealed(bytes));
  return 0;
}
