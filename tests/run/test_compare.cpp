#include <doctest/doctest.h>

#include "../reference/graph_builder.h"
#include "run/compare.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

graph::Tensor tensor(DataType type, const Dims& dims, const Dims& strides = {}) {
  GraphBuilder b;
  return b.at(b.tensor(type, dims, strides));
}
Bytes stored(const graph::Tensor& t, const Numbers& values) {
  Bytes out(static_cast<size_t>(t.span_bytes()), std::byte{0xff});
  reference::pack(t, values, out.data());
  return out;
}
run::Comparison compared(const graph::Tensor& t, const Numbers& expected,
                         const std::vector<float>& bounds, const Numbers& got,
                         const run::Tolerance& tolerance = {}) {
  const auto result = run::compare(t, {expected, bounds}, stored(t, got), tolerance);
  REQUIRE(result.ok());
  return *result;
}
/// One element of a type: whether `got` is accepted for `expected` within `bound`.
bool accepts(DataType type, double expected, float bound, double got) {
  return compared(tensor(type, {1}), {expected}, {bound}, {got}).pass;
}

}  // namespace

TEST_CASE("the worst element is the one with the largest share of its own bound") {
  const auto t = tensor(DataType::float32, {2, 3}, {1, 4});
  const auto c = compared(t, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 0.25f, 1}, {1, 2.5, 3, 4, 5.1875, 6});
  CHECK(c.pass);
  CHECK(c.elements == 6);
  CHECK(c.worst.index == Dims{1, 1});
  CHECK(c.worst.ratio == 0.75);
  CHECK(c.worst.expected == 5);
  CHECK(c.worst.got == 5.1875);
  CHECK(c.max_abs_error == 0.5);
  CHECK(c.max_abs_expected == 6);
  CHECK(c.rms_error == doctest::Approx(std::sqrt((0.25 + 0.1875 * 0.1875) / 6)));
  CHECK(c.text() ==
        "6 elements, worst 0.75 of its bound at [1,1] (expected 5, got 5.1875, bound 0.25)");
}

TEST_CASE("an element beyond its bound fails and is counted") {
  const auto t = tensor(DataType::float32, {4});
  const auto c = compared(t, {1, 2, 3, 4}, {0.5f, 0.5f, 0.5f, 0.5f}, {1.5, 2.75, 3, 9});
  CHECK(!c.pass);
  CHECK(c.failed == 2);
  CHECK(c.worst.index == Dims{3});
  CHECK(c.worst.ratio == 10);
  CHECK(accepts(DataType::float32, 1, 0, 1));
  CHECK(!accepts(DataType::float32, 1, 0, 1.0000001));
  CHECK(accepts(DataType::float32, 0, 0, -0.0));
}

TEST_CASE("NaN must be where it is expected and nowhere else") {
  const auto t = tensor(DataType::float32, {4});
  const auto c = compared(t, {NAN, NAN, 1, 1}, {0, 0, 1e30f, 1}, {NAN, 1, NAN, 1});
  CHECK(c.both_nan == 1);
  CHECK(c.wrong_nan == 2);
  CHECK(c.not_finite == 2);  // of what was found
  CHECK(c.failed == 2);
  CHECK(c.worst.ratio == INFINITY);
  // Poison that a kernel left behind is a NaN where none is expected, whatever the bound.
  CHECK(!accepts(DataType::half, 1, INFINITY, NAN));
  // An integer cannot hold a NaN.
  CHECK(accepts(DataType::int32, NAN, 0, 5));
}

TEST_CASE("infinities and overflow") {
  CHECK(accepts(DataType::float32, INFINITY, 0, INFINITY));
  CHECK(!accepts(DataType::float32, INFINITY, 1, -INFINITY));
  CHECK(!accepts(DataType::float32, INFINITY, 1, 1e30));
  CHECK(!accepts(DataType::float32, 1, 1, INFINITY));
  CHECK(accepts(DataType::half, 70000, 1, INFINITY));   // too large for half
  CHECK(accepts(DataType::half, 65519, 10, INFINITY));  // within the bound of too large
  CHECK(!accepts(DataType::half, 60000, 10, INFINITY));
  CHECK(accepts(DataType::fp8_e4m3, 1000, 1, 448));  // saturates
  CHECK(!accepts(DataType::fp8_e4m3, 1000, 1, -448));
  CHECK(!accepts(DataType::fp8_e4m3, 1000, 1, 256));
  CHECK(accepts(DataType::int8, 300, 1, 127));
}

TEST_CASE("elements without a bound are counted, not judged") {
  const auto c = compared(tensor(DataType::float32, {2}), {1, 2}, {INFINITY, 1}, {1e9, 2});
  CHECK(c.pass);
  CHECK(c.unbounded == 1);
}

TEST_CASE("a tolerance of the caller replaces the bounds") {
  const auto t = tensor(DataType::float32, {2});
  CHECK(compared(t, {100, 1}, {0, 0}, {101, 1}, {.atol = {}, .rtol = 0.01}).pass);
  CHECK(!compared(t, {100, 1}, {9, 9}, {101.5, 1}, {.atol = {}, .rtol = 0.01}).pass);
  CHECK(compared(t, {100, 1}, {0, 0}, {100.5, 1.5}, {.atol = 0.5, .rtol = {}}).pass);
  CHECK(!compared(t, {100, 1}, {9, 9}, {100.5, 1.5}, {.atol = 0.25, .rtol = {}}).pass);
}

TEST_CASE("buffers compare by number, gaps aside") {
  const auto t = tensor(DataType::half, {2, 2}, {4, 1});
  Bytes a = stored(t, {1, 2, NAN, 0}), b = stored(t, {1, 2, NAN, -0.0});
  b[5] = std::byte{7};
  auto c = run::compare_buffers(t, a, b);
  REQUIRE(c.ok());
  CHECK(c->pass);
  CHECK(c->both_nan == 1);
  b = stored(t, {1, 2.002, NAN, 0});
  CHECK(!run::compare_buffers(t, a, b)->pass);
  CHECK(run::compare_buffers(t, a, b, {.atol = {}, .rtol = 0.01})->pass);
}

TEST_CASE("short buffers are refused; the count of threads changes nothing") {
  const auto t = tensor(DataType::float32, {300, 41});
  const Numbers x = noise(12300, 1), y = noise(12300, 2);
  const reference::Output expected{x, std::vector<float>(12300, 0.5f)};
  CHECK(run::compare(t, expected, Bytes(12300 * 4 - 1)).error().reason == "input-size");
  CHECK(run::compare_buffers(t, Bytes(3), Bytes(12300 * 4)).error().reason == "input-size");
  const Bytes got = stored(t, y);
  const auto one = run::compare(t, expected, got, {}, 1),
             four = run::compare(t, expected, got, {}, 4);
  CHECK(one->text() == four->text());
  CHECK(one->rms_error == four->rms_error);
  CHECK(one->failed == four->failed);
  CHECK(one->failed > 0);
}
