#include <doctest/doctest.h>

#include "graph_builder.h"

using namespace hipplan;
using namespace hipplan::test;

TEST_CASE("batchnorm inference by channel, and from the variance") {
  const Numbers x = noise(2 * 3 * 4, 1), mean{0.5, -1, 0.25}, variance{0.75, 2, 0.5},
                scale{1, 2, -3}, bias{0, 1, 2};
  const double epsilon = 0x1p-10;
  Numbers expected, inverse;
  for (const double v : variance) inverse.push_back(std::pow(v + epsilon, -0.5));
  for (size_t n = 0; n < 2; ++n)
    for (size_t c = 0; c < 3; ++c)
      for (size_t i = 0; i < 4; ++i)
        expected.push_back(scale[c] * (x[(n * 3 + c) * 4 + i] - mean[c]) /
                               std::sqrt(variance[c] + epsilon) +
                           bias[c]);

  GraphBuilder b;
  const auto xi = b.input(DataType::float32, {2, 3, 2, 2}, x, {12, 1, 6, 3});
  const Dims channel{1, 3, 1, 1};
  const auto m = b.input(DataType::float32, channel, mean),
             s = b.input(DataType::float32, channel, scale),
             t = b.input(DataType::float32, channel, bias),
             inv = b.input(DataType::float64, channel, inverse),
             var = b.input(DataType::float32, channel, variance),
             eps = b.tensor(DataType::float32, {1});
  b.at(eps).value = epsilon;
  const auto y = b.tensor(DataType::float32, {2, 3, 2, 2}),
             y_ext = b.tensor(DataType::float32, {2, 3, 2, 2});
  b.node(NodeType::batchnorm_inference,
         {{"x", xi}, {"mean", m}, {"inv_variance", inv}, {"scale", s}, {"bias", t}}, {{"y", y}});
  b.node(NodeType::batchnorm_inference_variance_ext,
         {{"x", xi}, {"mean", m}, {"variance", var}, {"scale", s}, {"bias", t}, {"epsilon", eps}},
         {{"y", y_ext}});
  const auto all = b.run();
  REQUIRE(all.ok());
  CHECK(distance(all->at(y).values, expected) < 1e-14);
  CHECK(distance(all->at(y_ext).values, expected) < 1e-14);

  Numbers folded, off = expected;  // x*a + (bias - mean*a) in float
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / 4 % 3;
    const float a = static_cast<float>(scale[c]) * static_cast<float>(inverse[c]);
    folded.push_back(
        static_cast<double>(static_cast<float>(x[i]) * a +
                            (static_cast<float>(bias[c]) - static_cast<float>(mean[c]) * a)));
    off[i] += 1e-5;
  }
  CHECK(worst_ratio(all->at(y), folded) <= 1);
  CHECK(worst_ratio(all->at(y_ext), folded) <= 1);
  CHECK(worst_ratio(all->at(y), off) > 1);
}

TEST_CASE("layernorm rows have mean 0 and variance 1, and its statistics come out") {
  const size_t rows = 6, n = 40;
  const Numbers x = noise(rows * n, 3);
  GraphBuilder b;
  const auto xi = b.input(DataType::float32, {2, 3, 8, 5}, x);
  const auto one = b.input(DataType::float32, {1, 1, 8, 5}, Numbers(n, 1.0)),
             zero = b.input(DataType::float32, {1, 1, 8, 5}, Numbers(n, 0.0));
  const auto eps = b.input(DataType::float32, {1}, {0.0});
  const auto y = b.tensor(DataType::float32, {2, 3, 8, 5}),
             mean = b.tensor(DataType::float32, {2, 3, 1, 1}),
             inv = b.tensor(DataType::float32, {2, 3, 1, 1});
  b.node(NodeType::layernorm, {{"x", xi}, {"scale", one}, {"bias", zero}, {"epsilon", eps}},
         {{"y", y}, {"mean", mean}, {"inv_variance", inv}}, {{"normalized_dim_count", int64_t{2}}});
  const auto all = b.run();
  REQUIRE(all.ok());
  for (size_t r = 0; r < rows; ++r) {
    double sum = 0, squares = 0, x_sum = 0, x_squares = 0;
    for (size_t i = 0; i < n; ++i) {
      const double v = all->at(y).values[r * n + i], w = x[r * n + i];
      sum += v;
      squares += v * v;
      x_sum += w;
      x_squares += w * w;
    }
    CHECK(std::fabs(sum) < 1e-12);
    CHECK(squares == doctest::Approx(n).epsilon(1e-12));
    const double m = x_sum / static_cast<double>(n);
    CHECK(all->at(mean).values[r] == doctest::Approx(m).epsilon(1e-12));
    CHECK(
        all->at(inv).values[r] ==
        doctest::Approx(1 / std::sqrt(x_squares / static_cast<double>(n) - m * m)).epsilon(1e-10));
  }
  // Without the count the dims come from scale's shape.
  b.graph.nodes[0].attributes.clear();
  CHECK(b.answer(y).values == all->at(y).values);
}

TEST_CASE("layernorm and rmsnorm with scale and bias, a float kernel inside the bounds") {
  const size_t rows = 3, n = 50;
  const Numbers x = noise(rows * n, 5), scale = noise(n, 6), bias = noise(n, 7);
  const double epsilon = 0.125;
  for (const bool centered : {true, false}) {
    CAPTURE(centered);
    GraphBuilder b;
    const auto xi = b.input(DataType::float32, {3, 50}, x),
               s = b.input(DataType::float32, {1, 50}, scale),
               t = b.input(DataType::float32, {1, 50}, bias),
               eps = b.input(DataType::float32, {1}, {epsilon});
    const auto y = b.tensor(DataType::float32, {3, 50}), inv = b.tensor(DataType::float32, {3, 1});
    b.node(centered ? NodeType::layernorm : NodeType::rmsnorm,
           {{"x", xi}, {"scale", s}, {"bias", t}, {"epsilon", eps}},
           {{"y", y}, {centered ? "inv_variance" : "inv_rms", inv}});
    const auto all = b.run();
    REQUIRE(all.ok());
    Numbers expected, kernel, off;
    for (size_t r = 0; r < rows; ++r) {
      double mean = 0, square = 0;
      float fast_sum = 0, fast_square = 0;
      for (size_t i = 0; i < n; ++i) {
        const double v = x[r * n + i];
        mean += centered ? v / static_cast<double>(n) : 0;
        square += v * v / static_cast<double>(n);
        fast_sum += centered ? static_cast<float>(v) : 0.0f;
        fast_square += static_cast<float>(v) * static_cast<float>(v);
      }
      const float fast_mean = fast_sum / 50.0f;
      const float fast = 1.0f / std::sqrt(fast_square / 50.0f - fast_mean * fast_mean + 0.125f);
      for (size_t i = 0; i < n; ++i) {
        expected.push_back(
            (x[r * n + i] - mean) / std::sqrt(square - mean * mean + epsilon) * scale[i] + bias[i]);
        kernel.push_back(static_cast<double>((static_cast<float>(x[r * n + i]) - fast_mean) * fast *
                                                 static_cast<float>(scale[i]) +
                                             static_cast<float>(bias[i])));
        off.push_back(expected.back() + 2e-5 * scale[i]);
      }
      CHECK(all->at(inv).values[r] ==
            doctest::Approx(1 / std::sqrt(square - mean * mean + epsilon)).epsilon(1e-12));
    }
    CHECK(distance(all->at(y).values, expected) < 1e-13);
    CHECK(worst_ratio(all->at(y), kernel) <= 1);
    CHECK(worst_ratio(all->at(y), off) > 1);
  }
}

namespace {
reference::Output reduce(const std::string& mode, const Dims& in, const Dims& out,
                         const Numbers& x) {
  GraphBuilder b;
  const auto xi = b.input(DataType::float32, in, x);
  const auto yi = b.tensor(DataType::float32, out);
  b.node(NodeType::reduction, {{"in", xi}}, {{"out", yi}}, {{"mode", mode}});
  return b.answer(yi);
}
}  // namespace

TEST_CASE("every reduction by hand") {
  const Numbers x{3, -4, 0, 12};
  const std::map<std::string, double> answers{
      {"ADD", 11}, {"AVG", 2.75}, {"MUL", 0},    {"MUL_NO_ZEROS", -144}, {"MIN", -4},
      {"MAX", 12}, {"AMAX", 12},  {"NORM1", 19}, {"NORM2", 13}};
  for (const auto& [mode, answer] : answers) {
    CAPTURE(mode);
    CHECK(reduce(mode, {4}, {1}, x).values == Numbers{answer});
  }
  CHECK(reduce("MUL_NO_ZEROS", {2}, {1}, {0, 0}).values == Numbers{1});
  CHECK(reduce("AMAX", {3}, {1}, {1, -5, 2}).values == Numbers{5});
  CHECK(reduce("ADD", {2, 3, 2}, {1, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).values ==
        Numbers{18, 26, 34});
  CHECK(reduce("MAX", {2, 3}, {2, 3}, {1, 2, 3, 4, 5, 6}).values == Numbers{1, 2, 3, 4, 5, 6});
  CHECK(reduce("NOT_SET", {2}, {1}, {1, 2}).values.empty());
  CHECK(reduce("ADD", {2, 4}, {2, 2}, Numbers(8, 1.0)).values.empty());
}

TEST_CASE("float sums stay within the bounds of reductions, a lost element does not") {
  const Numbers x = noise(1000, 9);
  const auto sum = reduce("ADD", {1000}, {1}, x), norm = reduce("NORM2", {1000}, {1}, x);
  float forward = 0, squares = 0;
  for (const double v : x) {
    forward += static_cast<float>(v);
    squares += static_cast<float>(v) * static_cast<float>(v);
  }
  CHECK(worst_ratio(sum, {static_cast<double>(forward)}) <= 1);
  CHECK(worst_ratio(norm, {static_cast<double>(std::sqrt(squares))}) <= 1);
  CHECK(worst_ratio(sum, {sum.values[0] - x[500]}) > 1);
  CHECK(reduce("MAX", {1000}, {1}, x).bounds[0] == 0);
}

TEST_CASE("errors of an intermediate reach the reduction") {
  GraphBuilder b;
  const auto x = b.input(DataType::float32, {1, 64}, noise(64, 2));
  const auto middle = b.intermediate(DataType::bfloat16, {1, 64});
  const auto out = b.tensor(DataType::float32, {1, 1});
  b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", middle}},
         {{"operation", std::string("exp")}});
  b.node(NodeType::reduction, {{"in", middle}}, {{"out", out}}, {{"mode", std::string("ADD")}});
  const auto answer = b.answer(out);
  double fused = 0;
  for (const double v : noise(64, 2)) fused += std::exp(v);
  CHECK(worst_ratio(answer, {fused}) <= 1);
  CHECK(std::fabs(answer.values[0] - fused) > 0);
}

TEST_CASE("nodes and tensors without an answer are refused by name") {
  GraphBuilder b;
  const auto x = b.input(DataType::float32, {1, 1, 2, 2}, noise(4));
  const auto y = b.tensor(DataType::float32, {1, 1, 2, 2});
  b.node(NodeType::resample_fwd, {{"x", x}}, {{"y", y}});
  CHECK(b.run().error().text() ==
        "node 'n0': ResampleFwdAttributes is not evaluated by the CPU reference");
  CHECK(reference::supported(b.graph).error().code == Code::negative);
  b.graph.nodes[0].type = NodeType::pointwise;
  b.graph.nodes[0].inputs[0].role = "in_0";
  b.graph.nodes[0].outputs[0].role = "out_0";
  b.graph.nodes[0].attributes = {{"operation", std::string("unset")}};
  CHECK(b.run().error().reason == "reference-unsupported");
  b.graph.nodes[0].attributes = {{"operation", std::string("abs")}};
  CHECK(b.run().ok());
  b.at(x).ragged_offset_uid = y;
  CHECK(b.run().error().what == "a ragged tensor is not evaluated by the CPU reference");
}

TEST_CASE("inputs that are missing or short are refused") {
  GraphBuilder b;
  const auto x = b.input(DataType::half, {4}, noise(4));
  const auto y = b.tensor(DataType::half, {4});
  b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", y}}, {{"operation", std::string("abs")}});
  b.data[x].resize(7);
  CHECK(b.run().error().text() ==
        "tensor 1 't1': the input buffer is too short; expected 8 bytes, found 7 bytes");
  b.data.clear();
  CHECK(b.run().error().reason == "missing-input");
}
