#include <cmath>

#include "cases.h"
#include "engine/pointwise/dispatch.h"

namespace hipplan::test {

namespace {

struct Settings {
  double lower = 0.25, upper = 1.5, slope = 0.125, alpha = 0.75, swish = 1.25, softplus = 2.0;
};
constexpr Settings kSettings;

double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}
double normal(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}
double gelu_tanh_argument(double x) {
  return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}

using Function = double (*)(double, double, double);
struct Formula {
  const char* name;
  Function f;
  double low = -4, high = 4;  ///< range of the operands
};

const Formula kFormulas[] = {
    {"abs", [](double a, double, double) { return std::fabs(a); }},
    {"add", [](double a, double b, double) { return a + b; }},
    {"add_square", [](double a, double b, double) { return a + b * b; }},
    {"binary_select", [](double a, double b, double c) { return c != 0 ? a : b; }},
    {"ceil", [](double a, double, double) { return std::ceil(a); }},
    {"cmp_eq", [](double a, double b, double) { return a == b ? 1.0 : 0.0; }},
    {"cmp_ge", [](double a, double b, double) { return a >= b ? 1.0 : 0.0; }},
    {"cmp_gt", [](double a, double b, double) { return a > b ? 1.0 : 0.0; }},
    {"cmp_le", [](double a, double b, double) { return a <= b ? 1.0 : 0.0; }},
    {"cmp_lt", [](double a, double b, double) { return a < b ? 1.0 : 0.0; }},
    {"cmp_neq", [](double a, double b, double) { return a != b ? 1.0 : 0.0; }},
    {"div", [](double a, double b, double) { return a / b; }},
    {"elu_bwd",
     [](double a, double b, double) { return b > 0 ? a : a * kSettings.alpha * std::exp(b); }},
    {"elu_fwd",
     [](double a, double, double) { return a > 0 ? a : kSettings.alpha * std::expm1(a); }},
    {"erf", [](double a, double, double) { return std::erf(a); }},
    {"exp", [](double a, double, double) { return std::exp(a); }},
    {"floor", [](double a, double, double) { return std::floor(a); }},
    {"gelu_approx_tanh_bwd",
     [](double a, double b, double) {
       const double t = std::tanh(gelu_tanh_argument(b));
       const double slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * b * b);
       return a * (0.5 * (1 + t) + 0.5 * b * (1 - t * t) * slope);
     }},
    {"gelu_approx_tanh_fwd",
     [](double a, double, double) { return 0.5 * a * (1 + std::tanh(gelu_tanh_argument(a))); }},
    {"gelu_bwd",
     [](double a, double b, double) {
       return a * (normal(b) + b * std::exp(-b * b / 2) / std::sqrt(2 * M_PI));
     }},
    {"gelu_fwd", [](double a, double, double) { return a * normal(a); }},
    {"identity", [](double a, double, double) { return a; }},
    {"log", [](double a, double, double) { return std::log(a); }, 0.01, 100},
    {"logical_and", [](double a, double b, double) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
    {"logical_not", [](double a, double, double) { return a == 0 ? 1.0 : 0.0; }},
    {"logical_or", [](double a, double b, double) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
    {"max_op", [](double a, double b, double) { return std::fmax(a, b); }},
    {"min_op", [](double a, double b, double) { return std::fmin(a, b); }},
    {"mul", [](double a, double b, double) { return a * b; }},
    {"neg", [](double a, double, double) { return -a; }},
    {"reciprocal", [](double a, double, double) { return 1 / a; }, 0.1, 10},
    {"relu_bwd",
     [](double a, double b, double) {
       return a * (b <= kSettings.lower ? kSettings.slope : b >= kSettings.upper ? 0 : 1);
     }},
    {"relu_fwd",
     [](double a, double, double) {
       if (a <= kSettings.lower) return kSettings.lower + kSettings.slope * (a - kSettings.lower);
       return a >= kSettings.upper ? kSettings.upper : a;
     }},
    {"rsqrt", [](double a, double, double) { return 1 / std::sqrt(a); }, 0.1, 100},
    {"sigmoid_bwd", [](double a, double b, double) { return a * logistic(b) * (1 - logistic(b)); }},
    {"sigmoid_fwd", [](double a, double, double) { return logistic(a); }},
    {"sin", [](double a, double, double) { return std::sin(a); }, -100, 100},
    {"softplus_bwd",
     [](double a, double b, double) { return a * logistic(kSettings.softplus * b); }},
    {"softplus_fwd",
     [](double a, double, double) {
       return std::log1p(std::exp(kSettings.softplus * a)) / kSettings.softplus;
     }},
    {"sqrt", [](double a, double, double) { return std::sqrt(a); }, 0, 100},
    {"sub", [](double a, double b, double) { return a - b; }},
    {"swish_bwd",
     [](double a, double b, double) {
       const double s = logistic(kSettings.swish * b);
       return a * (s + kSettings.swish * b * s * (1 - s));
     }},
    {"swish_fwd", [](double a, double, double) { return a * logistic(kSettings.swish * a); }},
    {"tan", [](double a, double, double) { return std::tan(a); }, -1.5, 1.5},
    {"tanh_bwd",
     [](double a, double b, double) {
       const double c = std::cosh(b);
       return a / (c * c);
     }},
    {"tanh_fwd", [](double a, double, double) { return std::tanh(a); }},
};

LaunchValues values_of(const std::string& operation, const std::string& dtype,
                       const std::string& layout, const Tensor& out,
                       const std::vector<Tensor>& inputs, int64_t axis, int64_t block) {
  List uids, strides;
  for (const auto& input : inputs) {
    uids.push_back(input.uid);
    for (size_t d = 0; d < out.dims.size(); ++d)
      strides.push_back(input.dims[d] == 1 ? 0 : input.strides[d]);
  }
  return {{"operation", operation},
          {"dtype", dtype},
          {"layout", layout},
          {"output.uid", out.uid},
          {"inputs", uids},
          {"dims", out.dims},
          {"out_strides", out.strides},
          {"in_strides", strides},
          {"axis", axis},
          {"relu_lower_clip", kSettings.lower},
          {"relu_upper_clip", kSettings.upper},
          {"relu_has_upper_clip", true},
          {"relu_lower_clip_slope", kSettings.slope},
          {"elu_alpha", kSettings.alpha},
          {"swish_beta", kSettings.swish},
          {"softplus_beta", kSettings.softplus},
          {"block_size", block}};
}

double operand(const std::vector<Tensor>& inputs, size_t i, const List& index) {
  if (i >= inputs.size()) return 0;
  List own = index;
  for (size_t d = 0; d < own.size(); ++d) own[d] = inputs[i].dims[d] == 1 ? 0 : own[d];
  return inputs[i].at(own);
}

/// `strides` and input dims say how the tensors lie; ones in input dims broadcast.
Case make_pointwise(const Formula& formula, const std::string& dtype, const std::string& layout,
                    const List& dims, const List& strides, const std::vector<List>& input_dims,
                    int64_t block) {
  Case test;
  test.kernel = "pointwise." + layout + "_" + dtype + "_b" + std::to_string(block);
  test.alias = "hipplan.pointwise.dispatch.v1";
  const auto count = engine::pointwise::find_operation(formula.name)->inputs;
  for (uint32_t i = 0; i < count; ++i) {
    const List& own = input_dims[i % input_dims.size()];
    test.inputs.push_back(random_tensor(10 + i, dtype, own,
                                        own == dims ? strides : packed_strides(own), formula.low,
                                        formula.high));
  }
  // Zeros, so that predicates see both sides, and equal operands for comparisons.
  for (auto& input : test.inputs) {
    for (size_t i = 0; i < input.memory.size(); i += 3) {
      if (formula.low <= 0) input.memory[i] = std::string(formula.name) == "div" ? 1 : 0;
    }
  }
  test.outputs.push_back(poisoned_tensor(-3, dtype, dims, strides));
  test.values = values_of(formula.name, dtype, layout, test.outputs[0], test.inputs, 0, block);
  auto& expected = test.expected.emplace_back();
  for_each_index(dims, [&](const List& index) {
    const double a = operand(test.inputs, 0, index), b = operand(test.inputs, 1, index);
    const double value = formula.f(a, b, operand(test.inputs, 2, index));
    const double magnitude = std::fabs(value) + (std::fabs(a) + b * b) * 0x1p-6;
    expected.push_back(
        {test.outputs[0].offset(index), value,
         1.01 * roundoff(dtype) * std::fabs(value) + 16 * 0x1p-24 * magnitude + 1e-7});
  });
  return test;
}

Case gen_index(const std::string& dtype, const List& dims, const List& strides, int64_t axis) {
  Case test;
  test.kernel = "pointwise.strided_" + dtype + "_b64";
  test.alias = "hipplan.pointwise.dispatch.v1";
  test.outputs.push_back(poisoned_tensor(2, dtype, dims, strides));
  test.values = values_of("gen_index", dtype, "strided", test.outputs[0], {}, axis, 64);
  auto& expected = test.expected.emplace_back();
  for_each_index(dims, [&](const List& index) {
    expected.push_back(
        {test.outputs[0].offset(index), static_cast<double>(index[static_cast<size_t>(axis)]), 0});
  });
  return test;
}

const Formula& formula_of(const std::string& name) {
  for (const auto& formula : kFormulas) {
    if (formula.name == name) return formula;
  }
  return kFormulas[0];
}

}  // namespace

std::vector<Case> pointwise_cases() {
  std::vector<Case> cases;
  const List dims = {3, 5, 37};
  for (const auto& formula : kFormulas) {
    cases.push_back(
        make_pointwise(formula, "float", "contiguous", dims, packed_strides(dims), {dims}, 64));
  }
  for (const std::string dtype : {"half", "bfloat16"}) {
    for (const auto* name : {"add", "relu_fwd", "tanh_fwd", "gelu_bwd", "binary_select"}) {
      cases.push_back(make_pointwise(formula_of(name), dtype, "contiguous", dims,
                                     packed_strides(dims), {dims}, 256));
    }
    cases.push_back(make_pointwise(formula_of("mul"), dtype, "strided", dims, {500, 100, 2},
                                   {dims, {1, 5, 1}}, 64));
  }
  // Outputs in another order of dims with gaps, operands broadcast over different dims.
  const Formula& select = formula_of("binary_select");
  cases.push_back(make_pointwise(select, "float", "strided", dims, {1, 4, 25},
                                 {dims, {1, 5, 37}, {3, 1, 1}}, 256));
  cases.push_back(make_pointwise(formula_of("sub"), "float", "strided", {2, 3, 4, 5},
                                 {60, 1, 15, 3}, {{2, 3, 4, 5}, {1, 3, 1, 1}}, 64));
  cases.push_back(make_pointwise(formula_of("add"), "float", "contiguous", {2, 3, 4}, {12, 1, 3},
                                 {{2, 3, 4}, {1, 1, 1}}, 64));
  cases.push_back(
      make_pointwise(formula_of("gelu_fwd"), "float", "contiguous", {1}, {1}, {{1}}, 64));
  // Several rounds of the grid's workgroups are not reached here; more elements than one workgroup
  // are.
  cases.push_back(
      make_pointwise(formula_of("swish_fwd"), "float", "contiguous", {1027}, {1}, {{1027}}, 64));
  for (int64_t axis = 0; axis < 3; ++axis)
    cases.push_back(gen_index("float", {3, 1, 70}, {140, 7, 2}, axis));
  cases.push_back(gen_index("half", {4, 6, 5}, {30, 5, 1}, 1));
  return cases;
}

}  // namespace hipplan::test
