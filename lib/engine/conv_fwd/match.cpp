#include "engine/conv_fwd/match.h"

#include <algorithm>

#include "engine/match_support.h"

namespace hipplan::engine::conv_fwd {
namespace {

struct Convolution final : Problem {
  std::string dtype, mode;
  int64_t x = 0, w = 0, y = 0, groups = 1;
  std::vector<int64_t> bias;  ///< uid, or nothing
  std::vector<int64_t> x_dims, w_dims, y_dims, x_strides, w_strides, y_strides, bias_strides;
  std::vector<int64_t> pre_padding, post_padding, stride, dilation;
  double bytes = 0;

  LaunchValues tokens() const override {
    return {{"dtype", dtype},   {"conv_mode", mode}, {"x.uid", x},       {"w.uid", w},
            {"y.uid", y},       {"bias", bias},      {"groups", groups}, {"x_dims", x_dims},
            {"w_dims", w_dims}, {"y_dims", y_dims}};
  }
  int64_t positions() const {
    int64_t out = y_dims[0];
    for (size_t i = 2; i < y_dims.size(); ++i) out *= y_dims[i];
    return out;
  }
  int64_t reduction() const {
    int64_t out = 1;
    for (size_t i = 1; i < w_dims.size(); ++i) out *= w_dims[i];
    return out;
  }
};

/// The convolution itself; `y` is where its result goes, which may be virtual when more follows.
std::optional<Refusal> bind_convolution(const graph::Graph& graph, const graph::Node& node,
                                        const graph::Tensor& y, Convolution& out) {
  if (auto refusal = want_float_arithmetic(graph, node)) return refusal;
  const auto x_at = node.input("x"), w_at = node.input("w");
  if (!x_at || !w_at) return Refusal{"missing-input", node_text(node) + " lacks x or w"};
  const graph::Tensor &x = graph.tensors[*x_at], &w = graph.tensors[*w_at];
  if (auto refusal = want_served_type(x)) return refusal;
  if (auto refusal = want_same_type(w, x)) return refusal;
  if (auto refusal = want_same_type(y, x)) return refusal;
  if (x.dims.size() < 3 || x.dims.size() > 5 || w.dims.size() != x.dims.size())
    return Refusal{"rank", tensor_text(x) + " has rank " + std::to_string(x.dims.size()) +
                               "; this engine serves 1 to 3 spatial dims"};
  out.mode = node.text("conv_mode").value_or("UNSET");
  if (out.mode != "CROSS_CORRELATION" && out.mode != "CONVOLUTION")
    return Refusal{"conv-mode", "conv_mode " + out.mode + " is not served"};
  out.dtype = dtype_of(x);
  out.x = x.uid;
  out.w = w.uid;
  out.x_dims = x.dims;
  out.w_dims = w.dims;
  out.x_strides = x.strides;
  out.w_strides = w.strides;
  out.groups = w.dims[1] == 0 ? 1 : x.dims[1] / w.dims[1];
  const auto copy = [&](const char* key, std::vector<int64_t>& to) {
    if (const auto* list = node.list(key)) to = *list;
  };
  copy("pre_padding", out.pre_padding);
  copy("post_padding", out.post_padding);
  copy("stride", out.stride);
  copy("dilation", out.dilation);
  out.bytes = bytes_of(x) + bytes_of(w) + bytes_of(y);
  return std::nullopt;
}

void bind_output(const graph::Tensor& y, Convolution& out) {
  out.y = y.uid;
  out.y_dims = y.dims;
  out.y_strides = y.strides;
}

GraphMatch match_alone(const graph::Graph& graph) {
  const graph::Node& node = graph.nodes[0];
  if (auto refusal = want_memory(graph, node)) return *refusal;
  const auto at = node.output("y");
  if (!at) return Refusal{"missing-output", node_text(node) + " has no y"};
  auto out = std::make_shared<Convolution>();
  bind_output(graph.tensors[*at], *out);
  if (auto refusal = bind_convolution(graph, node, graph.tensors[*at], *out)) return *refusal;
  return out;
}

/// The tensor that an add node adds to `sum`, or nothing when it does not read `sum` exactly once.
std::optional<size_t> other_operand(const graph::Node& add, size_t sum) {
  const auto first = add.input("in_0"), second = add.input("in_1");
  if (!first || !second || (*first == sum) == (*second == sum)) return std::nullopt;
  return *first == sum ? *second : *first;
}

/// Whether the sum's dims are the result's, or one channel that the add repeats over all of them.
bool sum_fits(const graph::Tensor& sum, const graph::Tensor& y) {
  if (sum.dims.size() != y.dims.size() || y.dims.size() < 2) return false;
  std::vector<int64_t> dims = sum.dims;
  if (dims[1] == 1) dims[1] = y.dims[1];
  return dims == y.dims;
}

std::optional<Refusal> bind_bias(const graph::Graph& graph, const graph::Node& add, size_t sum,
                                 Convolution& out) {
  const std::string operation = add.text("operation").value_or("unset");
  if (operation != "add")
    return Refusal{"operation", node_text(add) + ": operation " + operation +
                                    " after a convolution is not served; add is"};
  const auto bias_at = other_operand(add, sum), y_at = add.output("out_0");
  if (!bias_at || !y_at)
    return Refusal{"chain",
                   node_text(add) + " does not add one tensor to the convolution's result"};
  if (auto refusal = want_memory(graph, add, {sum})) return refusal;
  if (auto refusal = want_float_arithmetic(graph, add)) return refusal;
  const graph::Tensor &bias = graph.tensors[*bias_at], &y = graph.tensors[*y_at];
  const auto strides = strides_over(bias, y.dims);
  if (!strides)
    return Refusal{"broadcast", tensor_text(bias) + " does not broadcast to " + tensor_text(y)};
  if (!sum_fits(graph.tensors[sum], y))
    return Refusal{"broadcast", "the convolution's result broadcasts to " + tensor_text(y) +
                                    " other than along its channels, which is not served"};
  if (auto refusal = want_same_type(bias, y)) return refusal;
  out.bias = {bias.uid};
  out.bias_strides = *strides;
  bind_output(y, out);
  return std::nullopt;
}

/// Convolution, then add. The sum is rounded once, so its own type only has to be a float type that
/// is no wider than the accumulator.
GraphMatch match_with_bias(const graph::Graph& graph) {
  const graph::Node &node = graph.nodes[0], &add = graph.nodes[1];
  const auto sum = node.output("y");
  if (!sum) return Refusal{"missing-output", node_text(node) + " has no y"};
  const graph::Tensor& between = graph.tensors[*sum];
  if (!between.is_virtual)
    return Refusal{"intermediate",
                   tensor_text(between) +
                       " between the nodes is not virtual; only the last result is written"};
  if (auto refusal = want_served_type(between)) return *refusal;
  if (auto refusal = want_memory(graph, node, {*sum})) return *refusal;
  auto out = std::make_shared<Convolution>();
  if (auto refusal = bind_bias(graph, add, *sum, *out)) return *refusal;
  const graph::Tensor& y = graph.tensors[*add.output("out_0")];
  if (auto refusal = bind_convolution(graph, node, y, *out)) return *refusal;
  // One filter for all channels of the result.
  if (out->w_dims[0] != y.dims[1]) {
    out->w_dims[0] = y.dims[1];
    out->w_strides[0] = 0;
  }
  return out;
}

GraphMatch graph_match(const graph::Graph& graph) {
  using graph::NodeType;
  if (!want_nodes(graph, {NodeType::convolution_fwd})) return match_alone(graph);
  const auto refusal = want_nodes(graph, {NodeType::convolution_fwd, NodeType::pointwise});
  if (!refusal) return match_with_bias(graph);
  if (refusal->reason != "nodes") return *refusal;
  return Refusal{"nodes", refusal->text + " (a bias), or ConvolutionFwdAttributes alone"};
}

std::optional<Refusal> kernel_matches(const Problem& problem, const Metadata& kernel,
                                      const target::Description& target) {
  const auto* bound = dynamic_cast<const Convolution*>(&problem);
  if (bound == nullptr) return other_family();
  if (auto refusal = want_text(kernel, "dtype", bound->dtype)) return refusal;
  if (kernel.text("algorithm") == nullptr) return missing_field("algorithm");
  for (const char* field : {"tile_m", "tile_n", "tile_k"})
    if (!kernel.integer(field)) return missing_field(field);
  return want_block_size(kernel, target);
}

std::optional<double> rank(const Problem& problem, const Metadata& kernel,
                           const target::Description& target) {
  const auto* bound = dynamic_cast<const Convolution*>(&problem);
  if (bound == nullptr) return std::nullopt;
  const bool direct = checked_text(kernel, "algorithm") == "direct";
  const int64_t tile_m = std::max<int64_t>(1, checked_integer(kernel, "tile_m"));
  const int64_t tile_n = std::max<int64_t>(1, checked_integer(kernel, "tile_n"));
  const int64_t per_group = bound->y_dims[1] / std::max<int64_t>(1, bound->groups);
  const double blocks_m = ceil_div(per_group, tile_m) * static_cast<double>(bound->groups);
  const double blocks_n = ceil_div(bound->positions(), tile_n);
  const double tiles = blocks_m * blocks_n;
  const auto reduction = static_cast<double>(bound->reduction());
  LaunchWork work;
  work.workgroups = tiles;
  work.block_size = static_cast<double>(checked_integer(kernel, "block_size"));
  work.flops = 2 * tiles * static_cast<double>(tile_m * tile_n) * reduction;
  work.bytes = bound->bytes;
  work.peak_tflops = peak_tflops(target, "float", false);
  // The direct kernel loads each operand from cache for tile_m products; the tiled one from LDS for
  // a square of them.
  work.arithmetic_share = direct ? 0.05 * static_cast<double>(std::min<int64_t>(tile_m, 4)) : 0.45;
  work.groups_per_compute_unit = direct ? 1024 / work.block_size : 512 / work.block_size;
  return estimate_microseconds(work, target);
}

Result<LaunchValues> make_launch(const Problem& problem, const Metadata& kernel,
                                 const target::Description&) {
  const auto* as_bound = dynamic_cast<const Convolution*>(&problem);
  if (as_bound == nullptr) return other_family_error();
  const Convolution& bound = *as_bound;
  return LaunchValues{{"dtype", bound.dtype},
                      {"algorithm", checked_text(kernel, "algorithm")},
                      {"conv_mode", bound.mode},
                      {"x.uid", bound.x},
                      {"w.uid", bound.w},
                      {"y.uid", bound.y},
                      {"bias", bound.bias},
                      {"x_dims", bound.x_dims},
                      {"w_dims", bound.w_dims},
                      {"y_dims", bound.y_dims},
                      {"x_strides", bound.x_strides},
                      {"w_strides", bound.w_strides},
                      {"y_strides", bound.y_strides},
                      {"bias_strides", bound.bias_strides},
                      {"pre_padding", bound.pre_padding},
                      {"post_padding", bound.post_padding},
                      {"stride", bound.stride},
                      {"dilation", bound.dilation},
                      {"groups", bound.groups},
                      {"block_size", checked_integer(kernel, "block_size")},
                      {"tile_m", checked_integer(kernel, "tile_m")},
                      {"tile_n", checked_integer(kernel, "tile_n")},
                      {"tile_k", checked_integer(kernel, "tile_k")}};
}

}  // namespace

const Natives& natives() {
  static const Natives all = {
      .graph_matchers = {{"hipplan.conv_fwd.graph_match", graph_match}},
      .kernel_matchers = {{"hipplan.conv_fwd.kernel_matches_graph", kernel_matches}},
      .scorers = {{"hipplan.conv_fwd.rank", {rank, false, "microseconds"}}},
      .launch_makers = {{"hipplan.conv_fwd.dispatch", make_launch}},
  };
  return all;
}

}  // namespace hipplan::engine::conv_fwd
