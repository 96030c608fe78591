// Envelope bytes to values: verifier first, then presence of every field, then the rules on values.
#include <flatbuffers/flatbuffers.h>
#include <cstring>

#include "hipplan_schemas/envelope_generated.h"
#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/sealed.h"

namespace hipplan::plan {
namespace {

constexpr uint64_t kMostTensors = 1 << 16;

Error missing(const std::string& where) {
  return damaged("envelope-field", where, "field is missing", "a value", "none");
}

Result<std::string> text(const flatbuffers::String* from, const std::string& where) {
  if (from == nullptr) return missing(where);
  return from->str();
}

Result<std::vector<int64_t>> tensor_list(const flatbuffers::Vector<int64_t>* from,
                                         const std::string& where) {
  if (from == nullptr) return missing(where);
  if (from->size() > kMostTensors)
    return damaged("envelope-limit", where, "list is too long",
                   cat("at most ", kMostTensors, " items"), cat(from->size()));
  // The verifier does not look at the alignment of a vector's elements.
  std::vector<int64_t> out(from->size());
  if (!out.empty()) std::memcpy(out.data(), from->Data(), out.size() * sizeof(int64_t));
  return out;
}

Result<std::optional<Identity>> read_identity(const fb::Envelope& from, const std::string& where) {
  if (from.graph_key() == nullptr && from.target() == nullptr) return std::optional<Identity>();
  if (from.graph_key() == nullptr) return missing(where + ".graph_key");
  if (from.target() == nullptr) return missing(where + ".target");
  Identity out;
  for (uint16_t i = 0; i < out.graph_key.bytes.size(); ++i)
    out.graph_key.bytes[i] = from.graph_key()->bytes()->Get(i);
  out.target = from.target()->str();
  HIPPLAN_TRY(check_identity(out, where, ErrorCode::damaged));
  return std::optional<Identity>(std::move(out));
}

/// The version comes first: it says how to read the rest.
Result<Envelope> read_envelope(const fb::Envelope& from, const std::string& where) {
  Envelope out;
  if (!from.version()) return missing(where + ".version");
  out.version = *from.version();
  if (out.version != 1)
    return unusable("envelope-version", where + ".version", "unknown envelope version", "1",
                    cat(out.version), "use a newer hipplan");
  if (!from.engine_id()) return missing(where + ".engine_id");
  out.engine_id = *from.engine_id();
  if (!from.workspace_size()) return missing(where + ".workspace_size");
  out.workspace_size = *from.workspace_size();
  HIPPLAN_TRY_ASSIGN(out.tensor_uids, tensor_list(from.tensor_uids(), where + ".tensor_uids"));
  HIPPLAN_TRY_ASSIGN(out.tensor_alignments,
                     tensor_list(from.tensor_alignments(), where + ".tensor_alignments"));
  if (!from.is_override_shape_enabled()) return missing(where + ".is_override_shape_enabled");
  const auto raw = reinterpret_cast<const flatbuffers::Table&>(from).GetField<uint8_t>(
      fb::Envelope::VT_IS_OVERRIDE_SHAPE_ENABLED, 0);
  if (raw > 1)
    return damaged("envelope-field", where + ".is_override_shape_enabled", "bool is not 0 or 1",
                   "0 or 1", cat(+raw));
  out.is_override_shape_enabled = raw == 1;
  HIPPLAN_TRY_ASSIGN(out.provider_name, text(from.provider_name(), where + ".provider_name"));
  HIPPLAN_TRY_ASSIGN(out.provider_version,
                     text(from.provider_version(), where + ".provider_version"));
  HIPPLAN_TRY(check_envelope(out, where, ErrorCode::damaged));
  return out;
}

}  // namespace

Result<DecodedEnvelope> decode_envelope(ByteView bytes, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto unsealed, unseal(kEnvelopeSeal, bytes, where));
  if (unsealed.body.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return damaged("envelope-body", where, "body is too large",
                   cat("below ", FLATBUFFERS_MAX_BUFFER_SIZE, " bytes"),
                   cat(unsealed.body.size(), " bytes"));
  const Aligned body(unsealed.body);
  flatbuffers::Verifier verifier(body.data(), body.size());
  if (!fb::VerifyEnvelopeBuffer(verifier))
    return damaged("envelope-body", where, "body is not a sound FlatBuffer of type HPLE",
                   "offsets inside the body and identifier HPLE", "something else");
  const auto& from = *fb::GetEnvelope(body.data());
  DecodedEnvelope out;
  HIPPLAN_TRY_ASSIGN(out.envelope, read_envelope(from, where));
  if (from.payload() == nullptr || from.payload()->size() == 0) return missing(where + ".payload");
  const auto* payload = reinterpret_cast<const std::byte*>(from.payload()->data());
  out.payload.assign(payload, payload + from.payload()->size());
  HIPPLAN_TRY_ASSIGN(out.identity, read_identity(from, where));
  return out;
}

Result<Plan> decode_any_envelope(ByteView bytes, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(auto decoded, decode_envelope(bytes, where));
  Plan out;
  if (decoded.identity) {
    out.graph_key = decoded.identity->graph_key;
    out.target = decoded.identity->target;
  }
  out.envelope = std::move(decoded.envelope);
  HIPPLAN_TRY_ASSIGN(out.payload, decode_payload(decoded.payload, where + ": payload"));
  HIPPLAN_TRY(check_agreement(out.envelope, out.payload, where, ErrorCode::damaged));
  return out;
}

Result<Plan> decode_bare_plan(ByteView bytes, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(auto out, decode_any_envelope(bytes, where));
  if (out.target.empty())
    return bad_input("envelope-identity", where, "envelope does not say what it was baked for",
                     "graph key and target", "neither");
  return out;
}

}  // namespace hipplan::plan
