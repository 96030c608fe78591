// Payload bytes to values: verifier first, then presence of every field, then the rules on values.
#include <flatbuffers/flatbuffers.h>
#include <cstring>

#include <map>
#include <optional>

#include "hipplan_schemas/payload_generated.h"
#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/sealed.h"

namespace hipplan::plan {
namespace {

constexpr uint64_t kMostValues = 4096, kMostKernels = 256, kMostArguments = 1024;
constexpr uint64_t kMostListItems = 1 << 16;

/// "payload.values[3]"
std::string indexed(const std::string& where, const char* list, uint32_t i) {
  return where + list + "[" + std::to_string(i) + "]";
}

/// A place inside a payload, put into words only when something is wrong there. Made for one call.
struct PayloadPlace {
  const std::string& where;
  const char* field = "";
  std::optional<uint32_t> index = {};
  const char* part = "";
  [[nodiscard]] std::string text() const {
    return index ? indexed(where, field, *index) + part : where + field + part;
  }
};

Error missing(const PayloadPlace& where) {
  return damaged("payload-field", where.text(), "field is missing", "a value", "none");
}

Result<std::string> text(const flatbuffers::String* from, const PayloadPlace& where) {
  if (from == nullptr) return missing(where);
  return from->str();
}

template <class T>
Result<std::vector<int64_t>> int_list(const T* from, const PayloadPlace& where) {
  if (from == nullptr) return missing(where);
  if (from->size() > kMostListItems)
    return damaged("payload-limit", where.text(), "list is too long",
                   cat("at most ", kMostListItems, " items"), cat(from->size()));
  // The verifier does not look at the alignment of a vector's elements.
  std::vector<int64_t> out(from->size());
  if (!out.empty()) std::memcpy(out.data(), from->Data(), out.size() * sizeof(int64_t));
  return out;
}

/// The list's size when it is there and not above `most`.
template <class T>
Result<uint32_t> list_size(const T* from, uint64_t most, const PayloadPlace& where) {
  if (from == nullptr) return missing(where);
  if (from->size() > most)
    return damaged("payload-limit", where.text(), "list is too long",
                   cat("at most ", most, " items"), cat(from->size()));
  return from->size();
}

Result<ValueData> bool_data(const fb::BoolValue* from, const PayloadPlace& where) {
  if (from == nullptr || !from->value()) return missing(where);
  const auto raw = reinterpret_cast<const flatbuffers::Table*>(from)->GetField<uint8_t>(
      fb::BoolValue::VT_VALUE, 0);
  if (raw > 1)
    return damaged("launch-value-form", where.text(), "bool is not 0 or 1", "0 or 1", cat(+raw));
  return ValueData(raw == 1);
}

Result<ValueData> value_data(const fb::LaunchValue& from, const PayloadPlace& where) {
  switch (from.data_type()) {
    case fb::LaunchData_BoolValue:
      return bool_data(from.data_as_BoolValue(), where);
    case fb::LaunchData_Int64Value:
      if (from.data_as_Int64Value() == nullptr || !from.data_as_Int64Value()->value())
        return missing(where);
      return ValueData(*from.data_as_Int64Value()->value());
    case fb::LaunchData_DoubleValue:
      if (from.data_as_DoubleValue() == nullptr || !from.data_as_DoubleValue()->value())
        return missing(where);
      return ValueData(*from.data_as_DoubleValue()->value());
    case fb::LaunchData_StringValue: {
      if (from.data_as_StringValue() == nullptr) return missing(where);
      HIPPLAN_TRY_ASSIGN(auto string, text(from.data_as_StringValue()->value(), where));
      return ValueData(std::move(string));
    }
    case fb::LaunchData_Int64ListValue: {
      if (from.data_as_Int64ListValue() == nullptr) return missing(where);
      HIPPLAN_TRY_ASSIGN(auto list, int_list(from.data_as_Int64ListValue()->value(), where));
      return ValueData(std::move(list));
    }
    default:
      return damaged("launch-value-form", where.text(), "unknown type of launch value", "1 to 5",
                     cat(static_cast<int>(from.data_type())));
  }
}

Result<LaunchValues> read_values(const fb::Payload& from, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto count,
                     list_size(from.values(), kMostValues, PayloadPlace{where, ".values"}));
  LaunchValues out;
  out.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto* value = from.values()->Get(i);
    HIPPLAN_TRY_ASSIGN(auto name, text(value->name(), PayloadPlace{where, ".values", i, ".name"}));
    HIPPLAN_TRY_ASSIGN(auto data, value_data(*value, PayloadPlace{where, ".values", i, ".data"}));
    out.push_back({std::move(name), std::move(data)});
  }
  return out;
}

Result<std::vector<codeobject::Argument>> read_signature(const fb::Kernel& from,
                                                         const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto count,
                     list_size(from.signature(), kMostArguments, PayloadPlace{where}));
  std::vector<codeobject::Argument> out;
  out.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto* argument = from.signature()->Get(i);
    HIPPLAN_TRY_ASSIGN(auto kind, text(argument->kind(), PayloadPlace{where, "", i, ".kind"}));
    if (!argument->size()) return missing(PayloadPlace{where, "", i, ".size"});
    if (!argument->offset()) return missing(PayloadPlace{where, "", i, ".offset"});
    out.push_back({std::move(kind), *argument->size(), *argument->offset(),
                   argument->name() == nullptr ? std::string() : argument->name()->str()});
  }
  return out;
}

template <class T>
Digest to_digest(const T& from) {
  Digest out;
  for (uint16_t i = 0; i < out.bytes.size(); ++i) out.bytes[i] = from.bytes()->Get(i);
  return out;
}

using CodeByDigest = std::map<Digest, Code>;

/// Standalone: the first kernel that names a digest carries the code. By reference: nobody does.
Result<Code> read_code(const fb::Kernel& from, const Digest& digest, PayloadKind kind,
                       CodeByDigest& seen, const std::string& where) {
  const bool first = kind == PayloadKind::standalone && !seen.contains(digest);
  if ((from.code() != nullptr) != first)
    return damaged("payload-code", where,
                   first ? "code object is missing" : "code object is where none belongs",
                   first ? "bytes" : "none", first ? "none" : "bytes");
  if (kind == PayloadKind::by_reference) return Code();
  if (!first) return seen[digest];
  const auto* bytes = reinterpret_cast<const std::byte*>(from.code()->data());
  const ByteView view(bytes, from.code()->size());
  const Digest actual = sha256(view);
  if (actual != digest)
    return damaged("code-digest", where, "code object does not match its digest", digest.hex(),
                   actual.hex());
  return seen[digest] = share(Bytes(view.begin(), view.end()));
}

Result<KernelImage> read_kernel(const fb::Kernel& from, PayloadKind kind, CodeByDigest& seen,
                                const std::string& where) {
  KernelImage out;
  if (from.launch_name() != nullptr) out.launch_name = from.launch_name()->str();
  if (from.source_kind() > fb::SourceKind_MAX)
    return damaged("payload-source-kind", where + ".source_kind", "unknown source kind",
                   cat("1 to ", +fb::SourceKind_MAX), cat(+from.source_kind()));
  out.source_kind = static_cast<SourceKind>(from.source_kind());
  HIPPLAN_TRY_ASSIGN(out.symbol, text(from.symbol(), PayloadPlace{where, ".symbol"}));
  HIPPLAN_TRY_ASSIGN(out.target, text(from.target(), PayloadPlace{where, ".target"}));
  if (from.sha256() == nullptr) return missing(PayloadPlace{where, ".sha256"});
  out.sha256 = to_digest(*from.sha256());
  HIPPLAN_TRY_ASSIGN(out.signature, read_signature(from, where + ".signature"));
  HIPPLAN_TRY_ASSIGN(out.code, read_code(from, out.sha256, kind, seen, where + ".code"));
  return out;
}

Result<Payload> read_payload(const fb::Payload& from, PayloadKind kind, const std::string& where) {
  Payload out;
  HIPPLAN_TRY_ASSIGN(out.engine_name,
                     text(from.engine_name(), PayloadPlace{where, ".engine_name"}));
  if (from.kernel_id() == nullptr) return missing(PayloadPlace{where, ".kernel_id"});
  for (uint16_t i = 0; i < out.kernel_id.bytes.size(); ++i)
    out.kernel_id.bytes[i] = from.kernel_id()->bytes()->Get(i);
  HIPPLAN_TRY_ASSIGN(out.kernel_name,
                     text(from.kernel_name(), PayloadPlace{where, ".kernel_name"}));
  if (!from.workspace_bytes()) return missing(PayloadPlace{where, ".workspace_bytes"});
  out.workspace_bytes = *from.workspace_bytes();
  HIPPLAN_TRY_ASSIGN(out.runtime_pass_by_value_uids,
                     int_list(from.runtime_pass_by_value_uids(),
                              PayloadPlace{where, ".runtime_pass_by_value_uids"}));
  HIPPLAN_TRY_ASSIGN(out.dispatch, text(from.dispatch(), PayloadPlace{where, ".dispatch"}));
  HIPPLAN_TRY_ASSIGN(out.values, read_values(from, where));
  HIPPLAN_TRY_ASSIGN(const auto count,
                     list_size(from.kernels(), kMostKernels, PayloadPlace{where, ".kernels"}));
  CodeByDigest seen;
  for (uint32_t i = 0; i < count; ++i) {
    HIPPLAN_TRY_ASSIGN(auto kernel, read_kernel(*from.kernels()->Get(i), kind, seen,
                                                indexed(where, ".kernels", i)));
    out.kernels.push_back(std::move(kernel));
  }
  HIPPLAN_TRY_ASSIGN(out.provider_version,
                     text(from.provider_version(), PayloadPlace{where, ".provider_version"}));
  return out;
}

}  // namespace

Aligned::Aligned(ByteView bytes) : view_(bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(std::max_align_t) == 0) return;
  copy_.resize(bytes.size() / sizeof(std::max_align_t) + 1);
  std::memcpy(copy_.data(), bytes.data(), bytes.size());
  view_ = {reinterpret_cast<const std::byte*>(copy_.data()), bytes.size()};
}

Result<Payload> decode_payload_as(ByteView bytes, const std::string& where, PayloadKind kind) {
  HIPPLAN_TRY_ASSIGN(const auto unsealed, unseal(kPayloadSeal, bytes, where));
  if (unsealed.kind != static_cast<uint16_t>(kind))
    return damaged("payload-place", where, "payload is of the kind for another place",
                   cat("kind ", static_cast<int>(kind)), cat("kind ", unsealed.kind));
  if (unsealed.body.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return damaged("payload-body", where, "body is too large",
                   cat("below ", FLATBUFFERS_MAX_BUFFER_SIZE, " bytes"),
                   cat(unsealed.body.size(), " bytes"));
  const Aligned body(unsealed.body);
  flatbuffers::Verifier verifier(body.data(), body.size());
  if (!fb::VerifyPayloadBuffer(verifier))
    return damaged("payload-body", where, "body is not a sound FlatBuffer of type HPLB",
                   "offsets inside the body and identifier HPLB", "something else");
  HIPPLAN_TRY_ASSIGN(auto out, read_payload(*fb::GetPayload(body.data()), kind, where));
  HIPPLAN_TRY(check_payload(out, where, ErrorCode::damaged));
  return out;
}

Result<Payload> decode_payload(ByteView bytes, const std::string& where) {
  return decode_payload_as(bytes, where, PayloadKind::standalone);
}

}  // namespace hipplan::plan
