#include <doctest/doctest.h>

#include "../reference/graph_builder.h"
#include "run/work.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

uint64_t attention_flops(const std::vector<std::pair<std::string, bool>>& masks) {
  GraphBuilder b;
  const auto q = b.tensor(DataType::half, {1, 2, 8, 64}),
             k = b.tensor(DataType::half, {1, 2, 16, 64}),
             v = b.tensor(DataType::half, {1, 2, 16, 64}),
             o = b.tensor(DataType::half, {1, 2, 8, 64});
  b.node(NodeType::sdpa, {{"q", q}, {"k", k}, {"v", v}}, {{"o", o}}, {});
  for (const auto& [key, value] : masks) b.graph.nodes[0].attributes.push_back({key, value});
  return run::flops_of(b.graph);
}

}  // namespace

TEST_CASE("products count a multiplication and an addition for each pair") {
  GraphBuilder b;
  const auto left = b.tensor(DataType::bfloat16, {3, 64, 32}),
             right = b.tensor(DataType::bfloat16, {3, 32, 16}),
             out = b.tensor(DataType::float32, {3, 64, 16});
  b.node(NodeType::matmul, {{"a", left}, {"b", right}}, {{"c", out}}, {});
  CHECK(run::flops_of(b.graph) == 3 * 2 * 64 * 16 * 32);
  CHECK(run::product_type(b.graph) == DataType::bfloat16);
}

TEST_CASE("convolutions count what reaches one output, groups included") {
  GraphBuilder b;
  const auto x = b.tensor(DataType::half, {1, 6, 6, 6}), w = b.tensor(DataType::half, {8, 3, 3, 3}),
             y = b.tensor(DataType::half, {1, 8, 4, 4});
  b.node(NodeType::convolution_fwd, {{"x", x}, {"w", w}}, {{"y", y}}, {});
  CHECK(run::flops_of(b.graph) == 2 * (8 * 4 * 4) * (3 * 3 * 3));
}

TEST_CASE("attention counts the pairs that its mask leaves") {
  CHECK(attention_flops({}) == 4 * 2 * 8 * 16 * 64);
  CHECK(attention_flops({{"causal_mask", true}}) == 4 * 2 * (8 * 9 / 2) * 64);
  CHECK(attention_flops({{"causal_mask_bottom_right", true}}) == 4 * 2 * (8 * 8 + 8 * 9 / 2) * 64);
}

TEST_CASE("other operations are not counted") {
  GraphBuilder b;
  const auto x = b.tensor(DataType::half, {64}), y = b.tensor(DataType::half, {64});
  b.node(NodeType::pointwise, {{"in_0", x}}, {{"out_0", y}},
         {{"operation", std::string("relu_fwd")}});
  CHECK(run::flops_of(b.graph) == 0);
  CHECK(run::product_type(b.graph) == DataType::unset);
}
