#include "reference/pointwise_modes.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace hipplan::reference {
namespace {

using S = PointwiseSettings;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
double gauss_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}
double gauss_density(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
constexpr double kCubic = 0.044715;
const double kGeluScale = std::sqrt(2 / std::numbers::pi);
double gelu_inner(double x) {
  return kGeluScale * (x + kCubic * x * x * x);
}

double relu(double x, const S& s) {
  if (x <= s.lower_clip) return s.lower_clip + s.lower_slope * (x - s.lower_clip);
  return x >= s.upper_clip ? s.upper_clip : x;
}
double relu_magnitude(double x, const S& s) {
  if (s.lower_slope == 0 || x > s.lower_clip) return 0;
  return std::fabs(s.lower_clip) +
         std::fabs(s.lower_slope) * (std::fabs(x) + std::fabs(s.lower_clip));
}
double relu_gradient(double x, const S& s) {
  if (x <= s.lower_clip) return s.lower_slope;
  return x >= s.upper_clip ? 0 : 1;
}
/// x * gate with the limit 0 where the gate closes: at minus infinity, too.
double gated(double x, double gate) {
  return gate == 0 && !std::isnan(x) ? 0 : x * gate;
}
double gelu_tanh_gradient(double x) {
  const double inner = 2 * gelu_inner(x), bend = sigmoid(inner) * sigmoid(-inner);
  return sigmoid(inner) + gated(2 * kGeluScale * x * (1 + 3 * kCubic * x * x), bend);
}
double swish_gradient(double x, double beta) {
  const double t = beta * x;
  return sigmoid(t) + gated(t, sigmoid(t) * sigmoid(-t));
}
/// log(1 + exp(beta x)) / beta without overflow.
double softplus(double x, double beta) {
  const double t = beta * x;
  return (t > 0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t))) / beta;
}
double truth(bool condition) {
  return condition ? 1 : 0;
}

// Short forms for the table below: F(expression in a, b, c and s).
#define F(expression)                                      \
  [](double a, double b, double c, const S& s) -> double { \
    (void)a, (void)b, (void)c, (void)s;                    \
    return (expression);                                   \
  }

// clang-format off
const std::vector<PointwiseMode> kModes = {
    // name, operands, input error, output error, formula, magnitude
    {"identity",    1, 0, 0, F(a)},
    {"abs",         1, 0, 0, F(std::fabs(a))},
    {"neg",         1, 0, 0, F(-a)},
    {"ceil",        1, 0, 0, F(std::ceil(a))},
    {"floor",       1, 0, 0, F(std::floor(a))},
    {"max_op",      2, 0, 0, F(std::fmax(a, b))},
    {"min_op",      2, 0, 0, F(std::fmin(a, b))},
    {"cmp_eq",      2, 0, 0, F(truth(a == b))},
    {"cmp_neq",     2, 0, 0, F(truth(a != b))},
    {"cmp_gt",      2, 0, 0, F(truth(a > b))},
    {"cmp_ge",      2, 0, 0, F(truth(a >= b))},
    {"cmp_lt",      2, 0, 0, F(truth(a < b))},
    {"cmp_le",      2, 0, 0, F(truth(a <= b))},
    {"logical_and", 2, 0, 0, F(truth(a != 0 && b != 0))},
    {"logical_or",  2, 0, 0, F(truth(a != 0 || b != 0))},
    {"logical_not", 1, 0, 0, F(truth(a == 0))},
    {"binary_select", 3, 0, 0, F(c != 0 ? a : b)},
    {"gen_index",   0, 0, 0, nullptr},
    {"add",         2, 0, 1, F(a + b)},
    {"sub",         2, 0, 1, F(a - b)},
    {"mul",         2, 0, 1, F(a * b)},
    {"add_square",  2, 0, 1, F(a + b * b), F(std::fabs(a + b * b) + b * b)},
    {"div",         2, 0, 5, F(a / b), nullptr, true},
    {"reciprocal",  1, 0, 5, F(1 / a), nullptr, true},
    {"sqrt",        1, 0, 6, F(std::sqrt(a))},
    {"rsqrt",       1, 0, 4, F(1 / std::sqrt(a)), nullptr, true},
    {"exp",         1, 2, 6, F(std::exp(a))},
    {"log",         1, 4, 6, F(std::log(a)), nullptr, true},
    {"sin",         1, 4, 16, F(std::sin(a)), F(1)},
    {"tan",         1, 4, 40, F(std::tan(a)), F(1 + std::tan(a) * std::tan(a))},
    {"erf",         1, 2, 16, F(std::erf(a)), F(1)},
    {"relu_fwd",    1, 0, 2, F(relu(a, s)), F(relu_magnitude(a, s))},
    {"relu_bwd",    2, 0, 1, F(a * relu_gradient(b, s)), F(s.lower_slope == 0 ? 0 : std::fabs(a * s.lower_slope))},
    {"tanh_fwd",    1, 4, 8, F(std::tanh(a)), F(1)},
    {"tanh_bwd",    2, 4, 16, F(a * (1 - std::tanh(b) * std::tanh(b))), F(std::fabs(a))},
    {"sigmoid_fwd", 1, 4, 16, F(sigmoid(a))},
    {"sigmoid_bwd", 2, 4, 16, F(a * sigmoid(b) * sigmoid(-b)), F(std::fabs(a) * sigmoid(b))},
    {"elu_fwd",     1, 2, 8, F(a > 0 ? a : s.elu_alpha * std::expm1(a)), F(a > 0 ? 0 : std::fabs(s.elu_alpha))},
    {"elu_bwd",     2, 2, 8, F(b > 0 ? a : a * s.elu_alpha * std::exp(b)), F(b > 0 ? 0 : std::fabs(a * s.elu_alpha) * std::exp(b))},
    {"gelu_fwd",    1, 2, 16, F(gated(a, gauss_cdf(a))), F(std::fabs(a))},
    {"gelu_bwd",    2, 4, 16, F(a * (gauss_cdf(b) + gated(b, gauss_density(b)))), F(std::fabs(a) * (1 + std::fabs(b)))},
    {"gelu_approx_tanh_fwd", 1, 8, 16, F(gated(a, sigmoid(2 * gelu_inner(a)))), F(std::fabs(a))},
    {"gelu_approx_tanh_bwd", 2, 8, 16, F(a * gelu_tanh_gradient(b)), F(std::fabs(a) * (1 + std::fabs(b) * (1 + 3 * kCubic * b * b)))},
    {"softplus_fwd", 1, 4, 8, F(softplus(a, s.softplus_beta)), F(std::fabs(softplus(a, s.softplus_beta)) + 1 / std::fabs(s.softplus_beta))},
    {"softplus_bwd", 2, 4, 16, F(a * sigmoid(s.softplus_beta * b))},
    {"swish_fwd",   1, 4, 16, F(gated(a, sigmoid(s.swish_beta * a)))},
    {"swish_bwd",   2, 4, 16, F(a * swish_gradient(b, s.swish_beta)), F(std::fabs(a) * (1 + std::fabs(s.swish_beta * b)) * sigmoid(s.swish_beta * b))},
};
// clang-format on
#undef F

}  // namespace

PointwiseSettings pointwise_settings(const graph::Node& node) {
  return {.lower_clip = node.number("relu_lower_clip").value_or(0),
          .upper_clip =
              node.number("relu_upper_clip").value_or(std::numeric_limits<double>::infinity()),
          .lower_slope = node.number("relu_lower_clip_slope").value_or(0),
          .swish_beta = node.number("swish_beta").value_or(1),
          .elu_alpha = node.number("elu_alpha").value_or(1),
          .softplus_beta = node.number("softplus_beta").value_or(1)};
}

const std::vector<PointwiseMode>& pointwise_modes() {
  return kModes;
}

const PointwiseMode* pointwise_mode(std::string_view name) {
  for (const auto& mode : kModes)
    if (mode.name == name) return &mode;
  return nullptr;
}

}  // namespace hipplan::reference
