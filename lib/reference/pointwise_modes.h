// The pointwise modes: formula, number of operands, and how exactly a kernel must compute them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace hipplan::reference {

/// Settings of a pointwise node, defaults filled in (docs/numerics.md, "Pointwise").
struct PointwiseSettings {
  double lower_clip = 0, upper_clip = 0, lower_slope = 0;
  double swish_beta = 1, elu_alpha = 1, softplus_beta = 1;
};
[[nodiscard]] PointwiseSettings pointwise_settings(const graph::Node& node);

/// A mode's operands are a = in_0, b = in_1, c = in_2. For the gradient modes a is dy and b is x.
using PointwiseFormula = double (*)(double a, double b, double c, const PointwiseSettings& s);

/// One row of the table. With u the unit roundoff of the compute type, a sound kernel gives
/// f(operands within input_error*u of theirs, relative) + an error of at most
/// output_error * u * magnitude, where magnitude is |f| when null. Both 0: the mode is exact.
struct PointwiseMode {
  std::string_view name;
  int operands = 1;
  double input_error = 0;
  double output_error = 0;
  PointwiseFormula formula = nullptr;    ///< null for gen_index
  PointwiseFormula magnitude = nullptr;  ///< null: |f|
  bool pole_at_zero = false;             ///< the last operand must not be able to change sign
};
/// The row of a mode in the dialect's spelling, or null for "unset" and unknown names.
[[nodiscard]] const PointwiseMode* pointwise_mode(std::string_view name);
[[nodiscard]] const std::vector<PointwiseMode>& pointwise_modes();

}  // namespace hipplan::reference
