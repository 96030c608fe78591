#include "plan/sealed.h"

#include "base/hash.h"
#include "plan/errors.h"

namespace hipplan::plan {
namespace {

// Offsets in the header; the same in every version.
constexpr size_t kMajorAt = 4, kMinorAt = 6, kKindAt = 8, kHeaderSizeAt = 10, kSealReservedAt = 12;
constexpr size_t kSealDigestAt = 16;

/// Everything but the digest itself.
Digest seal_digest(ByteView bytes) {
  return Sha256().update(bytes.first(kSealDigestAt)).update(bytes.subspan(kSealBytes)).finish();
}

}  // namespace

Bytes seal(const SealFormat& format, uint16_t kind, ByteView body) {
  Bytes out;
  out.reserve(kSealBytes + body.size());
  append(out, as_bytes(format.marker));
  append(out, format.major);
  append(out, format.minor);
  append(out, kind);
  append(out, static_cast<uint16_t>(kSealBytes));
  append(out, uint32_t{0});
  out.resize(kSealBytes);
  append(out, body);
  const Digest digest = seal_digest(out);
  std::memcpy(out.data() + kSealDigestAt, digest.bytes.data(), digest.bytes.size());
  return out;
}

Result<Unsealed> unseal(const SealFormat& format, ByteView bytes, const std::string& where) {
  const std::string thing(format.thing);
  if (bytes.size() < kSealBytes)
    return damaged(format.short_one, where, thing + " is shorter than its header",
                   cat("at least ", kSealBytes, " bytes"), cat(bytes.size(), " bytes"));
  if (as_text(bytes.first(4)) != format.marker)
    return damaged(format.wrong_marker, where, cat("not a hipplan ", thing),
                   cat("marker ", format.marker), "marker " + quote(as_text(bytes.first(4))));
  Digest recorded;
  std::memcpy(recorded.bytes.data(), bytes.data() + kSealDigestAt, recorded.bytes.size());
  const Digest actual = seal_digest(bytes);
  if (recorded != actual)
    return damaged(format.wrong_digest, where, thing + " does not match its digest", recorded.hex(),
                   actual.hex());
  const auto field16 = [&](size_t at) { return *load<uint16_t>(bytes, at); };
  const uint16_t major = field16(kMajorAt), minor = field16(kMinorAt), kind = field16(kKindAt);
  if (major != format.major || minor > format.minor)
    return version_error(where, thing, major, minor, format.major, format.minor);
  if (kind == 0 || kind > format.last_kind)
    return unusable(format.unknown_kind, where, cat("unknown kind of ", thing),
                    cat("1 to ", format.last_kind), cat(kind), "use a newer hipplan");
  if (field16(kHeaderSizeAt) != kSealBytes)
    return damaged(format.wrong_header, where, "wrong header size", cat(kSealBytes),
                   cat(field16(kHeaderSizeAt)));
  if (*load<uint32_t>(bytes, kSealReservedAt) != 0)
    return damaged(format.wrong_header, where, "reserved word is not zero", "0",
                   cat(*load<uint32_t>(bytes, kSealReservedAt)));
  return Unsealed{minor, kind, bytes.subspan(kSealBytes)};
}

}  // namespace hipplan::plan
