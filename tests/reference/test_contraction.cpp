#include <doctest/doctest.h>

#include <string>

#include "graph_builder.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

struct Conv {
  Dims x, w, y, before, stride, dilation;
  std::string mode = "CROSS_CORRELATION";
};

/// Runs a convolution; `strides` of x, w and y may be given.
reference::Output convolve(const Conv& c, const Numbers& x, const Numbers& w,
                           const Dims& x_strides = {}, const Dims& w_strides = {}) {
  GraphBuilder b;
  const auto xi = b.input(DataType::float32, c.x, x, x_strides);
  const auto wi = b.input(DataType::float32, c.w, w, w_strides);
  const auto y = b.tensor(DataType::float32, c.y);
  b.node(NodeType::convolution_fwd, {{"x", xi}, {"w", wi}}, {{"y", y}},
         {{"conv_mode", c.mode},
          {"pre_padding", c.before},
          {"post_padding", c.before},
          {"stride", c.stride},
          {"dilation", c.dilation}});
  return b.answer(y);
}

size_t flat(const Dims& dims, const Dims& index) {
  int64_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) at = at * dims[i] + index[i];
  return static_cast<size_t>(at);
}

/// Two-dimensional convolution from the input's side: each x scatters to the outputs it reaches.
Numbers scatter(const Conv& c, const Numbers& x, const Numbers& w, bool as_float = false) {
  Numbers y(flat(c.y, {c.y[0] - 1, c.y[1] - 1, c.y[2] - 1, c.y[3] - 1}) + 1, 0.0);
  const int64_t groups = c.x[1] / c.w[1], k_a_group = c.w[0] / groups;
  for (int64_t n = 0; n < c.x[0]; ++n)
    for (int64_t ch = 0; ch < c.x[1]; ++ch)
      for (int64_t h = 0; h < c.x[2]; ++h)
        for (int64_t v = 0; v < c.x[3]; ++v)
          for (int64_t k = 0; k < c.w[0]; ++k) {
            if (k / k_a_group != ch / c.w[1]) continue;
            for (int64_t r = 0; r < c.w[2]; ++r)
              for (int64_t s = 0; s < c.w[3]; ++s) {
                const bool flip = c.mode == "CONVOLUTION";
                const int64_t tr = flip ? c.w[2] - 1 - r : r, ts = flip ? c.w[3] - 1 - s : s;
                const int64_t top = h + c.before[0] - tr * c.dilation[0];
                const int64_t left = v + c.before[1] - ts * c.dilation[1];
                if (top < 0 || left < 0 || top % c.stride[0] != 0 || left % c.stride[1] != 0)
                  continue;
                const int64_t oh = top / c.stride[0], ow = left / c.stride[1];
                if (oh >= c.y[2] || ow >= c.y[3]) continue;
                double& to = y[flat(c.y, {n, k, oh, ow})];
                const double term =
                    x[flat(c.x, {n, ch, h, v})] * w[flat(c.w, {k, ch % c.w[1], r, s})];
                to = as_float
                         ? static_cast<double>(static_cast<float>(to) + static_cast<float>(term))
                         : to + term;
              }
          }
  return y;
}

size_t count(const Dims& dims) {
  size_t out = 1;
  for (const int64_t d : dims) out *= static_cast<size_t>(d);
  return out;
}

reference::Output multiply(const Dims& a, const Dims& b, const Dims& c, const Numbers& av,
                           const Numbers& bv, DataType type = DataType::float32,
                           const Dims& a_strides = {}, const Dims& b_strides = {}) {
  GraphBuilder g;
  const auto ai = g.input(type, a, av, a_strides), bi = g.input(type, b, bv, b_strides);
  const auto ci = g.tensor(type, c);
  g.node(NodeType::matmul, {{"a", ai}, {"b", bi}}, {{"c", ci}});
  return g.answer(ci);
}

}  // namespace

TEST_CASE("matmul by hand") {
  const auto c = multiply({2, 3}, {3, 2}, {2, 2}, {1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12});
  CHECK(c.values == Numbers{58, 64, 139, 154});
}

TEST_CASE("matmul with transposed operands and broadcast batches") {
  // a is [2,1,3,5] stored column-major, b is [4,5,2]: c is [2,4,3,2].
  const Numbers a = noise(30, 1), b = noise(40, 2);
  const auto c = multiply({2, 1, 3, 5}, {4, 5, 2}, {2, 4, 3, 2}, a, b, DataType::float32,
                          {15, 15, 1, 3}, {10, 1, 5});
  Numbers expected;
  for (size_t n = 0; n < 2; ++n)
    for (size_t m = 0; m < 4; ++m)
      for (size_t i = 0; i < 3; ++i)
        for (size_t j = 0; j < 2; ++j) {
          double sum = 0;
          for (size_t k = 0; k < 5; ++k) sum += a[n * 15 + i * 5 + k] * b[m * 10 + k * 2 + j];
          expected.push_back(sum);
        }
  CHECK(distance(c.values, expected) < 1e-15);
}

TEST_CASE("matmul bounds hold for float in either order and catch one lost product") {
  const size_t m = 7, k = 300, n = 9;
  const Numbers a = noise(m * k, 5), b = noise(k * n, 6);
  const auto c = multiply({7, 300}, {300, 9}, {7, 9}, a, b);
  Numbers forward, backward, lossy = c.values;
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j) {
      float up = 0, down = 0;
      for (size_t l = 0; l < k; ++l) {
        up += static_cast<float>(a[i * k + l]) * static_cast<float>(b[l * n + j]);
        const size_t r = k - 1 - l;
        down += static_cast<float>(a[i * k + r]) * static_cast<float>(b[r * n + j]);
      }
      forward.push_back(static_cast<double>(up));
      backward.push_back(static_cast<double>(down));
    }
  CHECK(worst_ratio(c, forward) <= 1);
  CHECK(worst_ratio(c, backward) <= 1);
  CHECK(worst_ratio(c, forward) > 0);
  lossy[5] -= a[0 * k + 17] * b[17 * n + 5];
  CHECK(worst_ratio(c, lossy) > 1);
}

TEST_CASE("half output adds the rounding of half and no more") {
  const Numbers a = noise(64, 1), b = noise(64, 2);
  GraphBuilder probe;
  const auto c = multiply({1, 64}, {64, 1}, {1, 1}, a, b, DataType::half);
  const double u = 0x1p-11;
  CHECK(c.bounds[0] >= u * std::fabs(c.values[0]));
  CHECK(c.bounds[0] < u * std::fabs(c.values[0]) * 1.1 + 64 * 0x1p-24 * 64 + 0x1p-20);
  CHECK(worst_ratio(c, {reference::rounded(DataType::half, c.values[0])}) <= 1);
}

TEST_CASE("matmul refuses dims that do not fit") {
  GraphBuilder g;
  const auto a = g.input(DataType::float32, {2, 3}, noise(6));
  const auto b = g.input(DataType::float32, {4, 2}, noise(8));
  const auto c = g.tensor(DataType::float32, {2, 2});
  g.node(NodeType::matmul, {{"a", a}, {"b", b}}, {{"c", c}});
  REQUIRE(!g.run().ok());
  CHECK(g.run().error().reason == "shape");
}

TEST_CASE("convolution 1x1 is a matmul over channels") {
  const Numbers x = noise(2 * 5 * 12, 1), w = noise(3 * 5, 2);
  const auto y = convolve({{2, 5, 3, 4}, {3, 5, 1, 1}, {2, 3, 3, 4}, {0, 0}, {1, 1}, {1, 1}}, x, w);
  Numbers both;
  for (size_t n = 0; n < 2; ++n) {
    const Numbers image(x.begin() + static_cast<long>(n * 60),
                        x.begin() + static_cast<long>(n * 60 + 60));
    const auto c = multiply({3, 5}, {5, 12}, {3, 12}, w, image);
    both.insert(both.end(), c.values.begin(), c.values.end());
  }
  CHECK(distance(y.values, both) < 1e-15);
}

TEST_CASE("convolutions in two dims against scattering") {
  const std::vector<Conv> cases{
      {{1, 2, 4, 4}, {3, 2, 3, 3}, {1, 3, 2, 2}, {0, 0}, {1, 1}, {1, 1}},
      {{2, 3, 7, 6}, {4, 3, 3, 3}, {2, 4, 7, 6}, {1, 1}, {1, 1}, {1, 1}},
      {{1, 4, 9, 8}, {6, 2, 3, 2}, {1, 6, 5, 9}, {1, 2}, {2, 1}, {1, 3}},  // two groups, uneven
                                                                           // padding
      {{1, 4, 5, 5}, {4, 1, 3, 3}, {1, 4, 3, 3}, {1, 1}, {2, 2}, {1, 1}},  // depthwise
      {{1, 1, 5, 5}, {1, 1, 2, 3}, {1, 1, 4, 3}, {0, 0}, {1, 1}, {1, 1}, "CONVOLUTION"},
      {{1, 2, 3, 3}, {2, 2, 5, 5}, {1, 2, 5, 5}, {3, 3}, {1, 1}, {1, 1}},  // taps beyond both edges
      {{1, 1, 1, 1}, {1, 1, 3, 3}, {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(i);
    const Numbers x = noise(count(cases[i].x), 7), w = noise(count(cases[i].w), 8);
    const auto y = convolve(cases[i], x, w);
    CHECK(distance(y.values, scatter(cases[i], x, w)) < 1e-14);
    CHECK(worst_ratio(y, scatter(cases[i], x, w, true)) <= 1);
  }
}

TEST_CASE("convolution reads any strides") {
  const Conv c{{2, 3, 5, 4}, {2, 3, 3, 3}, {2, 2, 5, 4}, {1, 1}, {1, 1}, {1, 1}};
  const Numbers x = noise(120, 1), w = noise(54, 2);
  const auto plain = convolve(c, x, w);
  CHECK(convolve(c, x, w, {60, 1, 12, 3}, {27, 1, 9, 3}).values == plain.values);  // channels last
  CHECK(convolve(c, x, w, {100, 30, 6, 1}).values == plain.values);                // padded rows
}

TEST_CASE("convolution in one and three dims") {
  const Numbers ramp{1, 2, 3, 4, 5};
  CHECK(convolve({{1, 1, 5}, {1, 1, 2}, {1, 1, 4}, {0}, {1}, {1}}, ramp, {10, 1}).values ==
        Numbers{12, 23, 34, 45});
  CHECK(convolve({{1, 1, 5}, {1, 1, 2}, {1, 1, 4}, {0}, {1}, {1}, "CONVOLUTION"}, ramp, {10, 1})
            .values == Numbers{21, 32, 43, 54});
  // All ones, 2x2x2 taps over a 3x3x3 cube padded by one in front of the first axis.
  const auto cube =
      convolve({{1, 1, 3, 3, 3}, {1, 1, 2, 2, 2}, {1, 1, 3, 2, 2}, {1, 0, 0}, {1, 1, 1}, {1, 1, 1}},
               Numbers(27, 1.0), Numbers(8, 1.0));
  CHECK(cube.values == Numbers{4, 4, 4, 4, 8, 8, 8, 8, 8, 8, 8, 8});
}

TEST_CASE("convolution refuses what it cannot index") {
  GraphBuilder b;
  const auto x = b.input(DataType::float32, {1, 3, 4, 4}, noise(48));
  const auto w = b.input(DataType::float32, {2, 2, 3, 3}, noise(36));
  const auto y = b.tensor(DataType::float32, {1, 2, 2, 2});
  auto& node =
      b.node(NodeType::convolution_fwd, {{"x", x}, {"w", w}}, {{"y", y}}, {{"stride", Dims{1, 1}}});
  CHECK(b.run().error().reason == "shape");
  b.at(x).dims[1] = b.at(w).dims[1] = 2;
  b.at(x).strides = dense_strides(b.at(x).dims);
  CHECK(b.run().ok());
  node.attributes[0].value = Dims{0, 1};
  CHECK(b.run().error().reason == "attribute");
  node.attributes[0].value = Dims{1, 1, 1};
  CHECK(b.run().error().reason == "attribute");
}
