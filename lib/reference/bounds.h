// Building blocks of the error bounds; derivations in docs/numerics.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/graph.h"
#include "reference/element.h"

namespace hipplan::reference {

/// Unit roundoff of a node's arithmetic: its compute type, else the graph's, else float. Integer
/// compute types are exact (0).
[[nodiscard]] inline double compute_roundoff(const graph::Graph& graph, const graph::Node& node) {
  using graph::DataType;
  DataType type = node.compute_type != DataType::unset ? node.compute_type : graph.compute_type;
  if (type == DataType::unset) type = DataType::float32;
  const TypeFacts& f = facts(type);
  // The reference itself rounds to double a few times.
  return f.integer ? 0x1p-52 : std::max(f.unit_roundoff, 0x1p-52);
}

/// Relative error of a sum of n rounded terms over the sum of their magnitudes: in any order n*u
/// always, and 10*sqrt(n)*u except with a chance below 1e-20 (rounding errors of mean zero).
[[nodiscard]] inline double accumulation_error(double n, double u) {
  const double steps = std::min(n, 10 * std::sqrt(n));
  return steps * u < 0.5 ? steps * u / (1 - steps * u) : std::numeric_limits<double>::infinity();
}

/// What a float that the caller must not exceed is stored as: rounded up.
[[nodiscard]] inline float upward(double bound) {
  const auto out = static_cast<float>(bound);
  return static_cast<double>(out) >= bound
             ? out
             : std::nextafter(out, std::numeric_limits<float>::infinity());
}

}  // namespace hipplan::reference
