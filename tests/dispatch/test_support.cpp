// Division constants, byte spans and joining of dims.
#include <doctest/doctest.h>

#include "engine/dispatch_support.h"

using namespace hipplan;
using namespace hipplan::engine;

namespace {
using List = std::vector<int64_t>;

uint32_t divide(uint32_t n, const FastDivisor& by) {
  return static_cast<uint32_t>((((static_cast<uint64_t>(n) * by.multiplier) >> 32) + n) >>
                               by.shift);
}
}  // namespace

TEST_CASE("fast divisors divide everything below 2^31") {
  std::vector<uint32_t> divisors;
  for (uint32_t d = 1; d < 300; ++d) divisors.push_back(d);
  for (uint32_t shift = 8; shift < 31; ++shift) {
    for (const uint32_t off : {0u, 1u, 2u, 3u}) {
      divisors.push_back((1u << shift) + off);
      divisors.push_back((1u << shift) - off);
    }
  }
  divisors.push_back(INT32_MAX);
  for (const uint32_t d : divisors) {
    const auto by = fast_divisor(d);
    CHECK(by.divisor == d);
    uint64_t wrong = 0;
    const auto check = [&](uint64_t n) {
      wrong += n <= INT32_MAX && divide(static_cast<uint32_t>(n), by) != n / d;
    };
    for (uint64_t n = 0; n < 1000; ++n) check(n);
    for (uint64_t q = 1; q * d <= INT32_MAX && q < 2000; ++q) {
      check(q * d - 1);
      check(q * d);
    }
    const uint64_t last = INT32_MAX / d;
    for (uint64_t q = last > 50 ? last - 50 : 0; q <= last; ++q) {
      check(q * d);
      check(q * d + d - 1);
    }
    check(INT32_MAX);
    CHECK_MESSAGE(wrong == 0, "divisor ", d);
  }
}

TEST_CASE("spans end with the last element, and overflow is told") {
  CHECK(span_bytes({}, {}, 4) == 4u);
  CHECK(span_bytes({2, 3}, {10, 2}, 2) == 30u);
  CHECK(span_bytes({5, 3}, {0, 1}, 4) == 12u);
  CHECK(!span_bytes({int64_t{1} << 40}, {int64_t{1} << 40}, 4));
  CHECK(!span_bytes({int64_t{1} << 31, int64_t{1} << 31}, {int64_t{1} << 31, 1}, 4));
  CHECK(!span_bytes({(int64_t{1} << 40) + 1, 2}, {int64_t{1} << 22, int64_t{1} << 62}, 1));
}

TEST_CASE("collapse joins what every view walks without a gap") {
  // One packed view becomes one dim, whatever the order of its dims.
  CHECK(collapse({{2, 3, 4}, {{12, 4, 1}}}).dims == List{24});
  CHECK(collapse({{2, 3, 4}, {{1, 8, 2}}}).dims == List{24});
  // A second view that broadcasts the middle dim keeps it apart.
  const auto split = collapse({{2, 3, 4}, {{12, 4, 1}, {4, 0, 1}}});
  CHECK(split.dims == List{2, 3, 4});
  // Broadcast neighbours join: 0 = 0 * extent.
  const auto scalar = collapse({{2, 3, 4}, {{12, 4, 1}, {0, 0, 0}}});
  CHECK(scalar.dims == List{24});
  CHECK(scalar.strides[1] == List{0});
  // Extent 1 goes, a gap stays.
  const auto gap = collapse({{2, 1, 4}, {{5, 77, 1}}});
  CHECK(gap.dims == List{2, 4});
  CHECK(gap.strides[0] == List{5, 1});
  CHECK(collapse({{1, 1}, {{7, 7}}}).dims == List{1});
  // keep_order leaves a transposed view as it is.
  CHECK(collapse({{3, 4}, {{1, 3}}}, true).dims == List{3, 4});
}

TEST_CASE("walks put the outermost dim aside when the rest fills 31 bits") {
  const auto small = plan_walk({{3, 5}, {{7, 1}}});
  REQUIRE(small);
  CHECK(small->count == 15);
  CHECK(small->outer_count == 1);
  CHECK(small->strides[0][0] == 1);
  CHECK(small->strides[0][1] == 7);
  const auto large = plan_walk({{6, 1 << 20, 1 << 10}, {{int64_t{1} << 31, 1 << 11, 1}}});
  REQUIRE(large);
  CHECK(large->count == 1u << 30);
  CHECK(large->outer_count == 6);
  CHECK(large->strides[0][Walk::kInnerDims] == int64_t{1} << 31);
  CHECK(large->slot_of_dim[0] == Walk::kInnerDims);
  CHECK(!plan_walk({{6, 1 << 20, 1 << 11}, {{int64_t{1} << 32, 1 << 12, 1}}}));
  CHECK(!plan_walk({{2, 6, 1 << 20, 1 << 11}, {{0, int64_t{1} << 32, 1 << 12, 1}}}));
  CHECK(!plan_walk({List(9, 2), {List(9, 1)}}));
}
