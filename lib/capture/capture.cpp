#include "capture/capture.h"

#include <algorithm>

#include "capture/code_cache.h"
#include "capture/code_check.h"
#include "capture/provenance.h"
#include "engine/dispatch.h"

namespace hipplan::capture {
namespace {

using descriptor::Source;
using descriptor::SourceKind;

constexpr std::string_view kProviderName = "hipplan";

/// What cannot be saved whatever the code looks like.
Result<void> check_savable(const match::Candidate& chosen, const graph::Graph& graph) {
  for (const graph::Tensor& tensor : graph.tensors)
    if (tensor.runtime_pass_by_value)
      return Error{.code = Code::unusable,
                   .reason = "pass-by-value",
                   .where = cat("tensor ", tensor.uid),
                   .what = "is passed by value at run time, which a plan cannot hold"};
  if (!chosen.handler->can_save())
    return Error{.code = Code::unusable,
                 .reason = "handler-save",
                 .where = cat("dispatch ", chosen.handler->name()),
                 .what = "the handler does not support saving"};
  if (engine_id(chosen.engine->name) != chosen.engine->engine_id ||
      engine::find_by_alias(chosen.handler->alias()) != chosen.handler)
    return Error{.code = Code::internal,
                 .reason = "engine-identity",
                 .where = chosen.engine->name,
                 .what = "engine id or dispatch alias is not what is registered"};
  return {};
}

plan::SourceKind plan_source(SourceKind kind) {
  return kind == SourceKind::kpack ? plan::SourceKind::kpack : plan::SourceKind::hsaco_file;
}

/// Packed code loads on its base architecture with any features; PTX wherever a driver compiles it;
/// other code on this target alone.
std::string image_target(SourceKind kind, const target::Arch& device, const target::Arch& code) {
  if (kind == SourceKind::kpack && !device.is_amd() && code.is_generic()) return code.base;
  return kind == SourceKind::kpack ? device.base : device.text();
}

const engine::PreparedLaunch* find_launch(const engine::PreparedKernel& prepared,
                                          std::string_view name) {
  for (const engine::PreparedLaunch& launch : prepared.launches)
    if (launch.launch_name == name) return &launch;
  return nullptr;
}

/// Tensors that the launches take, in the graph's order.
void fill_tensors(const graph::Graph& graph, const engine::PreparedKernel& prepared,
                  plan::Envelope& out) {
  for (const graph::Tensor& tensor : graph.tensors) {
    const bool bound = std::any_of(prepared.bindings.begin(), prepared.bindings.end(),
                                   [&](const auto& binding) { return binding.uid == tensor.uid; });
    if (!bound) continue;
    out.tensor_uids.push_back(tensor.uid);
    out.tensor_alignments.push_back(tensor.alignment);
  }
}

plan::Envelope make_envelope(const match::Candidate& chosen, const graph::Graph& graph,
                             const Options& options) {
  plan::Envelope out;
  out.engine_id = chosen.engine->engine_id;
  out.workspace_size = static_cast<int64_t>(chosen.workspace_bytes);
  fill_tensors(graph, *chosen.prepared, out);
  out.is_override_shape_enabled = graph.override_shape_enabled;
  out.provider_name = kProviderName;
  out.provider_version = options.provider_version;
  return out;
}

plan::Payload make_payload(const match::Candidate& chosen, const Options& options) {
  plan::Payload out;
  out.engine_name = chosen.engine->name;
  out.kernel_id = chosen.kernel->kernel->id;
  out.kernel_name = chosen.kernel->kernel->name;
  out.workspace_bytes = chosen.workspace_bytes;
  out.dispatch = chosen.handler->alias();
  out.values = chosen.values;
  out.provider_version = options.provider_version;
  return out;
}

}  // namespace

struct Capturer::State {
  CodeCache cache;
  SidecarCache sidecars;

  Result<plan::KernelImage> image(const Source& source, const match::Candidate& chosen,
                                  const target::Description& target,
                                  std::vector<KernelOrigin>& origins);
};

Result<plan::KernelImage> Capturer::State::image(const Source& source,
                                                 const match::Candidate& chosen,
                                                 const target::Description& target,
                                                 std::vector<KernelOrigin>& origins) {
  const auto* launch = find_launch(*chosen.prepared, source.launch_name);
  if (launch == nullptr)
    return Error{.code = Code::internal,
                 .reason = "launch-names",
                 .where = cat("kernel ", chosen.kernel->kernel->name),
                 .what = cat("the handler prepared no launch '", source.launch_name, "'")};
  HIPPLAN_TRY_ASSIGN(auto code, cache.get(source, target.arch));
  HIPPLAN_TRY_ASSIGN(const codeobject::Kernel* kernel,
                     check_kernel(*code, source, *chosen.handler, *launch, target));
  plan::KernelImage out;
  out.launch_name = source.launch_name;
  out.source_kind = plan_source(source.kind);
  out.symbol = source.symbol;
  out.target = image_target(source.kind, target.arch, code->parsed.arch);
  out.sha256 = code->sha256;
  out.signature = kernel->signature();
  out.code = code->bytes;
  origins.push_back({&source, chosen.kernel->kernel, std::move(code),
                     sidecars.get(chosen.kernel->kernel->origin.file)});
  return out;
}

Capturer::Capturer() : state_(std::make_unique<State>()) {}
Capturer::~Capturer() = default;

Result<plan::Plan> Capturer::capture(const select::Selection& selection, const graph::Graph& graph,
                                     const target::Description& target, const Options& options) {
  const match::Candidate& chosen = selection.chosen;
  HIPPLAN_TRY(check_savable(chosen, graph));
  HIPPLAN_TRY(engine::check_values(*chosen.handler, chosen.values));
  plan::Plan out;
  out.graph_key = graph::content_key(graph);
  out.target = target.arch.text();
  out.envelope = make_envelope(chosen, graph, options);
  out.payload = make_payload(chosen, options);
  std::vector<KernelOrigin> origins;
  for (const Source& source : chosen.kernel->kernel->sources) {
    HIPPLAN_TRY_ASSIGN(plan::KernelImage image, state_->image(source, chosen, target, origins));
    out.payload.kernels.push_back(std::move(image));
  }
  if (options.with_graph) out.graph = graph::print_graph(graph);
  if (options.with_reasons) out.reasons = select::print_reasons(selection);
  out.provenance = print_provenance(origins, target);
  return out;
}

}  // namespace hipplan::capture
