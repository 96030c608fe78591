#include <doctest/doctest.h>

#include <functional>
#include <numbers>
#include <set>

#include "graph_builder.h"
#include "reference/pointwise_modes.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// The answer of one pointwise node over float operands of equal dims.
reference::Output apply(const std::string& operation, const std::vector<Numbers>& operands,
                        std::vector<graph::Attribute> settings = {},
                        DataType type = DataType::float32) {
  GraphBuilder b;
  GraphBuilder::Roles roles;
  const Dims dims{static_cast<int64_t>(operands[0].size())};
  for (size_t i = 0; i < operands.size(); ++i)
    roles.push_back({"in_" + std::to_string(i), b.input(type, dims, operands[i])});
  const int64_t out = b.tensor(type, dims);
  settings.push_back({"operation", operation});
  b.node(NodeType::pointwise, roles, {{"out_0", out}}, std::move(settings));
  return b.answer(out);
}
Numbers values(const std::string& operation, const std::vector<Numbers>& operands,
               std::vector<graph::Attribute> settings = {}) {
  return apply(operation, operands, std::move(settings)).values;
}

const Numbers kPoints{-8, -3.5, -2, -1, -0.75, -0.125, 0, 0.125, 0.5, 1, 1.5, 2, 3.25, 7};

}  // namespace

TEST_CASE("every operation of the dialect has a formula") {
  const std::set<std::string> dialect{"abs",
                                      "add",
                                      "add_square",
                                      "binary_select",
                                      "ceil",
                                      "cmp_eq",
                                      "cmp_ge",
                                      "cmp_gt",
                                      "cmp_le",
                                      "cmp_lt",
                                      "cmp_neq",
                                      "div",
                                      "elu_bwd",
                                      "elu_fwd",
                                      "erf",
                                      "exp",
                                      "floor",
                                      "gelu_approx_tanh_bwd",
                                      "gelu_approx_tanh_fwd",
                                      "gelu_bwd",
                                      "gelu_fwd",
                                      "gen_index",
                                      "identity",
                                      "log",
                                      "logical_and",
                                      "logical_not",
                                      "logical_or",
                                      "max_op",
                                      "min_op",
                                      "mul",
                                      "neg",
                                      "reciprocal",
                                      "relu_bwd",
                                      "relu_fwd",
                                      "rsqrt",
                                      "sigmoid_bwd",
                                      "sigmoid_fwd",
                                      "sin",
                                      "softplus_bwd",
                                      "softplus_fwd",
                                      "sqrt",
                                      "sub",
                                      "swish_bwd",
                                      "swish_fwd",
                                      "tan",
                                      "tanh_bwd",
                                      "tanh_fwd"};
  std::set<std::string> known;
  for (const auto& mode : reference::pointwise_modes()) known.insert(std::string(mode.name));
  CHECK(known == dialect);
  CHECK(known.size() == 47);
  CHECK(reference::pointwise_mode("unset") == nullptr);
}

TEST_CASE("unary operations against formulas written another way") {
  using Formula = std::function<long double(long double)>;
  const auto logistic = [](long double x) { return 0.5L * (1 + std::tanh(x / 2)); };
  const std::map<std::string, Formula> formulas{
      {"identity", [](long double x) { return x; }},
      {"abs", [](long double x) { return std::sqrt(x * x); }},
      {"neg", [](long double x) { return 0 - x; }},
      {"ceil", [](long double x) { return -std::floor(-x); }},
      {"floor", [](long double x) { return -std::ceil(-x); }},
      {"exp", [](long double x) { return std::pow(std::numbers::e_v<long double>, x); }},
      {"sin", [](long double x) { return 2 * std::sin(x / 2) * std::cos(x / 2); }},
      {"tan", [](long double x) { return std::sin(x) / std::cos(x); }},
      {"erf", [](long double x) { return 1 - std::erfc(x); }},
      {"tanh_fwd", [](long double x) { return 1 - 2 / (std::exp(2 * x) + 1); }},
      {"sigmoid_fwd", logistic},
      {"elu_fwd", [](long double x) { return x > 0 ? x : std::exp(x) - 1; }},
      {"gelu_fwd", [](long double x) { return x / 2 * std::erfc(-x * std::sqrt(0.5L)); }},
      {"gelu_approx_tanh_fwd",
       [&](long double x) {
         const long double t = 0.7978845608028653558798921198687637L * (x + 0.044715L * x * x * x);
         return x * logistic(2 * t);
       }},
      {"softplus_fwd", [](long double x) { return std::log(1 + std::exp(x)); }},
      {"swish_fwd", [&](long double x) { return x * logistic(x); }},
      {"relu_fwd", [](long double x) { return x > 0 ? x : 0; }},
      {"logical_not", [](long double x) { return x == 0 ? 1 : 0; }}};
  for (const auto& [name, formula] : formulas) {
    CAPTURE(name);
    Numbers expected;
    for (const double x : kPoints) expected.push_back(static_cast<double>(formula(x)));
    CHECK(distance(values(name, {kPoints}), expected) < 1e-14);
  }
  const Numbers positive{0.0625, 0.5, 1, 2, 9, 1e4};
  CHECK(distance(values("log", {positive}), {std::log(0.0625), std::log(0.5), 0, std::log(2),
                                             2 * std::log(3), 4 * std::log(10)}) < 1e-15);
  CHECK(distance(values("sqrt", {positive}), {0.25, std::sqrt(0.5), 1, std::sqrt(2), 3, 100}) <
        1e-15);
  CHECK(distance(values("rsqrt", {positive}), {4, std::sqrt(2), 1, std::sqrt(0.5), 1.0 / 3, 0.01}) <
        1e-15);
  CHECK(distance(values("reciprocal", {positive}), {16, 2, 1, 0.5, 1.0 / 9, 1e-4}) < 1e-15);
}

TEST_CASE("gradients are dy times the slope of the forward operation") {
  const std::vector<std::pair<std::string, std::vector<graph::Attribute>>> pairs{
      {"elu", {{"elu_alpha", 1.5}}},
      {"gelu", {}},
      {"gelu_approx_tanh", {}},
      {"sigmoid", {}},
      {"softplus", {{"softplus_beta", 2.0}}},
      {"swish", {{"swish_beta", 0.75}}},
      {"tanh", {}},
      {"relu",
       {{"relu_lower_clip", -1.25}, {"relu_upper_clip", 2.5}, {"relu_lower_clip_slope", 0.25}}}};
  const Numbers x{-6, -3.5, -1.75, -0.5, 0.25, 0.875, 1.5, 2.25, 3, 5};
  const double h = 0x1p-10;
  for (const auto& [name, settings] : pairs) {
    CAPTURE(name);
    Numbers above, below, dy, expected;
    for (size_t i = 0; i < x.size(); ++i) {
      above.push_back(x[i] + h);
      below.push_back(x[i] - h);
      dy.push_back(0.5 + static_cast<double>(i));
    }
    const Numbers up = values(name + "_fwd", {above}, settings);
    const Numbers down = values(name + "_fwd", {below}, settings);
    for (size_t i = 0; i < x.size(); ++i) expected.push_back(dy[i] * (up[i] - down[i]) / (2 * h));
    CHECK(distance(values(name + "_bwd", {dy, x}, settings), expected) < 1e-6);
  }
}

TEST_CASE("gates close at minus infinity and far below zero") {
  const Numbers far{-INFINITY, -1e30, INFINITY};
  for (const char* name : {"gelu_fwd", "gelu_approx_tanh_fwd", "swish_fwd"}) {
    CAPTURE(name);
    CHECK(values(name, {far}) == Numbers{0, 0, INFINITY});
    CHECK(std::isnan(values(name, {{NAN}})[0]));
  }
  for (const char* name : {"gelu_bwd", "gelu_approx_tanh_bwd", "swish_bwd"}) {
    CAPTURE(name);
    CHECK(values(name, {{2, 2, 2}, far}) == Numbers{0, 0, 2});
  }
}

TEST_CASE("clipped relu at its corners") {
  const std::vector<graph::Attribute> settings{
      {"relu_lower_clip", -1.0}, {"relu_upper_clip", 6.0}, {"relu_lower_clip_slope", 0.5}};
  CHECK(values("relu_fwd", {{-3, -1, 0, 6, 7}}, settings) == Numbers{-2, -1, 0, 6, 6});
  CHECK(values("relu_bwd", {{2, 2, 2, 2, 2}, {-3, -1, 0, 6, 7}}, settings) ==
        Numbers{1, 1, 2, 0, 0});
  CHECK(values("relu_fwd", {{-3, 0, 7}}, {{"relu_upper_clip", int64_t{6}}}) == Numbers{0, 0, 6});
}

TEST_CASE("operations of two and three operands") {
  const Numbers a{1, 2, 3, 0}, b{3, 2, -1, 0};
  CHECK(values("add", {a, b}) == Numbers{4, 4, 2, 0});
  CHECK(values("sub", {a, b}) == Numbers{-2, 0, 4, 0});
  CHECK(values("mul", {a, b}) == Numbers{3, 4, -3, 0});
  CHECK(values("add_square", {a, b}) == Numbers{10, 6, 4, 0});
  CHECK(values("max_op", {a, b}) == Numbers{3, 2, 3, 0});
  CHECK(values("min_op", {a, b}) == Numbers{1, 2, -1, 0});
  CHECK(values("cmp_eq", {a, b}) == Numbers{0, 1, 0, 1});
  CHECK(values("cmp_neq", {a, b}) == Numbers{1, 0, 1, 0});
  CHECK(values("cmp_gt", {a, b}) == Numbers{0, 0, 1, 0});
  CHECK(values("cmp_ge", {a, b}) == Numbers{0, 1, 1, 1});
  CHECK(values("cmp_lt", {a, b}) == Numbers{1, 0, 0, 0});
  CHECK(values("cmp_le", {a, b}) == Numbers{1, 1, 0, 1});
  CHECK(values("logical_and", {a, b}) == Numbers{1, 1, 1, 0});
  CHECK(values("logical_or", {{0, 2, 0}, {0, 0, -1}}) == Numbers{0, 1, 1});
  CHECK(values("binary_select", {a, b, {1, 0, -2, 0}}) == Numbers{1, 2, 3, 0});
  const Numbers quotient = values("div", {{1, 7, -1, 0}, {4, 2, 0, 0}});
  CHECK(quotient[0] == 0.25);
  CHECK(quotient[1] == 3.5);
  CHECK(quotient[2] == -INFINITY);
  CHECK(std::isnan(quotient[3]));
  CHECK(std::isnan(values("max_op", {{NAN}, {NAN}})[0]));
  CHECK(values("max_op", {{NAN}, {1}})[0] == 1);
}

TEST_CASE("operands broadcast from the last dim and may have any strides") {
  GraphBuilder b;
  Numbers x(24);
  for (size_t i = 0; i < 24; ++i) x[i] = static_cast<double>(i);
  const auto a = b.input(DataType::float32, {2, 3, 4}, x, {1, 2, 10});
  const auto column = b.input(DataType::half, {3, 1}, {100, 200, 300});
  const auto out = b.tensor(DataType::float32, {2, 3, 4}, {12, 1, 3});
  b.node(NodeType::pointwise, {{"in_0", a}, {"in_1", column}}, {{"out_0", out}},
         {{"operation", std::string("add")}});
  Numbers expected;
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) expected.push_back(n * 12 + i * 4 + j + 100 * (i + 1));
  CHECK(b.answer(out).values == expected);
}

TEST_CASE("dims that do not broadcast are refused") {
  GraphBuilder b;
  const auto a = b.input(DataType::float32, {2, 3}, noise(6));
  const auto c = b.input(DataType::float32, {2}, noise(2));
  const auto out = b.tensor(DataType::float32, {2, 3});
  b.node(NodeType::pointwise, {{"in_0", a}, {"in_1", c}}, {{"out_0", out}},
         {{"operation", std::string("add")}});
  const auto result = b.run();
  REQUIRE(!result.ok());
  CHECK(result.error().code == Code::bad_input);
  CHECK(result.error().text() ==
        "node 'n0': tensor 'in_1' has the wrong dims; expected dims that broadcast to [2,3], found "
        "[2]");
}

TEST_CASE("gen_index counts along its axis") {
  GraphBuilder b;
  const auto out = b.tensor(DataType::int32, {2, 3, 2});
  const auto in = b.input(DataType::int32, {2, 3, 2}, Numbers(12, 5));
  b.node(NodeType::pointwise, {{"in_0", in}}, {{"out_0", out}},
         {{"operation", std::string("gen_index")}, {"axis_tensor_uid", int64_t{1}}});
  CHECK(b.answer(out).values == Numbers{0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2});
  b.graph.nodes[0].attributes[1].value = int64_t{3};
  CHECK(b.run().error().reason == "axis");
}

TEST_CASE(
    "float arithmetic stays within the bounds, and not much less accurate arithmetic does not") {
  const Numbers x = noise(2000, 3), y = noise(2000, 4);
  const auto as_float = [&](const auto& f) {
    Numbers out;
    for (size_t i = 0; i < x.size(); ++i)
      out.push_back(static_cast<double>(f(static_cast<float>(x[i]), static_cast<float>(y[i]))));
    return out;
  };
  const auto sigmoid = [](float v) { return 1.0f / (1.0f + std::exp(-v)); };
  CHECK(worst_ratio(apply("add", {x, y}), as_float([](float a, float b) { return a + b; })) <= 1);
  CHECK(worst_ratio(apply("exp", {x}), as_float([](float a, float) { return std::exp(a); })) <= 1);
  CHECK(worst_ratio(apply("tanh_fwd", {x}),
                    as_float([](float a, float) { return std::tanh(a); })) <= 1);
  CHECK(worst_ratio(apply("swish_fwd", {x}),
                    as_float([&](float a, float) { return a * sigmoid(a); })) <= 1);
  CHECK(worst_ratio(apply("sigmoid_bwd", {x, y}), as_float([&](float a, float b) {
                      return a * sigmoid(b) * (1.0f - sigmoid(b));
                    })) <= 1);
  CHECK(worst_ratio(apply("gelu_fwd", {x}), as_float([](float a, float) {
                      return 0.5f * a * (1.0f + std::erf(a * 0.70710678f));
                    })) <= 1);
  // A relative error of 1e-5 is about 170 roundings: every rule must see it.
  for (const char* name : {"add", "exp", "tanh_fwd", "swish_fwd", "gelu_fwd"}) {
    CAPTURE(name);
    const auto answer = std::string(name) == "add" ? apply(name, {x, y}) : apply(name, {x});
    Numbers off = answer.values;
    for (auto& v : off) v *= 1 + 1e-5;
    CHECK(worst_ratio(answer, off) > 1);
  }
}

TEST_CASE("exact operations have no bound at all where the type can hold the answer") {
  for (const float bound : apply("relu_fwd", {noise(100)}).bounds) CHECK(bound == 0);
  const auto half = apply("identity", {{1.0, 0.25}}, {}, DataType::half);
  CHECK(half.bounds == std::vector<float>{0, 0});
  const auto sum = apply("add", {{1.0}, {1.0}}, {}, DataType::half);
  CHECK(sum.bounds[0] > 0);
  CHECK(sum.bounds[0] < 2 * 0x1p-10);
}

TEST_CASE("intermediates round to their type and hand their error on") {
  GraphBuilder b;
  const double third = 1.0 / 3;
  const auto x = b.input(DataType::float32, {1}, {third});
  const auto middle = b.intermediate(DataType::half, {1});
  const auto out = b.tensor(DataType::float32, {1});
  b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", middle}},
         {{"operation", std::string("neg")}});
  b.node(NodeType::pointwise, {{"in_0", middle}, {"in_1", middle}}, {{"out_0", out}},
         {{"operation", std::string("mul")}});
  const auto answer = b.answer(out);
  const double rounded = 0x1.554p-2;  // 1/3 with 11 significant bits
  CHECK(answer.values[0] == rounded * rounded);
  // A kernel that keeps the intermediate in float gives 1/9: inside. Off by 1 %: outside.
  CHECK(worst_ratio(answer, {third * third}) < 1);
  CHECK(worst_ratio(answer, {third * third * 1.01}) > 1);
  CHECK(b.run()->size() == 1);
}

TEST_CASE("a denominator that may be zero has no bound") {
  GraphBuilder b;
  const auto x = b.input(DataType::float32, {2}, {1e-9, 1.0});
  const auto one = b.input(DataType::float32, {1}, {1.0});
  const auto sum = b.intermediate(DataType::half, {2}), zero = b.intermediate(DataType::half, {2});
  const auto out = b.tensor(DataType::float32, {2});
  b.node(NodeType::pointwise, {{"in_0", x}, {"in_1", one}}, {{"out_0", sum}},
         {{"operation", std::string("add")}});
  b.node(NodeType::pointwise, {{"in_0", sum}, {"in_1", one}}, {{"out_0", zero}},
         {{"operation", std::string("sub")}});
  b.node(NodeType::pointwise, {{"in_0", one}, {"in_1", zero}}, {{"out_0", out}},
         {{"operation", std::string("div")}});
  const auto answer = b.answer(out);
  CHECK(std::isfinite(answer.bounds[1]));
  CHECK(answer.values[1] == 1);
  CHECK(std::isinf(answer.values[0]));
}

TEST_CASE("the answer does not depend on the number of threads") {
  GraphBuilder b;
  const auto x = b.input(DataType::float32, {3, 7000}, noise(21000), {1, 3});
  const auto out = b.tensor(DataType::float32, {3, 7000});
  b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", out}},
         {{"operation", std::string("gelu_fwd")}});
  const auto one = b.answer(out, 1), four = b.answer(out, 4);
  CHECK(one.values == four.values);
  CHECK(one.bounds == four.bounds);
}
