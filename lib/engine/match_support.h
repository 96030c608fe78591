// Pieces that the graph halves of the engines share: which tensors are plain memory, which types
// are served, strides over broadcast dims, and a rough model of how long a launch takes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/registry.h"

namespace hipplan::engine {

/// "tensor 7 'bias'" or "tensor 7".
[[nodiscard]] std::string tensor_text(const graph::Tensor& tensor);
/// "node 'conv' (ConvolutionFwdAttributes)".
[[nodiscard]] std::string node_text(const graph::Node& node);

/// Refuses a graph that is not a chain of exactly these node types, and one whose shapes may change
/// at run time.
[[nodiscard]] std::optional<Refusal> want_nodes(const graph::Graph& graph,
                                                std::initializer_list<graph::NodeType> types);
/// Refuses every tensor of the node that is not plain memory of the caller: constants, values
/// passed at run time, ragged and virtual tensors. Tensors at the positions in `except` are not
/// looked at.
[[nodiscard]] std::optional<Refusal> want_memory(const graph::Graph& graph, const graph::Node& node,
                                                 std::initializer_list<size_t> except = {});
/// Refuses arithmetic types that float does not stand for.
[[nodiscard]] std::optional<Refusal> want_float_arithmetic(const graph::Graph& graph,
                                                           const graph::Node& node);
/// Refuses types other than float, half, bfloat16.
[[nodiscard]] std::optional<Refusal> want_served_type(const graph::Tensor& tensor);
/// Refuses `tensor` when its type is not that of `like`.
[[nodiscard]] std::optional<Refusal> want_same_type(const graph::Tensor& tensor,
                                                    const graph::Tensor& like);
/// "float", "half", "bfloat16".
[[nodiscard]] inline std::string dtype_of(const graph::Tensor& tensor) {
  return graph::data_type_name(tensor.type);
}

/// Strides of `tensor` over `dims`, aligned at the last dim, 0 where it is broadcast; nothing when
/// it does not broadcast to them. A tensor of higher rank than `dims` does not.
[[nodiscard]] std::optional<std::vector<int64_t>> strides_over(const graph::Tensor& tensor,
                                                               const std::vector<int64_t>& dims);

/// The value as a float32 holds it.
[[nodiscard]] inline double as_float32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

/// Refusal and Error for a problem that another family's matcher bound.
[[nodiscard]] Refusal other_family();
[[nodiscard]] Error other_family_error();

// Checks of kernel metadata ----------------------------------------------------------------------

/// Refuses a kernel whose text field differs from what the graph needs.
[[nodiscard]] std::optional<Refusal> want_text(const Metadata& kernel, std::string_view field,
                                               std::string_view wanted);
/// Refuses a missing block_size and one that the target's workgroups cannot hold.
[[nodiscard]] std::optional<Refusal> want_block_size(const Metadata& kernel,
                                                     const target::Description& target);
[[nodiscard]] Refusal missing_field(std::string_view field);
/// A field that matchers have checked already.
[[nodiscard]] int64_t checked_integer(const Metadata& kernel, std::string_view field);
[[nodiscard]] std::string checked_text(const Metadata& kernel, std::string_view field);

// Time model -------------------------------------------------------------------------------------

/// One launch as the model sees it. Padding of tiles counts as work.
struct LaunchWork {
  double flops = 0;
  double bytes = 0;  ///< that reach memory at least once
  double workgroups = 1;
  double block_size = 64;              ///< work-items of a workgroup
  double peak_tflops = 1;              ///< of the arithmetic that the kernel uses
  double arithmetic_share = 0.5;       ///< of the peak that a full device reaches
  double bandwidth_share = 0.8;        ///< of the memory bandwidth that a full device reaches
  double groups_per_compute_unit = 2;  ///< workgroups that run on a compute unit at a time
};
/// Microseconds: the slower of arithmetic and memory, both scaled by how full the device is, plus a
/// launch. Comparable between kernels of one graph, not a promise.
[[nodiscard]] double estimate_microseconds(const LaunchWork& work,
                                           const target::Description& target);
/// Peak of a kind of arithmetic: "half_matrix" falls back to twice, "float_matrix" to once "float".
[[nodiscard]] double peak_tflops(const target::Description& target, std::string_view dtype,
                                 bool matrix);

/// Bytes of the elements of a tensor, without the gaps between them.
[[nodiscard]] inline double bytes_of(const graph::Tensor& tensor) {
  const int64_t element_bytes = graph::bits_of(tensor.type) / 8;
  return static_cast<double>(tensor.element_count()) * static_cast<double>(element_bytes);
}

[[nodiscard]] inline double ceil_div(int64_t value, int64_t by) {
  const int64_t whole = (value + by - 1) / by;
  return static_cast<double>(whole);
}

}  // namespace hipplan::engine
