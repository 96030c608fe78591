// The digest of a plan's decisions, over a byte form of its own that no library version can change.
#include "base/hash.h"
#include "plan/plan.h"

namespace hipplan::plan {
namespace {

class Canonical {
 public:
  Canonical& text(std::string_view value) {
    number(static_cast<uint64_t>(value.size()));
    append(bytes_, as_bytes(value));
    return *this;
  }
  template <class T>
  Canonical& number(T value) {
    append(bytes_, value);
    return *this;
  }
  template <size_t N>
  Canonical& raw(const std::array<uint8_t, N>& value) {
    return number(value);
  }
  Canonical& list(const std::vector<int64_t>& values) {
    number(static_cast<uint64_t>(values.size()));
    for (const auto value : values) number(value);
    return *this;
  }
  [[nodiscard]] Digest digest() const { return sha256(bytes_); }

 private:
  Bytes bytes_;
};

void add_value(Canonical& to, const LaunchValue& value) {
  to.text(value.name).number(static_cast<uint8_t>(value.data.index() + 1));
  if (const auto* flag = std::get_if<bool>(&value.data)) to.number(static_cast<uint8_t>(*flag));
  if (const auto* integer = std::get_if<int64_t>(&value.data)) to.number(*integer);
  if (const auto* number = std::get_if<double>(&value.data)) to.number(*number);
  if (const auto* text = std::get_if<std::string>(&value.data)) to.text(*text);
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value.data)) to.list(*list);
}

void add_kernel(Canonical& to, const KernelImage& kernel) {
  to.text(kernel.launch_name).number(static_cast<uint8_t>(kernel.source_kind));
  to.text(kernel.symbol).text(kernel.target).raw(kernel.sha256.bytes);
  to.number(static_cast<uint64_t>(kernel.signature.size()));
  for (const auto& argument : kernel.signature)
    to.text(argument.kind).number(argument.size).number(argument.offset).text(argument.name);
}

}  // namespace

Digest plan_digest(const Plan& plan) {
  Canonical to;
  to.text("hipplan.plan-digest.1").raw(plan.graph_key.bytes).text(plan.target);
  const auto& envelope = plan.envelope;
  to.number(envelope.version).number(envelope.engine_id).number(envelope.workspace_size);
  to.list(envelope.tensor_uids).list(envelope.tensor_alignments);
  to.number(static_cast<uint8_t>(envelope.is_override_shape_enabled)).text(envelope.provider_name);
  const auto& payload = plan.payload;
  to.text(payload.engine_name).raw(payload.kernel_id.bytes).number(payload.workspace_bytes);
  to.list(payload.runtime_pass_by_value_uids).text(payload.dispatch);
  to.number(static_cast<uint64_t>(payload.values.size()));
  for (const auto& value : payload.values) add_value(to, value);
  to.number(static_cast<uint64_t>(payload.kernels.size()));
  for (const auto& kernel : payload.kernels) add_kernel(to, kernel);
  return to.digest();
}

}  // namespace hipplan::plan
