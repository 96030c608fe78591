// The 48-byte header in front of payload and envelope bodies: marker, version, kind, digest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "plan/reasons.h"

namespace hipplan::plan {

/// What a reader expects of a sealed piece.
struct SealFormat {
  std::string_view marker;  ///< 4 characters
  std::string_view thing;   ///< "payload", for messages
  uint16_t major, minor;
  uint16_t last_kind;  ///< kinds 1 … last_kind are known
  Reason short_one, wrong_marker, wrong_digest, unknown_kind, wrong_header;
};

inline constexpr size_t kSealBytes = 48;
inline constexpr SealFormat kPayloadSeal{"HPLP",
                                         "payload",
                                         1,
                                         0,
                                         2,
                                         "payload-truncated",
                                         "payload-marker",
                                         "payload-digest",
                                         "payload-kind",
                                         "payload-header"};
inline constexpr SealFormat kEnvelopeSeal{"HPLV",
                                          "envelope",
                                          1,
                                          0,
                                          1,
                                          "envelope-truncated",
                                          "envelope-marker",
                                          "envelope-digest",
                                          "envelope-kind",
                                          "envelope-header"};

/// Header and body in one buffer.
[[nodiscard]] Bytes seal(const SealFormat& format, uint16_t kind, ByteView body);

struct Unsealed {
  uint16_t minor = 0, kind = 0;
  ByteView body;  ///< points into the bytes given
};
/// Order: truncation, marker, digest (damaged); version, kind (unusable); header size, reserved
/// word.
Result<Unsealed> unseal(const SealFormat& format, ByteView bytes, const std::string& where);

}  // namespace hipplan::plan
