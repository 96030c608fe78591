// How much a graph computes, for rates: arithmetic that every way of computing it has to do.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace hipplan::run {

/// Floating-point operations of the convolutions, matrix products and attentions of a checked
/// graph, a multiplication and an addition each counting one. Causal attention counts the pairs
/// that its mask leaves. 0 where there are none.
///   matmul of 64x32 by 32x16:                           2 * 64 * 16 * 32
///   convolution to 1x8x4x4 with 8 filters of 3x3x3:     2 * (8 * 4 * 4) * (3 * 3 * 3)
///   attention, 2 heads, 8 queries, 16 keys, 64 deep:    4 * 2 * 8 * 16 * 64
[[nodiscard]] uint64_t flops_of(const graph::Graph& graph);

/// Type of the operands of the first of them; unset where there are none.
[[nodiscard]] graph::DataType product_type(const graph::Graph& graph);

}  // namespace hipplan::run
