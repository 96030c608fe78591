#include "match/kernel.h"

#include <algorithm>

namespace hipplan::match {
namespace {

using engine::Refusal;

/// The values in the contract's order; values that it does not know stay at the end.
void sort_by_contract(LaunchValues& values, const std::vector<engine::ValueRule>& contract) {
  const bool sorted =
      std::equal(values.begin(), values.end(), contract.begin(), contract.end(),
                 [](const auto& value, const auto& rule) { return value.name == rule.name; });
  if (sorted) return;
  const auto place = [&](const LaunchValue& value) {
    return std::find_if(contract.begin(), contract.end(),
                        [&](const auto& rule) { return rule.name == value.name; });
  };
  std::stable_sort(values.begin(), values.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

/// Without the advice: that is for the reader of a plan, and there is none yet.
Refusal from_error(Error error) {
  error.advice.clear();
  return {error.reason, error.text()};
}

std::string tensor_name(const graph::Tensor& tensor) {
  return "tensor " + std::to_string(tensor.uid) +
         (tensor.name.empty() ? "" : " '" + tensor.name + "'");
}

/// The kernel may touch no more of a tensor than it has, and may not ask for more alignment than
/// the graph promises.
std::optional<Refusal> check_binding(const engine::Binding& binding, const graph::Tensor& tensor) {
  if (binding.min_bytes > static_cast<uint64_t>(tensor.span_bytes()))
    return Refusal{"binding-size", "the launch would touch " + std::to_string(binding.min_bytes) +
                                       " bytes of " + tensor_name(tensor) + ", which spans " +
                                       std::to_string(tensor.span_bytes())};
  if (static_cast<int64_t>(binding.min_alignment) > tensor.alignment)
    return Refusal{"alignment", tensor_name(tensor) + " is aligned to " +
                                    std::to_string(tensor.alignment) + " bytes, the kernel needs " +
                                    std::to_string(binding.min_alignment)};
  return std::nullopt;
}

std::optional<Refusal> check_bindings(const graph::Graph& graph,
                                      const engine::PreparedKernel& prepared) {
  std::vector<int64_t> written;
  for (const engine::Binding& binding : prepared.bindings) {
    const auto at = graph.tensor_by_uid(binding.uid);
    if (!at)
      return Refusal{"binding-uid", "the launch binds uid " + std::to_string(binding.uid) +
                                        ", which is no tensor"};
    if (auto refusal = check_binding(binding, graph.tensors[*at])) return refusal;
    if (binding.written) written.push_back(binding.uid);
  }
  for (const size_t output : graph.external_outputs()) {
    const graph::Tensor& tensor = graph.tensors[output];
    if (std::find(written.begin(), written.end(), tensor.uid) == written.end())
      return Refusal{"binding-output", "the launch does not write " + tensor_name(tensor)};
  }
  return std::nullopt;
}

std::optional<Verdict> run_matchers(const PackContext& context, const engine::Metadata& metadata) {
  for (const descriptor::Matcher* matcher : context.pack.matchers) {
    if (matcher->scope != descriptor::Scope::kernel) continue;
    const engine::KernelMatcher judge = engine::find_kernel_matcher(matcher->symbol);
    if (judge == nullptr)
      return Verdict{
          matcher->symbol,
          {"unregistered-symbol", "matcher '" + matcher->symbol + "' is not registered"}};
    if (auto refusal = judge(context.problem, metadata, context.target))
      return Verdict{matcher->symbol, std::move(*refusal)};
  }
  return std::nullopt;
}

bool launch_names_fit(const descriptor::Kernel& kernel, const engine::DispatchHandler& handler) {
  std::vector<std::string> wanted = handler.launch_names(), found;
  std::sort(wanted.begin(), wanted.end());
  if (kernel.multi_launch)
    for (const descriptor::Source& source : kernel.sources) found.push_back(source.launch_name);
  return wanted == found;
}

}  // namespace

std::optional<Verdict> judge_kernel(const PackContext& context,
                                    const descriptor::PackKernel& kernel, Candidate& out) {
  const engine::Metadata metadata(*context.pack.engine->schema, kernel.values);
  if (auto verdict = run_matchers(context, metadata)) return verdict;
  const std::string by(context.handler.alias());
  if (!launch_names_fit(*kernel.kernel, context.handler))
    return Verdict{by,
                   {"launch-names", "the kernel's launches are not those of its dispatch handler"}};
  auto values = context.make_launch(context.problem, metadata, context.target);
  if (!values) return Verdict{by, from_error(values.error())};
  sort_by_contract(*values, context.handler.contract());
  if (const auto fits = engine::check_values(context.handler, *values); !fits)
    return Verdict{by, from_error(fits.error())};
  auto prepared = context.handler.prepare(*values);
  if (!prepared) return Verdict{by, from_error(prepared.error())};
  if (auto refusal = check_bindings(context.graph, *prepared))
    return Verdict{by, std::move(*refusal)};
  out.values = std::move(values).value();
  out.workspace_bytes = prepared->workspace_bytes;
  out.prepared = std::make_shared<const engine::PreparedKernel>(std::move(prepared).value());
  return std::nullopt;
}

}  // namespace hipplan::match
