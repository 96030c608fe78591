// Plan values to FlatBuffers. Tables are built in one fixed order, so equal values give equal
// bytes.
#include <flatbuffers/flatbuffers.h>

#include <set>

#include "hipplan_schemas/envelope_generated.h"
#include "hipplan_schemas/payload_generated.h"
#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/sealed.h"

namespace hipplan::plan {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

constexpr uint64_t kMostBodyBytes = (1ull << 31) - (1ull << 20);

template <size_t N, class Struct>
Struct to_struct(const std::array<uint8_t, N>& bytes) {
  return Struct(flatbuffers::span<const uint8_t, N>(bytes.data(), N));
}

ByteView finished(const FlatBufferBuilder& builder) {
  return {reinterpret_cast<const std::byte*>(builder.GetBufferPointer()), builder.GetSize()};
}

struct EncodedValue {
  fb::LaunchData type = fb::LaunchData_NONE;
  Offset<void> data;
};

struct ValueEncoder {
  FlatBufferBuilder& to;
  EncodedValue operator()(bool v) const {
    return {fb::LaunchData_BoolValue, fb::CreateBoolValue(to, v).Union()};
  }
  EncodedValue operator()(int64_t v) const {
    return {fb::LaunchData_Int64Value, fb::CreateInt64Value(to, v).Union()};
  }
  EncodedValue operator()(double v) const {
    return {fb::LaunchData_DoubleValue, fb::CreateDoubleValue(to, v).Union()};
  }
  EncodedValue operator()(const std::string& v) const {
    return {fb::LaunchData_StringValue, fb::CreateStringValue(to, to.CreateString(v)).Union()};
  }
  EncodedValue operator()(const std::vector<int64_t>& v) const {
    return {fb::LaunchData_Int64ListValue,
            fb::CreateInt64ListValue(to, to.CreateVector(v)).Union()};
  }
};

Offset<fb::LaunchValue> encode_value(FlatBufferBuilder& to, const LaunchValue& value) {
  const auto name = to.CreateString(value.name);
  const auto encoded = std::visit(ValueEncoder{to}, value.data);
  return fb::CreateLaunchValue(to, name, encoded.type, encoded.data);
}

Offset<fb::Argument> encode_argument(FlatBufferBuilder& to, const codeobject::Argument& argument) {
  const auto kind = to.CreateString(argument.kind);
  const Offset<flatbuffers::String> name =
      argument.name.empty() ? 0 : to.CreateString(argument.name);
  return fb::CreateArgument(to, kind, argument.size, argument.offset, name);
}

Offset<flatbuffers::Vector<uint8_t>> encode_aligned(FlatBufferBuilder& to, ByteView bytes) {
  to.ForceVectorAlignment(bytes.size(), 1, 16);
  return to.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

Offset<fb::Kernel> encode_kernel(FlatBufferBuilder& to, const KernelImage& kernel, bool with_code) {
  Offset<flatbuffers::Vector<uint8_t>> code = 0;
  if (with_code) code = encode_aligned(to, *kernel.code);
  const Offset<flatbuffers::String> launch =
      kernel.launch_name.empty() ? 0 : to.CreateString(kernel.launch_name);
  const auto symbol = to.CreateString(kernel.symbol);
  const auto target = to.CreateString(kernel.target);
  std::vector<Offset<fb::Argument>> arguments;
  for (const auto& argument : kernel.signature) arguments.push_back(encode_argument(to, argument));
  const auto signature = to.CreateVector(arguments);
  const auto digest = to_struct<32, fb::Sha256>(kernel.sha256.bytes);
  return fb::CreateKernel(to, launch, static_cast<fb::SourceKind>(kernel.source_kind), symbol,
                          target, &digest, signature, code);
}

/// Every code object is there, is what its digest says, and all fit into one body.
Result<void> check_code_inside(const Payload& payload) {
  uint64_t total = 0;
  std::set<Digest> seen;
  for (size_t i = 0; i < payload.kernels.size(); ++i) {
    const auto& kernel = payload.kernels[i];
    if (!seen.insert(kernel.sha256).second) continue;
    const std::string where = cat("payload.kernels[", i, "].code");
    if (!kernel.code)
      return bad_input("code-missing", where, "code object is not in memory",
                       "the code object of " + quote(kernel.symbol));
    const Digest actual = sha256(*kernel.code);
    if (actual != kernel.sha256)
      return bad_input("code-digest", where, "code object does not match its digest",
                       kernel.sha256.hex(), actual.hex());
    total += kernel.code->size();
    if (total > kMostBodyBytes)
      return unusable("code-too-large", where, "code objects do not fit into one payload",
                      cat("at most ", kMostBodyBytes, " bytes"), cat(total, " bytes and more"));
  }
  return {};
}

}  // namespace

Result<Bytes> encode_payload_as(const Payload& payload, PayloadKind kind) {
  HIPPLAN_TRY(check_payload(payload, "payload", ErrorCode::bad_input));
  if (kind == PayloadKind::standalone) HIPPLAN_TRY(check_code_inside(payload));
  return payload_bytes(payload, kind);
}

Bytes payload_bytes(const Payload& payload, PayloadKind kind) {
  const bool standalone = kind == PayloadKind::standalone;
  FlatBufferBuilder to(1024);
  std::set<Digest> seen;
  std::vector<Offset<fb::Kernel>> kernels;
  for (const auto& kernel : payload.kernels)
    kernels.push_back(encode_kernel(to, kernel, standalone && seen.insert(kernel.sha256).second));
  std::vector<Offset<fb::LaunchValue>> values;
  for (const auto& value : payload.values) values.push_back(encode_value(to, value));
  const auto engine = to.CreateString(payload.engine_name);
  const auto id = to_struct<16, fb::KernelId>(payload.kernel_id.bytes);
  const auto name = to.CreateString(payload.kernel_name);
  const auto runtime = to.CreateVector(payload.runtime_pass_by_value_uids);
  const auto dispatch = to.CreateString(payload.dispatch);
  const auto value_list = to.CreateVector(values);
  const auto kernel_list = to.CreateVector(kernels);
  const auto version = to.CreateString(payload.provider_version);
  fb::FinishPayloadBuffer(
      to, fb::CreatePayload(to, engine, &id, name, payload.workspace_bytes, runtime, dispatch,
                            value_list, kernel_list, version));
  return seal(kPayloadSeal, static_cast<uint16_t>(kind), finished(to));
}

Result<Bytes> encode_payload(const Payload& payload) {
  return encode_payload_as(payload, PayloadKind::standalone);
}

Result<Bytes> encode_envelope(const Envelope& envelope, ByteView payload,
                              const std::optional<Identity>& identity) {
  HIPPLAN_TRY(check_envelope(envelope, "envelope", ErrorCode::bad_input));
  if (identity) HIPPLAN_TRY(check_identity(*identity, "envelope", ErrorCode::bad_input));
  if (payload.empty() || payload.size() > kMostBodyBytes)
    return bad_input("envelope-payload", "envelope.payload", "payload is empty or too large",
                     cat("1 to ", kMostBodyBytes, " bytes"), cat(payload.size(), " bytes"));
  return envelope_bytes(envelope, payload, identity);
}

Bytes envelope_bytes(const Envelope& envelope, ByteView payload,
                     const std::optional<Identity>& identity) {
  FlatBufferBuilder to(1024);
  const auto inner = encode_aligned(to, payload);
  const auto uids = to.CreateVector(envelope.tensor_uids);
  const auto alignments = to.CreateVector(envelope.tensor_alignments);
  const auto name = to.CreateString(envelope.provider_name);
  const auto version = to.CreateString(envelope.provider_version);
  fb::GraphKey key;
  Offset<flatbuffers::String> target = 0;
  if (identity) {
    key = to_struct<32, fb::GraphKey>(identity->graph_key.bytes);
    target = to.CreateString(identity->target);
  }
  fb::FinishEnvelopeBuffer(
      to, fb::CreateEnvelope(to, envelope.version, envelope.engine_id, envelope.workspace_size,
                             uids, alignments, envelope.is_override_shape_enabled, name, version,
                             inner, identity ? &key : nullptr, target));
  return seal(kEnvelopeSeal, 1, finished(to));
}

Result<Bytes> encode_bare_plan(const Plan& plan) {
  HIPPLAN_TRY(check_plan(plan, ErrorCode::bad_input));
  HIPPLAN_TRY_ASSIGN(const auto payload, encode_payload(plan.payload));
  return encode_envelope(plan.envelope, payload, Identity{plan.graph_key, plan.target});
}

}  // namespace hipplan::plan
