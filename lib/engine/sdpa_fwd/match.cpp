#include "engine/sdpa_fwd/match.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/match_support.h"

namespace hipplan::engine::sdpa_fwd {
namespace {

struct Attention final : Problem {
  std::string dtype, mask_dtype = "float", alignment = "TOP_LEFT";
  int64_t q = 0, k = 0, v = 0, o = 0;
  int64_t batch = 0, heads_q = 0, heads_k = 0, heads_v = 0, seq_q = 0, seq_kv = 0;
  int64_t head_size_qk = 0, head_size_v = 0;
  std::vector<int64_t> q_strides, k_strides, v_strides, o_strides;
  std::vector<int64_t> mask, mask_strides, seq_len_q, seq_len_kv, stats, stats_strides;
  int64_t seq_len_q_stride = 0, seq_len_kv_stride = 0;
  double scale = 1;
  std::vector<int64_t> left_bound, right_bound;  ///< none: unlimited

  LaunchValues tokens() const override {
    return {{"dtype", dtype},
            {"q.uid", q},
            {"k.uid", k},
            {"v.uid", v},
            {"o.uid", o},
            {"batch", batch},
            {"heads_q", heads_q},
            {"heads_k", heads_k},
            {"heads_v", heads_v},
            {"seq_q", seq_q},
            {"seq_kv", seq_kv},
            {"head_size_qk", head_size_qk},
            {"head_size_v", head_size_v},
            {"scale", scale},
            {"left_bound", left_bound},
            {"right_bound", right_bound},
            {"diagonal_alignment", alignment}};
  }
};

struct Unserved {
  const char* role;
  const char* reason;
  const char* feature;
};
/// Tensors that the dialect has and this engine does not take.
constexpr Unserved kUnservedInputs[] = {
    {"page_table_k", "paged-kv", "paged K/V"},
    {"page_table_v", "paged-kv", "paged K/V"},
    {"dropout_mask", "dropout", "dropout"},
    {"dropout_scale", "dropout", "dropout"},
    {"seed", "dropout", "dropout"},
    {"offset", "dropout", "dropout"},
    {"block_mask", "block-mask", "a block mask"},
    {"sink_token", "sink-token", "a sink token"},
    {"descale_q", "fp8-scaling", "fp8 scaling"},
    {"descale_k", "fp8-scaling", "fp8 scaling"},
    {"descale_v", "fp8-scaling", "fp8 scaling"},
    {"descale_s", "fp8-scaling", "fp8 scaling"},
    {"scale_s", "fp8-scaling", "fp8 scaling"},
    {"scale_o", "fp8-scaling", "fp8 scaling"},
};
constexpr Unserved kUnservedOutputs[] = {
    {"max", "extra-output", "the output of row maxima"},
    {"sum_exp", "extra-output", "the output of row sums"},
    {"rng_dump", "extra-output", "the dump of random numbers"},
    {"amax_s", "extra-output", "the output amax_s"},
    {"amax_o", "extra-output", "the output amax_o"},
};

Refusal unserved(const graph::Graph& graph, size_t tensor, const Unserved& entry) {
  return {entry.reason, std::string(entry.feature) + " (" + entry.role + ", " +
                            tensor_text(graph.tensors[tensor]) + ") is not served"};
}

std::string decimal(double value) {
  return cat(value);
}

std::optional<Refusal> refuse_features(const graph::Graph& graph, const graph::Node& node) {
  const double dropout = node.number("dropout_probability").value_or(0);
  if (dropout != 0)
    return Refusal{"dropout", "dropout_probability " + decimal(dropout) + " is not served"};
  for (const Unserved& entry : kUnservedInputs)
    if (const auto at = node.input(entry.role)) return unserved(graph, *at, entry);
  for (const Unserved& entry : kUnservedOutputs)
    if (const auto at = node.output(entry.role)) return unserved(graph, *at, entry);
  if (node.flag("alibi_mask").value_or(false)) return Refusal{"alibi", "alibi_mask is not served"};
  return std::nullopt;
}

std::optional<Refusal> bind_operands(const graph::Graph& graph, const graph::Node& node,
                                     Attention& out) {
  const auto q_at = node.input("q"), k_at = node.input("k"), v_at = node.input("v"),
             o_at = node.output("o");
  if (!q_at || !k_at || !v_at || !o_at)
    return Refusal{"missing-input", node_text(node) + " lacks q, k, v or o"};
  const graph::Tensor &q = graph.tensors[*q_at], &k = graph.tensors[*k_at],
                      &v = graph.tensors[*v_at], &o = graph.tensors[*o_at];
  for (const graph::Tensor* tensor : {&q, &k, &v, &o})
    if (tensor->dims.size() != 4)
      return Refusal{"rank", tensor_text(*tensor) + " has rank " +
                                 std::to_string(tensor->dims.size()) +
                                 "; this engine serves [batch, heads, rows, head size]"};
  if (auto refusal = want_served_type(q)) return refusal;
  for (const graph::Tensor* tensor : {&k, &v, &o})
    if (auto refusal = want_same_type(*tensor, q)) return refusal;
  out.dtype = dtype_of(q);
  out.q = q.uid, out.k = k.uid, out.v = v.uid, out.o = o.uid;
  out.batch = q.dims[0], out.heads_q = q.dims[1], out.seq_q = q.dims[2],
  out.head_size_qk = q.dims[3];
  out.heads_k = k.dims[1], out.seq_kv = k.dims[2];
  out.heads_v = v.dims[1], out.head_size_v = v.dims[3];
  out.q_strides = q.strides, out.k_strides = k.strides, out.v_strides = v.strides,
  out.o_strides = o.strides;
  const bool fits =
      k.dims[0] == out.batch && v.dims[0] == out.batch && k.dims[3] == out.head_size_qk &&
      v.dims[2] == out.seq_kv && out.heads_q % out.heads_k == 0 && out.heads_q % out.heads_v == 0 &&
      o.dims == std::vector<int64_t>{out.batch, out.heads_q, out.seq_q, out.head_size_v};
  if (!fits) return Refusal{"shapes", "the dims of q, k, v and o do not fit together"};
  return std::nullopt;
}

std::optional<Refusal> bind_mask(const graph::Graph& graph, const graph::Node& node,
                                 Attention& out) {
  const auto at = node.input("attn_mask");
  if (!at) return std::nullopt;
  const graph::Tensor& mask = graph.tensors[*at];
  const std::string type = dtype_of(mask);
  if (type != "float" && type != out.dtype)
    return Refusal{"mask-type", tensor_text(mask) + " (attn_mask) is " + type +
                                    "; this engine adds masks of float" +
                                    (out.dtype == "float" ? "" : " or " + out.dtype)};
  const auto strides = strides_over(mask, {out.batch, out.heads_q, out.seq_q, out.seq_kv});
  if (!strides)
    return Refusal{"broadcast",
                   tensor_text(mask) + " (attn_mask) does not broadcast to the scores"};
  out.mask = {mask.uid};
  out.mask_dtype = type;
  out.mask_strides = *strides;
  return std::nullopt;
}

std::optional<Refusal> bind_lengths(const graph::Graph& graph, const graph::Node& node,
                                    const char* role, int64_t batch, std::vector<int64_t>& uid,
                                    int64_t& stride) {
  const auto at = node.input(role);
  if (!at) return std::nullopt;
  const graph::Tensor& lengths = graph.tensors[*at];
  if (lengths.type != graph::DataType::int32)
    return Refusal{"lengths-type", tensor_text(lengths) + " (" + role + ") is " +
                                       dtype_of(lengths) + "; this engine reads lengths of int32"};
  if (lengths.dims.empty() || lengths.dims[0] != batch || lengths.element_count() != batch)
    return Refusal{"shapes",
                   tensor_text(lengths) + " (" + role + ") does not hold one length a batch"};
  uid = {lengths.uid};
  stride = lengths.strides[0];
  return std::nullopt;
}

std::optional<Refusal> bind_stats(const graph::Graph& graph, const graph::Node& node,
                                  Attention& out) {
  const auto at = node.output("stats");
  if (!at) {
    if (node.flag("generate_stats").value_or(false))
      return Refusal{"stats", "generate_stats without an output stats is not served"};
    return std::nullopt;
  }
  const graph::Tensor& stats = graph.tensors[*at];
  if (stats.type != graph::DataType::float32)
    return Refusal{"stats", tensor_text(stats) + " (stats) is " + dtype_of(stats) +
                                "; this engine writes float"};
  if (stats.dims != std::vector<int64_t>{out.batch, out.heads_q, out.seq_q, 1})
    return Refusal{"stats", tensor_text(stats) + " (stats) must be [batch, heads, rows, 1]"};
  out.stats = {stats.uid};
  out.stats_strides = {stats.strides[0], stats.strides[1], stats.strides[2]};
  return std::nullopt;
}

/// A constant tensor's value as double, or nothing.
std::optional<double> constant(const graph::Tensor& tensor) {
  if (!tensor.value) return std::nullopt;
  if (const auto* real = std::get_if<double>(&*tensor.value)) return *real;
  if (const auto* whole = std::get_if<int64_t>(&*tensor.value)) return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<Refusal> bind_scale(const graph::Graph& graph, const graph::Node& node,
                                  Attention& out) {
  double scale = node.number("attn_scale_value")
                     .value_or(1 / std::sqrt(static_cast<double>(out.head_size_qk)));
  if (const auto at = node.input("scale")) {
    const auto value = constant(graph.tensors[*at]);
    if (!value)
      return Refusal{"scale-tensor",
                     tensor_text(graph.tensors[*at]) +
                         " (scale) is in memory; this engine takes the scale as a constant"};
    scale = *value;
  }
  out.scale = as_float32(scale);
  if (out.scale >= 0x1p-64 && out.scale <= 0x1p4) return std::nullopt;
  return Refusal{"scale-range", "attention scale " + decimal(scale) + " is outside 2^-64..2^4"};
}

/// Bounds below zero do not limit. The causal flags stand for a right bound of 0.
void bind_diagonal(const graph::Node& node, Attention& out) {
  const auto bound = [&](const char* key) -> std::vector<int64_t> {
    const auto value = node.integer(key);
    if (!value || *value < 0) return {};
    return {std::min<int64_t>(*value, std::numeric_limits<int32_t>::max())};
  };
  out.left_bound = bound("left_bound");
  out.right_bound = bound("right_bound");
  const bool top = node.flag("causal_mask").value_or(false);
  const bool bottom = node.flag("causal_mask_bottom_right").value_or(false);
  if (top || bottom) out.right_bound = {0};
  out.alignment = bottom ? "BOTTOM_RIGHT" : node.text("diagonal_alignment").value_or("TOP_LEFT");
}

GraphMatch graph_match(const graph::Graph& graph) {
  if (auto refusal = want_nodes(graph, {graph::NodeType::sdpa})) return *refusal;
  const graph::Node& node = graph.nodes[0];
  if (auto refusal = refuse_features(graph, node)) return *refusal;
  const auto scale_at = node.input("scale");
  if (auto refusal = want_memory(graph, node, {scale_at.value_or(SIZE_MAX)})) return *refusal;
  if (auto refusal = want_float_arithmetic(graph, node)) return *refusal;
  auto out = std::make_shared<Attention>();
  if (auto refusal = bind_operands(graph, node, *out)) return *refusal;
  if (auto refusal = bind_mask(graph, node, *out)) return *refusal;
  if (auto refusal =
          bind_lengths(graph, node, "seq_len_q", out->batch, out->seq_len_q, out->seq_len_q_stride))
    return *refusal;
  if (auto refusal = bind_lengths(graph, node, "seq_len_kv", out->batch, out->seq_len_kv,
                                  out->seq_len_kv_stride))
    return *refusal;
  if (auto refusal = bind_stats(graph, node, *out)) return *refusal;
  if (auto refusal = bind_scale(graph, node, *out)) return *refusal;
  bind_diagonal(node, *out);
  return out;
}

std::optional<Refusal> kernel_matches(const Problem& problem, const Metadata& kernel,
                                      const target::Description& target) {
  const auto* bound = dynamic_cast<const Attention*>(&problem);
  if (bound == nullptr) return other_family();
  if (auto refusal = want_text(kernel, "dtype", bound->dtype)) return refusal;
  for (const char* field : {"tile_q", "tile_kv", "max_head_size"})
    if (!kernel.integer(field)) return missing_field(field);
  const int64_t largest = checked_integer(kernel, "max_head_size");
  const int64_t wanted = std::max(bound->head_size_qk, bound->head_size_v);
  if (wanted > largest)
    return Refusal{"head-size", "head size " + std::to_string(wanted) + " is above the kernel's " +
                                    std::to_string(largest)};
  return want_block_size(kernel, target);
}

/// Share of the score matrix that the bounds leave.
double visible_share(const Attention& bound) {
  const auto rows = static_cast<double>(bound.seq_q), keys = static_cast<double>(bound.seq_kv);
  double out = 1;
  if (!bound.right_bound.empty())
    out = std::min(1.0, 0.5 + static_cast<double>(bound.right_bound[0]) / keys);
  if (!bound.left_bound.empty())
    out = std::min(out, std::max(1 / rows, static_cast<double>(bound.left_bound[0]) / keys));
  return out;
}

std::optional<double> rank(const Problem& problem, const Metadata& kernel,
                           const target::Description& target) {
  const auto* bound = dynamic_cast<const Attention*>(&problem);
  if (bound == nullptr) return std::nullopt;
  const int64_t tile_q = std::max<int64_t>(1, checked_integer(kernel, "tile_q"));
  const int64_t tile_kv = std::max<int64_t>(1, checked_integer(kernel, "tile_kv"));
  const auto padded = static_cast<double>(checked_integer(kernel, "max_head_size"));
  const double pairs = static_cast<double>(bound->batch * bound->heads_q);
  const double rows = ceil_div(bound->seq_q, tile_q) * static_cast<double>(tile_q);
  const double keys = ceil_div(bound->seq_kv, tile_kv) * static_cast<double>(tile_kv);
  const double element = bound->dtype == "float" ? 4 : 2;
  const double share = visible_share(*bound);
  LaunchWork work;
  work.workgroups = pairs * ceil_div(bound->seq_q, tile_q);
  work.block_size = static_cast<double>(checked_integer(kernel, "block_size"));
  work.flops = 4 * pairs * rows * keys * padded * share;
  // Keys and values are read again by each tile of queries; caches keep half of that from memory.
  const double tiles = ceil_div(bound->seq_q, tile_q);
  work.bytes =
      element * pairs *
      (2 * static_cast<double>(bound->seq_q) * padded + (1 + tiles) * keys * padded * share);
  work.peak_tflops = peak_tflops(target, "float", false);
  work.arithmetic_share = 0.3 * std::min(1.0, static_cast<double>(tile_q) / 32);
  work.groups_per_compute_unit = 512 / std::max(1.0, work.block_size);
  return estimate_microseconds(work, target);
}

LaunchValues shape_values(const Attention& bound) {
  return {{"dtype", bound.dtype},
          {"q.uid", bound.q},
          {"k.uid", bound.k},
          {"v.uid", bound.v},
          {"o.uid", bound.o},
          {"batch", bound.batch},
          {"heads_q", bound.heads_q},
          {"heads_k", bound.heads_k},
          {"heads_v", bound.heads_v},
          {"seq_q", bound.seq_q},
          {"seq_kv", bound.seq_kv},
          {"head_size_qk", bound.head_size_qk},
          {"head_size_v", bound.head_size_v},
          {"q_strides", bound.q_strides},
          {"k_strides", bound.k_strides},
          {"v_strides", bound.v_strides},
          {"o_strides", bound.o_strides}};
}

Result<LaunchValues> make_launch(const Problem& problem, const Metadata& kernel,
                                 const target::Description&) {
  const auto* bound = dynamic_cast<const Attention*>(&problem);
  if (bound == nullptr) return other_family_error();
  LaunchValues out = shape_values(*bound);
  const LaunchValues rest = {{"mask", bound->mask},
                             {"mask_dtype", bound->mask_dtype},
                             {"mask_strides", bound->mask_strides},
                             {"seq_len_q", bound->seq_len_q},
                             {"seq_len_kv", bound->seq_len_kv},
                             {"seq_len_q_stride", bound->seq_len_q_stride},
                             {"seq_len_kv_stride", bound->seq_len_kv_stride},
                             {"stats", bound->stats},
                             {"stats_strides", bound->stats_strides},
                             {"scale", bound->scale},
                             {"left_bound", bound->left_bound},
                             {"right_bound", bound->right_bound},
                             {"diagonal_alignment", bound->alignment},
                             {"block_size", checked_integer(kernel, "block_size")},
                             {"tile_q", checked_integer(kernel, "tile_q")},
                             {"tile_kv", checked_integer(kernel, "tile_kv")},
                             {"max_head_size", checked_integer(kernel, "max_head_size")}};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

const Natives& natives() {
  static const Natives all = {
      .graph_matchers = {{"hipplan.sdpa_fwd.graph_match", graph_match}},
      .kernel_matchers = {{"hipplan.sdpa_fwd.kernel_matches_graph", kernel_matches}},
      .scorers = {{"hipplan.sdpa_fwd.rank", {rank, false, "microseconds"}}},
      .launch_makers = {{"hipplan.sdpa_fwd.dispatch", make_launch}},
  };
  return all;
}

}  // namespace hipplan::engine::sdpa_fwd
