#include "engine/match_support.h"

#include <algorithm>
#include <cmath>

#include "base/result.h"

namespace hipplan::engine {

std::string tensor_text(const graph::Tensor& tensor) {
  std::string out = "tensor " + std::to_string(tensor.uid);
  if (!tensor.name.empty()) out.append(" '").append(tensor.name).append("'");
  return out;
}

std::string node_text(const graph::Node& node) {
  std::string out = "node ";
  if (!node.name.empty()) out.append("'").append(node.name).append("' ");
  return out.append("(").append(graph::node_type_name(node.type)).append(")");
}

std::optional<Refusal> want_nodes(const graph::Graph& graph,
                                  std::initializer_list<graph::NodeType> types) {
  const bool same =
      std::equal(graph.nodes.begin(), graph.nodes.end(), types.begin(), types.end(),
                 [](const graph::Node& node, auto type) { return node.type == type; });
  if (!same) {
    std::string found, served;
    for (const graph::Node& node : graph.nodes)
      found.append(found.empty() ? "" : ", ").append(graph::node_type_name(node.type));
    for (const auto type : types)
      served.append(served.empty() ? "" : ", then ").append(graph::node_type_name(type));
    return Refusal{"nodes", "the graph is " + found + "; this engine serves " + served};
  }
  if (graph.override_shape_enabled)
    return Refusal{"override-shape",
                   "is_override_shape_enabled is not served: kernels are chosen for fixed shapes"};
  return std::nullopt;
}

namespace {

std::optional<Refusal> want_memory(const graph::Graph& graph, size_t position,
                                   std::string_view role) {
  const graph::Tensor& tensor = graph.tensors[position];
  const auto refuse = [&](const char* reason, const char* text) {
    return Refusal{reason, tensor_text(tensor) + " (" + std::string(role) + ") " + text};
  };
  if (tensor.value)
    return refuse("constant-tensor", "is a constant; this engine reads it from memory");
  if (tensor.runtime_pass_by_value)
    return refuse("pass-by-value", "is passed by value at run time, which is not served");
  if (tensor.ragged_offset_uid) return refuse("ragged", "has ragged offsets, which are not served");
  if (tensor.is_virtual)
    return refuse("virtual-tensor", "is virtual; this engine reads and writes memory");
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> want_memory(const graph::Graph& graph, const graph::Node& node,
                                   std::initializer_list<size_t> except) {
  for (const auto* references : {&node.inputs, &node.outputs})
    for (const graph::Reference& reference : *references) {
      if (std::find(except.begin(), except.end(), reference.tensor) != except.end()) continue;
      if (auto refusal = want_memory(graph, reference.tensor, reference.role)) return refusal;
    }
  return std::nullopt;
}

std::optional<Refusal> want_float_arithmetic(const graph::Graph& graph, const graph::Node& node) {
  using graph::DataType;
  const DataType type =
      node.compute_type == DataType::unset ? graph.compute_type : node.compute_type;
  switch (type) {
    case DataType::unset:
    case DataType::float32:
    case DataType::half:
    case DataType::bfloat16:
      return std::nullopt;
    default:
      return Refusal{"compute-type", node_text(node) + " computes in " +
                                         graph::data_type_name(type) +
                                         "; this engine computes in float"};
  }
}

std::optional<Refusal> want_served_type(const graph::Tensor& tensor) {
  using graph::DataType;
  if (tensor.type == DataType::float32 || tensor.type == DataType::half ||
      tensor.type == DataType::bfloat16)
    return std::nullopt;
  return Refusal{"data-type", tensor_text(tensor) + " is " + graph::data_type_name(tensor.type) +
                                  "; this engine serves float, half, bfloat16"};
}

std::optional<Refusal> want_same_type(const graph::Tensor& tensor, const graph::Tensor& like) {
  if (tensor.type == like.type) return std::nullopt;
  return Refusal{"mixed-types", tensor_text(tensor) + " is " + graph::data_type_name(tensor.type) +
                                    " and " + tensor_text(like) + " is " +
                                    graph::data_type_name(like.type) +
                                    "; this engine serves one type for both"};
}

std::optional<std::vector<int64_t>> strides_over(const graph::Tensor& tensor,
                                                 const std::vector<int64_t>& dims) {
  const size_t rank = tensor.dims.size();
  if (rank > dims.size()) return std::nullopt;
  std::vector<int64_t> out(dims.size(), 0);
  for (size_t i = 0; i < rank; ++i) {
    const size_t at = dims.size() - rank + i;
    if (tensor.dims[i] == 1) continue;
    if (tensor.dims[i] != dims[at]) return std::nullopt;
    out[at] = tensor.strides[i];
  }
  return out;
}

Refusal other_family() {
  return {"other-family", "the graph was bound by another engine's matcher"};
}

Error other_family_error() {
  return {Code::unusable, "other-family", "pack", other_family().text, {}, {}, {}};
}

Refusal missing_field(std::string_view field) {
  return {"metadata-field",
          "the kernel's metadata has no '" + std::string(field) + "' of the right type"};
}

std::optional<Refusal> want_text(const Metadata& kernel, std::string_view field,
                                 std::string_view wanted) {
  const std::string* found = kernel.text(field);
  if (found == nullptr) return missing_field(field);
  if (*found == wanted) return std::nullopt;
  std::string text(field);
  return Refusal{"kernel-" + text,
                 text + " is " + *found + ", the graph needs " + std::string(wanted)};
}

std::optional<Refusal> want_block_size(const Metadata& kernel, const target::Description& target) {
  const auto block = kernel.integer("block_size");
  if (!block) return missing_field("block_size");
  if (*block >= 1 && *block <= static_cast<int64_t>(target.max_workgroup_size)) return std::nullopt;
  return Refusal{"workgroup-size", "block_size " + std::to_string(*block) + " is outside 1.." +
                                       std::to_string(target.max_workgroup_size) +
                                       " of the target"};
}

int64_t checked_integer(const Metadata& kernel, std::string_view field) {
  return kernel.integer(field).value_or(0);
}

std::string checked_text(const Metadata& kernel, std::string_view field) {
  const std::string* found = kernel.text(field);
  return found == nullptr ? std::string() : *found;
}

double peak_tflops(const target::Description& target, std::string_view dtype, bool matrix) {
  const auto peak = [&](const std::string& name) {
    const auto at = target.peak_tflops.find(name);
    return at == target.peak_tflops.end() ? 0.0 : at->second;
  };
  const double plain = std::max(peak("float"), 0.1);
  if (!matrix) return plain;
  const double found = peak(std::string(dtype) + "_matrix");
  if (found > 0) return found;
  return dtype == "float" ? plain : 2 * plain;
}

double estimate_microseconds(const LaunchWork& work, const target::Description& target) {
  const double units = std::max(1u, target.compute_units);
  const double lanes_per_unit = std::max(1u, target.simds_per_compute_unit) *
                                static_cast<double>(std::max(1u, target.wavefront_size));
  // Whole rounds of workgroups over the device: the last one may be nearly empty.
  const double slots = units * std::max(1.0, work.groups_per_compute_unit);
  const double rounds = std::ceil(work.workgroups / slots);
  const double round_fill = work.workgroups / (rounds * slots);
  const double units_busy = std::min(1.0, work.workgroups / units);
  const double lanes = work.block_size * std::min(work.workgroups, slots) / units;
  const double lane_fill = std::min(1.0, lanes / lanes_per_unit);
  const double arithmetic = std::max(1e-3, std::max(round_fill, 0.5 * units_busy) * lane_fill);
  // Memory needs about four wavefronts a SIMD in flight to hide its latency.
  const double in_flight = std::min(1.0, lanes / (4 * lanes_per_unit));
  const double memory = std::max(1e-3, in_flight);
  const double compute_us =
      work.flops / (work.peak_tflops * 1e6 * work.arithmetic_share * arithmetic);
  const double memory_us = work.bytes / (std::max(1.0, target.memory_bandwidth_gb_per_s) * 1e3 *
                                         work.bandwidth_share * memory);
  constexpr double kLaunchUs = 2;
  // Starting workgroups overlaps with the work, but not wholly: about one a clock for each of four
  // dispatchers, a tenth of it seen.
  const double start_us = 0.1 * work.workgroups / (4e3 * std::max(0.1, target.clock_ghz));
  // Whole nanoseconds: what is closer is a tie, on every machine.
  return std::round((kLaunchUs + start_us + std::max(compute_us, memory_us)) * 1e3) / 1e3;
}

}  // namespace hipplan::engine
