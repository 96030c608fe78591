#include "engine/pointwise/match.h"

#include <algorithm>

#include "engine/match_support.h"
#include "engine/pointwise/dispatch.h"

namespace hipplan::engine::pointwise {
namespace {

struct Pointwise final : Problem {
  std::string operation, dtype;
  int64_t output = 0, axis = 0;
  std::vector<int64_t> inputs, dims, out_strides, in_strides;
  double lower = 0, upper = 0, slope = 0, elu_alpha = 1, swish_beta = 1, softplus_beta = 1;
  bool has_upper = false;
  bool contiguous = false;  ///< the contiguous layout serves
  int64_t elements = 1;
  double bytes = 0;  ///< read and written

  LaunchValues tokens() const override {
    return {{"operation", operation},
            {"dtype", dtype},
            {"output.uid", output},
            {"inputs", inputs},
            {"dims", dims},
            {"out_strides", out_strides},
            {"in_strides", in_strides},
            {"contiguous", contiguous}};
  }
};

constexpr const char* kRoles[] = {"in_0", "in_1", "in_2"};

std::optional<Refusal> bind_inputs(const graph::Graph& graph, const graph::Node& node,
                                   const Operation& operation, Pointwise& out) {
  const graph::Tensor& output = graph.tensors[*node.output("out_0")];
  for (uint32_t i = 0; i < operation.inputs; ++i) {
    const auto position = node.input(kRoles[i]);
    if (!position) return Refusal{"missing-input", node_text(node) + " has no " + kRoles[i]};
    const graph::Tensor& input = graph.tensors[*position];
    if (auto refusal = want_same_type(input, output)) return refusal;
    const auto strides = strides_over(input, output.dims);
    if (!strides)
      return Refusal{"broadcast", tensor_text(input) + " does not broadcast to the output's dims"};
    out.inputs.push_back(input.uid);
    out.in_strides.insert(out.in_strides.end(), strides->begin(), strides->end());
    out.bytes += bytes_of(input);
  }
  return std::nullopt;
}

void bind_settings(const graph::Node& node, Pointwise& out) {
  const auto setting = [&](const char* key, double fallback) {
    return as_float32(node.number(key).value_or(fallback));
  };
  out.lower = setting("relu_lower_clip", 0);
  out.has_upper = node.number("relu_upper_clip").has_value();
  out.upper = setting("relu_upper_clip", 0);
  out.slope = setting("relu_lower_clip_slope", 0);
  out.elu_alpha = setting("elu_alpha", 1);
  out.swish_beta = setting("swish_beta", 1);
  out.softplus_beta = setting("softplus_beta", 1);
  out.axis = out.operation == "gen_index" ? node.integer("axis_tensor_uid").value_or(0) : 0;
}

GraphMatch graph_match(const graph::Graph& graph) {
  if (auto refusal = want_nodes(graph, {graph::NodeType::pointwise})) return *refusal;
  const graph::Node& node = graph.nodes[0];
  const std::string name = node.text("operation").value_or("unset");
  const Operation* operation = find_operation(name);
  if (operation == nullptr)
    return Refusal{"operation", node_text(node) + ": operation " + name + " is not served"};
  if (auto refusal = want_memory(graph, node)) return *refusal;
  if (auto refusal = want_float_arithmetic(graph, node)) return *refusal;
  const auto position = node.output("out_0");
  if (!position) return Refusal{"missing-output", node_text(node) + " has no out_0"};
  const graph::Tensor& output = graph.tensors[*position];
  if (auto refusal = want_served_type(output)) return *refusal;
  auto out = std::make_shared<Pointwise>();
  out->operation = name;
  out->dtype = dtype_of(output);
  out->output = output.uid;
  out->dims = output.dims;
  out->out_strides = output.strides;
  out->elements = output.element_count();
  out->bytes = bytes_of(output);
  if (auto refusal = bind_inputs(graph, node, *operation, *out)) return *refusal;
  bind_settings(node, *out);
  out->contiguous = contiguous_serves(out->dims, out->out_strides, out->in_strides, out->operation);
  return out;
}

std::optional<Refusal> kernel_matches(const Problem& problem, const Metadata& kernel,
                                      const target::Description& target) {
  const auto* bound = dynamic_cast<const Pointwise*>(&problem);
  if (bound == nullptr) return other_family();
  if (auto refusal = want_text(kernel, "dtype", bound->dtype)) return refusal;
  const std::string* layout = kernel.text("layout");
  if (layout == nullptr) return missing_field("layout");
  if (*layout == "contiguous" && !bound->contiguous)
    return Refusal{"layout",
                   "layout contiguous does not serve these strides, broadcasts or operation"};
  return want_block_size(kernel, target);
}

std::optional<double> rank(const Problem& problem, const Metadata& kernel,
                           const target::Description& target) {
  const auto* bound = dynamic_cast<const Pointwise*>(&problem);
  if (bound == nullptr) return std::nullopt;
  const bool contiguous = checked_text(kernel, "layout") == "contiguous";
  const int64_t block = std::max<int64_t>(1, checked_integer(kernel, "block_size"));
  LaunchWork work;
  work.bytes = bound->bytes;
  // Strided kernels spend about thirty integer operations an element on its place.
  work.flops = static_cast<double>(bound->elements) * (contiguous ? 8 : 40);
  work.peak_tflops = peak_tflops(target, "float", false);
  work.block_size = static_cast<double>(block);
  work.workgroups = ceil_div(bound->elements, block * (contiguous ? 4 : 1));
  work.bandwidth_share = contiguous ? 0.85 : 0.6;
  work.groups_per_compute_unit = 2048.0 / static_cast<double>(block);
  return estimate_microseconds(work, target);
}

Result<LaunchValues> make_launch(const Problem& problem, const Metadata& kernel,
                                 const target::Description&) {
  const auto* as_bound = dynamic_cast<const Pointwise*>(&problem);
  if (as_bound == nullptr) return other_family_error();
  const Pointwise& bound = *as_bound;
  return LaunchValues{{"operation", bound.operation},
                      {"dtype", bound.dtype},
                      {"layout", checked_text(kernel, "layout")},
                      {"output.uid", bound.output},
                      {"inputs", bound.inputs},
                      {"dims", bound.dims},
                      {"out_strides", bound.out_strides},
                      {"in_strides", bound.in_strides},
                      {"axis", bound.axis},
                      {"relu_lower_clip", bound.lower},
                      {"relu_upper_clip", bound.upper},
                      {"relu_has_upper_clip", bound.has_upper},
                      {"relu_lower_clip_slope", bound.slope},
                      {"elu_alpha", bound.elu_alpha},
                      {"swish_beta", bound.swish_beta},
                      {"softplus_beta", bound.softplus_beta},
                      {"block_size", checked_integer(kernel, "block_size")}};
}

}  // namespace

const Natives& natives() {
  static const Natives all = {
      .graph_matchers = {{"hipplan.pointwise.graph_match", graph_match}},
      .kernel_matchers = {{"hipplan.pointwise.kernel_matches_graph", kernel_matches}},
      .scorers = {{"hipplan.pointwise.rank", {rank, false, "microseconds"}}},
      .launch_makers = {{"hipplan.pointwise.dispatch", make_launch}},
  };
  return all;
}

}  // namespace hipplan::engine::pointwise
