// Encoding and decoding of payload and envelope in the two forms they occur in. Inside lib/plan
// only.
#pragma once

#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// Kind field of a payload's header.
enum class PayloadKind : uint16_t {
  standalone = 1,    ///< the code is inside
  by_reference = 2,  ///< the code is elsewhere in the container, found by its digest
};

Result<Bytes> encode_payload_as(const Payload& payload, PayloadKind kind);
/// The encodings alone, for values that keep the rules; tests make bad pieces with them.
[[nodiscard]] Bytes payload_bytes(const Payload& payload, PayloadKind kind);
[[nodiscard]] Bytes envelope_bytes(const Envelope& envelope, ByteView payload,
                                   const std::optional<Identity>& identity);
/// Verifier, presence of every field, then check_payload(). Standalone: code against its digest.
Result<Payload> decode_payload_as(ByteView bytes, const std::string& where, PayloadKind kind);

// The rules on values, for writers (bad_input) and readers (damaged) alike; in check_values.cpp.
// A non-empty list of runtime pass-by-value uids is unusable in both.
Result<void> check_payload(const Payload& payload, const std::string& where, hipplan::Code failure);
Result<void> check_envelope(const Envelope& envelope, const std::string& where,
                            hipplan::Code failure);
Result<void> check_identity(const Identity& identity, const std::string& where,
                            hipplan::Code failure);
/// Rules between the two: engine id is the hash of the engine name, one workspace size.
Result<void> check_agreement(const Envelope& envelope, const Payload& payload,
                             const std::string& where, hipplan::Code failure);

/// The bytes themselves when they are aligned for FlatBuffers, else a copy that is.
class Aligned {
 public:
  explicit Aligned(ByteView bytes);
  [[nodiscard]] const uint8_t* data() const {
    return reinterpret_cast<const uint8_t*>(view_.data());
  }
  [[nodiscard]] size_t size() const { return view_.size(); }

 private:
  std::vector<std::max_align_t> copy_;
  ByteView view_;
};

}  // namespace hipplan::plan
