// The rules that neither the schemas nor the verifier can say, on decoded values.
#include <algorithm>
#include <cmath>
#include <set>

#include "plan/codec.h"
#include "plan/errors.h"
#include "plan/plan.h"

namespace hipplan::plan {
namespace {

constexpr size_t kMostText = 1 << 16, kMostTarget = 255;

/// Collects the first broken rule.
class Rules {
 public:
  Rules(std::string where, ErrorCode failure) : where_(std::move(where)), failure_(failure) {}

  Rules& require(bool holds, const Reason& reason, const std::string& field, const char* what,
                 const std::string& expected = {}, const std::string& found = {}) {
    if (holds || error_) return *this;
    error_ = failure_ == ErrorCode::damaged
                 ? damaged(reason, where_ + field, what, expected, found)
                 : bad_input(reason, where_ + field, what, expected, found);
    return *this;
  }
  /// A text that must be there: not empty, of sensible length, UTF-8 is not demanded, NUL is
  /// refused.
  Rules& text(const std::string& value, const Reason& reason, const std::string& field) {
    require(!value.empty(), reason, field, "text is empty", "a name", "none");
    return plain(value, reason, field);
  }
  Rules& plain(const std::string& value, const Reason& reason, const std::string& field) {
    return require(value.size() <= kMostText && value.find('\0') == std::string::npos, reason,
                   field, "text is too long or holds a zero byte",
                   cat("at most ", kMostText, " bytes"), cat(value.size(), " bytes"));
  }
  [[nodiscard]] Result<void> result() const {
    if (error_) return *error_;
    return {};
  }

 private:
  std::string where_;
  ErrorCode failure_;
  std::optional<Error> error_;
};

bool target_characters(std::string_view text) {
  return !text.empty() && text.size() <= kMostTarget &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
                  c == '+' || c == ':' || c == '.';
         });
}

void target_rule(Rules& rules, const std::string& target, const std::string& field) {
  rules.require(target_characters(target), "target-form", field, "not a target name",
                cat("1 to ", kMostTarget, " characters out of a-z 0-9 _ - + : ."), quote(target));
}

void signature_rules(Rules& rules, const std::vector<codeobject::Argument>& signature,
                     const std::string& field) {
  uint64_t end = 0;
  for (size_t i = 0; i < signature.size(); ++i) {
    const auto& argument = signature[i];
    const std::string place = cat(field, "[", i, "]");
    rules.text(argument.kind, "signature-form", place + ".kind");
    rules.plain(argument.name, "signature-form", place + ".name");
    rules.require(argument.size > 0, "signature-form", place + ".size", "argument without bytes",
                  "at least 1", "0");
    rules.require(argument.offset >= end, "signature-form", place + ".offset",
                  "argument overlaps the one before it", cat("at least ", end),
                  cat(argument.offset));
    end = uint64_t{argument.offset} + argument.size;
    rules.require(end <= kMostText, "signature-form", place, "arguments take too many bytes",
                  cat("at most ", kMostText), cat(end));
  }
}

void kernel_rules(Rules& rules, const Payload& payload) {
  rules.require(!payload.kernels.empty(), "payload-kernels", ".kernels", "no kernel",
                "at least one", "none");
  std::set<std::string> names;
  const bool several = payload.kernels.size() > 1;
  for (size_t i = 0; i < payload.kernels.size(); ++i) {
    const auto& kernel = payload.kernels[i];
    const std::string place = cat(".kernels[", i, "]");
    rules.require(!several || !kernel.launch_name.empty(), "payload-kernels",
                  place + ".launch_name", "launch without a name beside others", "a name", "none");
    rules.require(names.insert(kernel.launch_name).second, "payload-kernels",
                  place + ".launch_name", "two launches have one name", "unique names",
                  quote(kernel.launch_name));
    rules.plain(kernel.launch_name, "payload-kernels", place + ".launch_name");
    const auto kind = static_cast<unsigned>(kernel.source_kind);
    rules.require(kind >= 1 && kind <= 4, "payload-source-kind", place + ".source_kind",
                  "source kind is not set or unknown", "1 to 4", cat(kind));
    rules.text(kernel.symbol, "payload-symbol", place + ".symbol");
    target_rule(rules, kernel.target, place + ".target");
    signature_rules(rules, kernel.signature, place + ".signature");
  }
}

void value_rules(Rules& rules, const LaunchValues& values) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string place = cat(".values[", i, "]");
    rules.text(values[i].name, "launch-value-form", place + ".name");
    rules.require(names.insert(values[i].name).second, "launch-value-form", place + ".name",
                  "two launch values have one name", "unique names", quote(values[i].name));
    if (const auto* number = std::get_if<double>(&values[i].data))
      rules.require(std::isfinite(*number), "launch-value-form", place + ".data",
                    "number is not finite", "a finite number", cat(*number));
    if (const auto* string = std::get_if<std::string>(&values[i].data))
      rules.plain(*string, "launch-value-form", place + ".data");
  }
}

}  // namespace

Result<void> check_payload(const Payload& payload, const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  rules.text(payload.engine_name, "payload-engine", ".engine_name");
  rules.text(payload.dispatch, "payload-dispatch", ".dispatch");
  rules.plain(payload.kernel_name, "payload-text", ".kernel_name");
  rules.plain(payload.provider_version, "payload-text", ".provider_version");
  value_rules(rules, payload.values);
  kernel_rules(rules, payload);
  HIPPLAN_TRY(rules.result());
  if (!payload.runtime_pass_by_value_uids.empty())
    return unusable("runtime-pass-by-value", where + ".runtime_pass_by_value_uids",
                    "plan takes tensors by value at run time", "none",
                    cat(payload.runtime_pass_by_value_uids.size(), " tensors, first uid ",
                        payload.runtime_pass_by_value_uids.front()),
                    "bake the values into the graph");
  return {};
}

Result<void> check_envelope(const Envelope& envelope, const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  rules.require(envelope.version == 1, "envelope-version", ".version", "unknown envelope version",
                "1", cat(envelope.version));
  rules.require(envelope.workspace_size >= 0, "envelope-workspace", ".workspace_size",
                "negative workspace size", "at least 0", cat(envelope.workspace_size));
  rules.require(!envelope.tensor_uids.empty(), "envelope-tensors", ".tensor_uids", "no tensors",
                "at least one uid", "none");
  rules.require(envelope.tensor_uids.size() == envelope.tensor_alignments.size(),
                "envelope-tensors", ".tensor_alignments", "not parallel to tensor_uids",
                cat(envelope.tensor_uids.size(), " items"),
                cat(envelope.tensor_alignments.size(), " items"));
  std::set<int64_t> uids;
  for (const auto uid : envelope.tensor_uids)
    rules.require(uids.insert(uid).second, "envelope-tensors", ".tensor_uids", "uid occurs twice",
                  "unique uids", cat(uid));
  for (const auto alignment : envelope.tensor_alignments)
    rules.require(alignment >= 1, "envelope-tensors", ".tensor_alignments", "alignment below 1",
                  "at least 1 byte", cat(alignment));
  rules.text(envelope.provider_name, "envelope-provider", ".provider_name");
  rules.plain(envelope.provider_version, "envelope-provider", ".provider_version");
  return rules.result();
}

Result<void> check_identity(const Identity& identity, const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  target_rule(rules, identity.target, ".target");
  return rules.result();
}

Result<void> check_agreement(const Envelope& envelope, const Payload& payload,
                             const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  const int64_t id = engine_id(payload.engine_name);
  rules.require(envelope.engine_id == id, "engine-id", ": envelope.engine_id",
                "engine id is not the hash of the engine name",
                engine_id_text(id) + " for " + quote(payload.engine_name),
                engine_id_text(envelope.engine_id));
  rules.require(static_cast<uint64_t>(envelope.workspace_size) == payload.workspace_bytes,
                "workspace-size", ": envelope.workspace_size", "differs from the payload's",
                cat(payload.workspace_bytes), cat(envelope.workspace_size));
  return rules.result();
}

Result<void> check_plan(const Plan& plan, ErrorCode failure) {
  HIPPLAN_TRY(check_identity({plan.graph_key, plan.target}, "plan", failure));
  HIPPLAN_TRY(check_envelope(plan.envelope, "envelope", failure));
  HIPPLAN_TRY(check_payload(plan.payload, "payload", failure));
  return check_agreement(plan.envelope, plan.payload, "plan", failure);
}

}  // namespace hipplan::plan
