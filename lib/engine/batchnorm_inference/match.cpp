#include "engine/batchnorm_inference/match.h"

#include <algorithm>

#include "engine/match_support.h"

namespace hipplan::engine::batchnorm_inference {
namespace {

constexpr const char* kParameters[] = {"mean", "inv_variance", "scale", "bias"};

struct Batchnorm final : Problem {
  std::string dtype, param_dtype;
  int64_t x = 0, y = 0;
  std::vector<int64_t> parameters;  ///< uids in the order of kParameters
  std::vector<int64_t> dims, x_strides, y_strides, param_strides;
  int64_t elements = 1;
  double bytes = 0;

  LaunchValues tokens() const override {
    return {
        {"dtype", dtype}, {"param_dtype", param_dtype}, {"x.uid", x}, {"y.uid", y}, {"dims", dims}};
  }
};

/// Stride from one channel's value to the next; nothing unless the tensor holds one value a
/// channel.
std::optional<int64_t> channel_stride(const graph::Tensor& tensor,
                                      const std::vector<int64_t>& dims) {
  const auto strides = strides_over(tensor, dims);
  if (!strides) return std::nullopt;
  for (size_t i = 0; i < strides->size(); ++i)
    if (i != 1 && (*strides)[i] != 0) return std::nullopt;
  return (*strides)[1];
}

std::optional<Refusal> bind_parameters(const graph::Graph& graph, const graph::Node& node,
                                       Batchnorm& out) {
  const graph::Tensor* first = nullptr;
  for (const char* role : kParameters) {
    const auto at = node.input(role);
    if (!at) return Refusal{"missing-input", node_text(node) + " has no " + role};
    const graph::Tensor& tensor = graph.tensors[*at];
    if (first == nullptr) first = &tensor;
    if (auto refusal = want_served_type(tensor)) return refusal;
    if (auto refusal = want_same_type(tensor, *first)) return refusal;
    const auto stride = channel_stride(tensor, out.dims);
    if (!stride)
      return Refusal{"broadcast",
                     tensor_text(tensor) + " (" + role + ") does not hold one value a channel"};
    out.parameters.push_back(tensor.uid);
    out.param_strides.push_back(*stride);
  }
  out.param_dtype = dtype_of(*first);
  return std::nullopt;
}

GraphMatch graph_match(const graph::Graph& graph) {
  if (auto refusal = want_nodes(graph, {graph::NodeType::batchnorm_inference})) return *refusal;
  const graph::Node& node = graph.nodes[0];
  const auto x_at = node.input("x"), y_at = node.output("y");
  if (!x_at || !y_at) return Refusal{"missing-input", node_text(node) + " lacks x or y"};
  if (auto refusal = want_memory(graph, node)) return *refusal;
  if (auto refusal = want_float_arithmetic(graph, node)) return *refusal;
  const graph::Tensor &x = graph.tensors[*x_at], &y = graph.tensors[*y_at];
  if (auto refusal = want_served_type(x)) return *refusal;
  if (auto refusal = want_same_type(y, x)) return *refusal;
  if (x.dims.size() < 2 || x.dims != y.dims)
    return Refusal{"shapes", tensor_text(x) + " and " + tensor_text(y) +
                                 " must have the same dims, at least 2"};
  auto out = std::make_shared<Batchnorm>();
  out->dtype = dtype_of(x);
  out->x = x.uid;
  out->y = y.uid;
  out->dims = x.dims;
  out->x_strides = x.strides;
  out->y_strides = y.strides;
  out->elements = x.element_count();
  out->bytes = 2.0 * bytes_of(x);
  if (auto refusal = bind_parameters(graph, node, *out)) return *refusal;
  return out;
}

std::optional<Refusal> kernel_matches(const Problem& problem, const Metadata& kernel,
                                      const target::Description& target) {
  const auto* bound = dynamic_cast<const Batchnorm*>(&problem);
  if (bound == nullptr) return other_family();
  if (auto refusal = want_text(kernel, "dtype", bound->dtype)) return refusal;
  if (auto refusal = want_text(kernel, "param_dtype", bound->param_dtype)) return refusal;
  // Whether the layout serves these dims and strides is the handler's rule.
  if (kernel.text("layout") == nullptr) return missing_field("layout");
  return want_block_size(kernel, target);
}

std::optional<double> rank(const Problem& problem, const Metadata& kernel,
                           const target::Description& target) {
  const auto* bound = dynamic_cast<const Batchnorm*>(&problem);
  if (bound == nullptr) return std::nullopt;
  const bool planes = checked_text(kernel, "layout") == "planes";
  const int64_t block = std::max<int64_t>(1, checked_integer(kernel, "block_size"));
  const int64_t planes_count = bound->dims[0] * bound->dims[1];
  LaunchWork work;
  work.bytes = bound->bytes;
  work.flops = static_cast<double>(bound->elements) * (planes ? 8 : 40);
  work.peak_tflops = peak_tflops(target, "float", false);
  work.block_size = static_cast<double>(block);
  // A plane is never shared by workgroups' rounds: small planes leave work-items idle.
  work.workgroups =
      planes ? ceil_div(bound->elements / std::max<int64_t>(1, planes_count), 4 * block) *
                   static_cast<double>(planes_count)
             : ceil_div(bound->elements, block);
  work.bandwidth_share = planes ? 0.85 : 0.6;
  work.groups_per_compute_unit = 2048.0 / static_cast<double>(block);
  return estimate_microseconds(work, target);
}

Result<LaunchValues> make_launch(const Problem& problem, const Metadata& kernel,
                                 const target::Description&) {
  const auto* as_bound = dynamic_cast<const Batchnorm*>(&problem);
  if (as_bound == nullptr) return other_family_error();
  const Batchnorm& bound = *as_bound;
  return LaunchValues{{"dtype", bound.dtype},
                      {"param_dtype", bound.param_dtype},
                      {"layout", checked_text(kernel, "layout")},
                      {"x.uid", bound.x},
                      {"mean.uid", bound.parameters[0]},
                      {"inv_variance.uid", bound.parameters[1]},
                      {"scale.uid", bound.parameters[2]},
                      {"bias.uid", bound.parameters[3]},
                      {"y.uid", bound.y},
                      {"dims", bound.dims},
                      {"x_strides", bound.x_strides},
                      {"y_strides", bound.y_strides},
                      {"param_strides", bound.param_strides},
                      {"block_size", checked_integer(kernel, "block_size")}};
}

}  // namespace

const Natives& natives() {
  static const Natives all = {
      .graph_matchers = {{"hipplan.batchnorm_inference.graph_match", graph_match}},
      .kernel_matchers = {{"hipplan.batchnorm_inference.kernel_matches_graph", kernel_matches}},
      .scorers = {{"hipplan.batchnorm_inference.rank", {rank, false, "microseconds"}}},
      .launch_makers = {{"hipplan.batchnorm_inference.dispatch", make_launch}},
  };
  return all;
}

}  // namespace hipplan::engine::batchnorm_inference
