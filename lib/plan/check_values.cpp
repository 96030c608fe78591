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

/// A place inside a plan, put into words only when something is wrong there.
struct Place {
  const char* field;
  std::optional<size_t> index = {};
  const char* part = "";
  std::optional<size_t> inner = {};
  const char* inner_part = "";
  [[nodiscard]] std::string text() const {
    std::string out = field;
    if (index) out += cat("[", *index, "]", part);
    if (inner) out += cat("[", *inner, "]", inner_part);
    return out;
  }
};

/// Collects the first broken rule. Texts of an error are made only where one is reported.
class Rules {
 public:
  Rules(const std::string& where, ErrorCode failure) : where_(where), failure_(failure) {}

  /// Whether `holds` is the first rule that is broken.
  [[nodiscard]] bool breaks(bool holds) const { return !holds && !error_; }
  void report(const Reason& reason, const Place& place, const char* what, std::string expected,
              std::string found) {
    if (error_) return;
    const std::string at = where_ + place.text();
    error_ = failure_ == ErrorCode::damaged
                 ? damaged(reason, at, what, std::move(expected), std::move(found))
                 : bad_input(reason, at, what, std::move(expected), std::move(found));
  }
  /// A text that must be there: not empty, of sensible length, UTF-8 is not demanded, NUL is
  /// refused.
  void text(const std::string& value, const Reason& reason, const Place& place) {
    if (breaks(!value.empty())) report(reason, place, "text is empty", "a name", "none");
    plain(value, reason, place);
  }
  void plain(const std::string& value, const Reason& reason, const Place& place) {
    if (breaks(value.size() <= kMostText && value.find('\0') == std::string::npos))
      report(reason, place, "text is too long or holds a zero byte",
             cat("at most ", kMostText, " bytes"), cat(value.size(), " bytes"));
  }
  [[nodiscard]] Result<void> result() const {
    if (error_) return *error_;
    return {};
  }

 private:
  const std::string& where_;
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

void target_rule(Rules& rules, const std::string& target, const Place& place) {
  if (rules.breaks(target_characters(target)))
    rules.report("target-form", place, "not a target name",
                 cat("1 to ", kMostTarget, " characters out of a-z 0-9 _ - + : ."), quote(target));
}

void signature_rules(Rules& rules, const std::vector<codeobject::Argument>& signature,
                     size_t kernel) {
  uint64_t end = 0;
  for (size_t i = 0; i < signature.size(); ++i) {
    const auto& argument = signature[i];
    const auto at = [&](const char* part) {
      return Place{".kernels", kernel, ".signature", i, part};
    };
    rules.text(argument.kind, "signature-form", at(".kind"));
    rules.plain(argument.name, "signature-form", at(".name"));
    if (rules.breaks(argument.size > 0))
      rules.report("signature-form", at(".size"), "argument without bytes", "at least 1", "0");
    if (rules.breaks(argument.offset >= end))
      rules.report("signature-form", at(".offset"), "argument overlaps the one before it",
                   cat("at least ", end), cat(argument.offset));
    end = uint64_t{argument.offset} + argument.size;
    if (rules.breaks(end <= kMostText))
      rules.report("signature-form", at(""), "arguments take too many bytes",
                   cat("at most ", kMostText), cat(end));
  }
}

void kernel_rules(Rules& rules, const Payload& payload) {
  if (rules.breaks(!payload.kernels.empty()))
    rules.report("payload-kernels", {".kernels"}, "no kernel", "at least one", "none");
  std::set<std::string_view> names;
  const bool several = payload.kernels.size() > 1;
  for (size_t i = 0; i < payload.kernels.size(); ++i) {
    const auto& kernel = payload.kernels[i];
    const auto at = [&](const char* part) { return Place{".kernels", i, part}; };
    if (rules.breaks(!several || !kernel.launch_name.empty()))
      rules.report("payload-kernels", at(".launch_name"), "launch without a name beside others",
                   "a name", "none");
    if (rules.breaks(names.insert(kernel.launch_name).second))
      rules.report("payload-kernels", at(".launch_name"), "two launches have one name",
                   "unique names", quote(kernel.launch_name));
    rules.plain(kernel.launch_name, "payload-kernels", at(".launch_name"));
    const auto kind = static_cast<unsigned>(kernel.source_kind);
    if (rules.breaks(kind >= 1 && kind <= 4))
      rules.report("payload-source-kind", at(".source_kind"), "source kind is not set or unknown",
                   "1 to 4", cat(kind));
    rules.text(kernel.symbol, "payload-symbol", at(".symbol"));
    target_rule(rules, kernel.target, at(".target"));
    signature_rules(rules, kernel.signature, i);
  }
}

void value_rules(Rules& rules, const LaunchValues& values) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = [&](const char* part) { return Place{".values", i, part}; };
    rules.text(values[i].name, "launch-value-form", at(".name"));
    if (rules.breaks(names.insert(values[i].name).second))
      rules.report("launch-value-form", at(".name"), "two launch values have one name",
                   "unique names", quote(values[i].name));
    const auto* number = std::get_if<double>(&values[i].data);
    if (number != nullptr && rules.breaks(std::isfinite(*number)))
      rules.report("launch-value-form", at(".data"), "number is not finite", "a finite number",
                   cat(*number));
    if (const auto* string = std::get_if<std::string>(&values[i].data))
      rules.plain(*string, "launch-value-form", at(".data"));
  }
}

}  // namespace

Result<void> check_payload(const Payload& payload, const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  rules.text(payload.engine_name, "payload-engine", {".engine_name"});
  rules.text(payload.dispatch, "payload-dispatch", {".dispatch"});
  rules.plain(payload.kernel_name, "payload-text", {".kernel_name"});
  rules.plain(payload.provider_version, "payload-text", {".provider_version"});
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
  if (rules.breaks(envelope.version == 1))
    rules.report("envelope-version", {".version"}, "unknown envelope version", "1",
                 cat(envelope.version));
  if (rules.breaks(envelope.workspace_size >= 0))
    rules.report("envelope-workspace", {".workspace_size"}, "negative workspace size", "at least 0",
                 cat(envelope.workspace_size));
  if (rules.breaks(!envelope.tensor_uids.empty()))
    rules.report("envelope-tensors", {".tensor_uids"}, "no tensors", "at least one uid", "none");
  if (rules.breaks(envelope.tensor_uids.size() == envelope.tensor_alignments.size()))
    rules.report("envelope-tensors", {".tensor_alignments"}, "not parallel to tensor_uids",
                 cat(envelope.tensor_uids.size(), " items"),
                 cat(envelope.tensor_alignments.size(), " items"));
  std::set<int64_t> uids;
  for (const auto uid : envelope.tensor_uids)
    if (rules.breaks(uids.insert(uid).second))
      rules.report("envelope-tensors", {".tensor_uids"}, "uid occurs twice", "unique uids",
                   cat(uid));
  for (const auto alignment : envelope.tensor_alignments)
    if (rules.breaks(alignment >= 1))
      rules.report("envelope-tensors", {".tensor_alignments"}, "alignment below 1",
                   "at least 1 byte", cat(alignment));
  rules.text(envelope.provider_name, "envelope-provider", {".provider_name"});
  rules.plain(envelope.provider_version, "envelope-provider", {".provider_version"});
  return rules.result();
}

Result<void> check_identity(const Identity& identity, const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  target_rule(rules, identity.target, {".target"});
  return rules.result();
}

Result<void> check_agreement(const Envelope& envelope, const Payload& payload,
                             const std::string& where, ErrorCode failure) {
  Rules rules(where, failure);
  const int64_t id = engine_id(payload.engine_name);
  if (rules.breaks(envelope.engine_id == id))
    rules.report("engine-id", {": envelope.engine_id"},
                 "engine id is not the hash of the engine name",
                 engine_id_text(id) + " for " + quote(payload.engine_name),
                 engine_id_text(envelope.engine_id));
  if (rules.breaks(static_cast<uint64_t>(envelope.workspace_size) == payload.workspace_bytes))
    rules.report("workspace-size", {": envelope.workspace_size"}, "differs from the payload's",
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
