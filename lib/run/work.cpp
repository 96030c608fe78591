#include "run/work.h"

#include <algorithm>

namespace hipplan::run {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeType;
using graph::Tensor;

const Tensor* in(const Graph& graph, const Node& node, std::string_view role) {
  const auto place = node.input(role);
  return place ? &graph.tensors[*place] : nullptr;
}
const Tensor* out(const Graph& graph, const Node& node, std::string_view role) {
  const auto place = node.output(role);
  return place ? &graph.tensors[*place] : nullptr;
}

/// Query-key pairs of one head: all of them, or those on and below the diagonal.
int64_t pairs(const Node& node, int64_t queries, int64_t keys) {
  const bool top = node.flag("causal_mask").value_or(false);
  const bool bottom = node.flag("causal_mask_bottom_right").value_or(false);
  if (!top && !bottom) return queries * keys;
  const int64_t shift = bottom ? keys - queries : 0;
  int64_t sum = 0;
  for (int64_t query = 0; query < queries; ++query)
    sum += std::clamp<int64_t>(query + 1 + shift, 0, keys);
  return sum;
}

int64_t convolution(const Graph& graph, const Node& node) {
  const auto *filter = in(graph, node, "w"), *result = out(graph, node, "y");
  if (filter == nullptr || result == nullptr || filter->dims.empty()) return 0;
  return 2 * result->element_count() * (filter->element_count() / filter->dims[0]);
}

int64_t product(const Graph& graph, const Node& node) {
  const auto *left = in(graph, node, "a"), *result = out(graph, node, "c");
  if (left == nullptr || result == nullptr || left->dims.empty()) return 0;
  return 2 * result->element_count() * left->dims.back();
}

int64_t attention(const Graph& graph, const Node& node) {
  const auto *q = in(graph, node, "q"), *k = in(graph, node, "k"), *v = in(graph, node, "v");
  if (q == nullptr || k == nullptr || v == nullptr) return 0;
  if (q->dims.size() != 4 || k->dims.size() != 4 || v->dims.size() != 4) return 0;
  return 2 * q->dims[0] * q->dims[1] * pairs(node, q->dims[2], k->dims[2]) *
         (q->dims[3] + v->dims[3]);
}

struct Counted {
  NodeType type;
  int64_t (*count)(const Graph&, const Node&);
  const char* operand;
};
constexpr Counted kCounted[] = {{NodeType::convolution_fwd, convolution, "x"},
                                {NodeType::matmul, product, "a"},
                                {NodeType::sdpa, attention, "q"}};

}  // namespace

uint64_t flops_of(const Graph& graph) {
  int64_t sum = 0;
  for (const auto& node : graph.nodes)
    for (const auto& [type, count, operand] : kCounted)
      if (node.type == type) sum += count(graph, node);
  return static_cast<uint64_t>(sum);
}

graph::DataType product_type(const Graph& graph) {
  for (const auto& node : graph.nodes)
    for (const auto& [type, count, operand] : kCounted) {
      if (node.type != type) continue;
      if (const auto* tensor = in(graph, node, operand)) return tensor->type;
    }
  return graph::DataType::unset;
}

}  // namespace hipplan::run
