// The checks of a sound plan against a provider and a target.
#include <algorithm>

#include "base/counted.h"
#include "codeobject/arguments.h"
#include "restore/restore.h"
#include "target/nvidia.h"

namespace hipplan::restore {
namespace {

Error unusable(std::string reason, std::string where, std::string what) {
  return {.code = Code::unusable,
          .reason = std::move(reason),
          .where = std::move(where),
          .what = std::move(what)};
}

Result<void> check_engine(const plan::Plan& plan, const Provider& provider) {
  const std::string_view name = provider.engine_name(plan.envelope.engine_id);
  if (name.empty()) {
    Error error = unusable(
        "engine", "engine id " + engine_id_text(plan.envelope.engine_id),
        cat("provider ", provider.name, " ", provider.version, " has no engine with this id"));
    error.found = "engine name " + plan.payload.engine_name;
    error.advice = "load the provider that baked the plan, or bake again";
    return error;
  }
  if (name != plan.payload.engine_name) {
    Error error = unusable("engine", "engine id " + engine_id_text(plan.envelope.engine_id),
                           "the id belongs to another engine");
    error.expected = std::string(name);
    error.found = plan.payload.engine_name;
    return error;
  }
  return {};
}

Result<void> same_signature(const plan::KernelImage& image,
                            const std::vector<codeobject::Argument>& wanted,
                            std::string_view handler) {
  const auto mismatch = codeobject::argument_mismatch(wanted, image.signature);
  if (!mismatch) return {};
  Error error = unusable("signature", "kernel " + image.symbol + ": " + mismatch->where,
                         cat("the argument list differs from that of handler ", handler));
  error.expected = mismatch->expected;
  error.found = mismatch->found;
  error.advice = "bake again with this version";
  return error;
}

Result<void> check_signatures(const plan::Plan& plan, const engine::DispatchHandler& handler) {
  const std::vector<std::string> names = handler.launch_names();
  const size_t wanted = names.empty() ? 1 : names.size();
  if (plan.payload.kernels.size() != wanted) {
    Error error = unusable("signature", cat("handler ", handler.alias()),
                           "the plan's launches differ from the handler's");
    error.expected = counted(wanted, "kernel");
    error.found = counted(plan.payload.kernels.size(), "kernel");
    return error;
  }
  for (const auto& image : plan.payload.kernels) {
    const bool known = names.empty()
                           ? image.launch_name.empty()
                           : std::count(names.begin(), names.end(), image.launch_name) == 1;
    if (!known)
      return unusable("signature", cat("handler ", handler.alias()),
                      "the handler has no launch named '" + image.launch_name + "'");
    HIPPLAN_TRY(same_signature(image, handler.signature(image.launch_name), handler.alias()));
  }
  return {};
}

Error contradiction(const std::string& what, const std::string& expected,
                    const std::string& found) {
  return {.code = Code::damaged,
          .reason = "envelope-payload",
          .where = "envelope",
          .what = what,
          .expected = expected,
          .found = found};
}

/// The envelope promises uids, alignments and workspace; the launch must not need anything else.
Result<void> check_envelope(const plan::Plan& plan, const engine::PreparedKernel& prepared) {
  const auto& uids = plan.envelope.tensor_uids;
  for (const auto& binding : prepared.bindings)
    if (std::count(uids.begin(), uids.end(), binding.uid) != 1)
      return contradiction("a launch takes a tensor that the envelope does not list",
                           "one of the envelope's uids", cat("uid ", binding.uid));
  for (const int64_t uid : uids)
    if (std::none_of(prepared.bindings.begin(), prepared.bindings.end(),
                     [&](const auto& b) { return b.uid == uid; }))
      return contradiction("the envelope lists a tensor that no launch takes", "a used uid",
                           cat("uid ", uid));
  const auto workspace = static_cast<uint64_t>(std::max<int64_t>(plan.envelope.workspace_size, 0));
  if (workspace != plan.payload.workspace_bytes || workspace < prepared.workspace_bytes)
    return contradiction("workspace sizes disagree",
                         cat(plan.payload.workspace_bytes, " as in the payload, at least ",
                             prepared.workspace_bytes),
                         cat(workspace));
  return {};
}

}  // namespace

Result<void> check_target(const plan::Plan& plan, const target::Arch& device) {
  for (const auto& image : plan.payload.kernels) {
    const auto code = target::Arch::parse(image.target);
    const bool packed = image.source_kind == plan::SourceKind::kpack;
    const bool fits = code && (packed ? target::serves(*code, device) ||
                                            target::nvidia_runs(code->base, device.base)
                                      : *code == device);
    if (!fits) {
      Error error = unusable("target", "kernel " + image.symbol,
                             "the machine code does not run on this target");
      error.expected = packed ? image.target + " (any features)" : image.target;
      error.found = device.text();
      error.advice = "bake a plan for " + device.base;
      return error;
    }
  }
  return {};
}

Result<engine::PreparedKernel> check_usable(const plan::Plan& plan, const Provider& provider,
                                            const target::Arch* device) {
  if (!plan.payload.runtime_pass_by_value_uids.empty())
    return unusable("runtime-pass-by-value",
                    cat("uid ", plan.payload.runtime_pass_by_value_uids.front()),
                    "plans with values passed at run time cannot be restored");
  HIPPLAN_TRY(check_engine(plan, provider));
  if (device != nullptr) HIPPLAN_TRY(check_target(plan, *device));
  const auto* handler = provider.find_handler != nullptr
                            ? provider.find_handler(plan.payload.dispatch)
                            : engine::find_by_alias(plan.payload.dispatch);
  if (handler == nullptr) {
    const bool unversioned = engine::find_by_name(plan.payload.dispatch) != nullptr;
    Error error = unusable("handler", "dispatch '" + plan.payload.dispatch.substr(0, 80) + "'",
                           unversioned ? "names no launch-value contract"
                                       : "no such dispatch handler in this provider");
    error.expected = "a versioned name such as hipplan.conv_fwd.dispatch.v1";
    return error;
  }
  if (!handler->can_save())
    return unusable("handler-restore", cat("dispatch ", handler->alias()),
                    "the handler does not support restoring");
  HIPPLAN_TRY(check_signatures(plan, *handler));
  HIPPLAN_TRY(engine::check_values(*handler, plan.payload.values));
  HIPPLAN_TRY_ASSIGN(auto prepared, handler->prepare(plan.payload.values));
  HIPPLAN_TRY(check_envelope(plan, prepared));
  return prepared;
}

Result<engine::PreparedKernel> check_restorable(const plan::Plan& plan, const Provider& provider,
                                                const target::Arch* device,
                                                const Error* code_fault) {
  if (code_fault != nullptr && code_fault->code == Code::damaged) return *code_fault;
  HIPPLAN_TRY_ASSIGN(auto prepared, check_usable(plan, provider, device));
  if (code_fault != nullptr) return *code_fault;
  return prepared;
}

}  // namespace hipplan::restore
