#include "engine/matmul/match.h"

#include <algorithm>

#include "engine/match_support.h"

namespace hipplan::engine::matmul {
namespace {

struct Product final : Problem {
  std::string dtype;
  int64_t a = 0, b = 0, c = 0, m = 0, n = 0, k = 0;
  std::vector<int64_t> batch_dims, a_strides, b_strides, c_strides;
  double bytes = 0;

  LaunchValues tokens() const override {
    return {{"dtype", dtype}, {"a.uid", a}, {"b.uid", b}, {"c.uid", c},
            {"m", m},         {"n", n},     {"k", k},     {"batch_dims", batch_dims}};
  }
  double batches() const {
    double out = 1;
    for (const int64_t dim : batch_dims) out *= static_cast<double>(dim);
    return out;
  }
};

/// Strides of an operand over the result's batch dims, then its own last two; nothing when its
/// batch dims do not broadcast.
std::optional<std::vector<int64_t>> operand_strides(const graph::Tensor& tensor,
                                                    const std::vector<int64_t>& batch_dims) {
  const size_t rank = tensor.dims.size();
  graph::Tensor batch;
  batch.dims.assign(tensor.dims.begin(), tensor.dims.end() - 2);
  batch.strides.assign(tensor.strides.begin(), tensor.strides.end() - 2);
  auto out = strides_over(batch, batch_dims);
  if (!out) return std::nullopt;
  out->push_back(tensor.strides[rank - 2]);
  out->push_back(tensor.strides[rank - 1]);
  return out;
}

std::optional<Refusal> want_shapes(const graph::Tensor& a, const graph::Tensor& b,
                                   const graph::Tensor& c) {
  for (const graph::Tensor* tensor : {&a, &b, &c})
    if (tensor->dims.size() < 2 || tensor->dims.size() > 8)
      return Refusal{"rank", tensor_text(*tensor) + " has rank " +
                                 std::to_string(tensor->dims.size()) +
                                 "; this engine serves 2 to 8 dims"};
  const size_t ra = a.dims.size(), rb = b.dims.size(), rc = c.dims.size();
  if (a.dims[ra - 1] != b.dims[rb - 2] || a.dims[ra - 2] != c.dims[rc - 2] ||
      b.dims[rb - 1] != c.dims[rc - 1])
    return Refusal{"shapes", "the dims of a, b and c do not make a matrix product"};
  return std::nullopt;
}

std::optional<Refusal> bind(const graph::Tensor& a, const graph::Tensor& b, const graph::Tensor& c,
                            Product& out) {
  out.batch_dims.assign(c.dims.begin(), c.dims.end() - 2);
  auto a_strides = operand_strides(a, out.batch_dims),
       b_strides = operand_strides(b, out.batch_dims);
  if (!a_strides || !b_strides)
    return Refusal{"broadcast", tensor_text(a_strides ? b : a) +
                                    " does not broadcast over the batch dims of the result"};
  out.dtype = dtype_of(a);
  out.a = a.uid;
  out.b = b.uid;
  out.c = c.uid;
  out.m = c.dims[c.dims.size() - 2];
  out.n = c.dims.back();
  out.k = a.dims.back();
  out.a_strides = std::move(*a_strides);
  out.b_strides = std::move(*b_strides);
  out.c_strides = c.strides;
  out.bytes = bytes_of(a) + bytes_of(b) + bytes_of(c);
  return std::nullopt;
}

GraphMatch graph_match(const graph::Graph& graph) {
  if (auto refusal = want_nodes(graph, {graph::NodeType::matmul})) return *refusal;
  const graph::Node& node = graph.nodes[0];
  const auto a_at = node.input("a"), b_at = node.input("b"), c_at = node.output("c");
  if (!a_at || !b_at || !c_at)
    return Refusal{"missing-input", node_text(node) + " lacks a, b or c"};
  if (auto refusal = want_memory(graph, node)) return *refusal;
  if (auto refusal = want_float_arithmetic(graph, node)) return *refusal;
  const graph::Tensor &a = graph.tensors[*a_at], &b = graph.tensors[*b_at],
                      &c = graph.tensors[*c_at];
  if (auto refusal = want_served_type(a)) return *refusal;
  if (auto refusal = want_same_type(b, a)) return *refusal;
  if (auto refusal = want_same_type(c, a)) return *refusal;
  if (auto refusal = want_shapes(a, b, c)) return *refusal;
  auto out = std::make_shared<Product>();
  if (auto refusal = bind(a, b, c, *out)) return *refusal;
  return out;
}

std::optional<Refusal> want_math(const std::string& math, const target::Description& target) {
  if (math == "vector") return std::nullopt;
  const uint32_t wave = math == "mfma" ? 64 : 32;
  if (target.wavefront_size == wave) return std::nullopt;
  return Refusal{"wavefront-size", "math " + math + " needs wavefronts of " + std::to_string(wave) +
                                       ", the target has " + std::to_string(target.wavefront_size)};
}

std::optional<Refusal> kernel_matches(const Problem& problem, const Metadata& kernel,
                                      const target::Description& target) {
  const auto* bound = dynamic_cast<const Product*>(&problem);
  if (bound == nullptr) return other_family();
  if (auto refusal = want_text(kernel, "dtype", bound->dtype)) return refusal;
  const std::string* math = kernel.text("math");
  if (math == nullptr) return missing_field("math");
  if (auto refusal = want_math(*math, target)) return refusal;
  for (const char* field : {"tile_m", "tile_n", "tile_k"})
    if (!kernel.integer(field)) return missing_field(field);
  return want_block_size(kernel, target);
}

std::optional<double> rank(const Problem& problem, const Metadata& kernel,
                           const target::Description& target) {
  const auto* bound = dynamic_cast<const Product*>(&problem);
  if (bound == nullptr) return std::nullopt;
  const bool matrix = checked_text(kernel, "math") != "vector";
  const int64_t tile_m = std::max<int64_t>(1, checked_integer(kernel, "tile_m"));
  const int64_t tile_n = std::max<int64_t>(1, checked_integer(kernel, "tile_n"));
  const int64_t tile_k = std::max<int64_t>(1, checked_integer(kernel, "tile_k"));
  LaunchWork work;
  work.workgroups = ceil_div(bound->m, tile_m) * ceil_div(bound->n, tile_n) * bound->batches();
  const double steps = ceil_div(bound->k, tile_k) * static_cast<double>(tile_k);
  work.flops = 2 * work.workgroups * static_cast<double>(tile_m * tile_n) * steps;
  work.bytes = bound->bytes;
  work.block_size = static_cast<double>(checked_integer(kernel, "block_size"));
  work.peak_tflops = peak_tflops(target, bound->dtype, matrix);
  // Products per element loaded into LDS, against the square tile of 64 that these kernels grow to.
  const double reuse = static_cast<double>(tile_m * tile_n) / static_cast<double>(tile_m + tile_n);
  work.arithmetic_share = (matrix ? 0.4 : 0.55) * std::min(1.0, reuse / 32);
  work.groups_per_compute_unit = 512 / std::max(1.0, work.block_size);
  return estimate_microseconds(work, target);
}

Result<LaunchValues> make_launch(const Problem& problem, const Metadata& kernel,
                                 const target::Description&) {
  const auto* as_bound = dynamic_cast<const Product*>(&problem);
  if (as_bound == nullptr) return other_family_error();
  const Product& bound = *as_bound;
  return LaunchValues{{"dtype", bound.dtype},
                      {"math", checked_text(kernel, "math")},
                      {"a.uid", bound.a},
                      {"b.uid", bound.b},
                      {"c.uid", bound.c},
                      {"batch_dims", bound.batch_dims},
                      {"m", bound.m},
                      {"n", bound.n},
                      {"k", bound.k},
                      {"a_strides", bound.a_strides},
                      {"b_strides", bound.b_strides},
                      {"c_strides", bound.c_strides},
                      {"block_size", checked_integer(kernel, "block_size")},
                      {"tile_m", checked_integer(kernel, "tile_m")},
                      {"tile_n", checked_integer(kernel, "tile_n")},
                      {"tile_k", checked_integer(kernel, "tile_k")}};
}

}  // namespace

const Natives& natives() {
  static const Natives all = {
      .graph_matchers = {{"hipplan.matmul.graph_match", graph_match}},
      .kernel_matchers = {{"hipplan.matmul.kernel_matches_graph", kernel_matches}},
      .scorers = {{"hipplan.matmul.rank", {rank, false, "microseconds"}}},
      .launch_makers = {{"hipplan.matmul.dispatch", make_launch}},
  };
  return all;
}

}  // namespace hipplan::engine::matmul
