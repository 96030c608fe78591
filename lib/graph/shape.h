// What each op says about the dims of its tensors. Internal to lib/graph.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/schema.h"

namespace hipplan::graph::detail {

using Dims = std::vector<int64_t>;

/// A node with its tensors, and messages that name it.
class OpView {
 public:
  OpView(const Graph& graph, size_t index, const std::string& where)
      : graph_(graph), node_(graph.nodes[index]), index_(index), where_(where) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const OpSchema& schema() const { return schema_of(node_.type); }
  /// The tensor in a role, or null. An input role first.
  [[nodiscard]] const Tensor* in(std::string_view role) const;
  [[nodiscard]] const Tensor* out(std::string_view role) const;

  [[nodiscard]] Error fail(std::string reason, std::string what, std::string expected,
                           std::string found) const;
  /// A tensor whose dims are not as they should be: names role, uid and both dims.
  [[nodiscard]] Error wrong_dims(std::string_view role, const Tensor& tensor,
                                 const std::string& expected, std::string why = {}) const;
  Result<void> want_rank(std::string_view role, const Tensor& tensor, size_t min, size_t max) const;
  /// The dims must be these; `why` says where they come from.
  Result<void> want_dims(std::string_view role, const Tensor& tensor, const Dims& dims,
                         std::string why = {}) const;

 private:
  const Graph& graph_;
  const Node& node_;
  size_t index_;
  const std::string& where_;
};

/// "[1, 2, 3]".
[[nodiscard]] std::string dims_text(const Dims& dims);
/// "file:line:column: nodes[2] \"name\"", and the same for a tensor.
[[nodiscard]] std::string node_place(const std::string& where, const Graph& graph, size_t index);
[[nodiscard]] std::string tensor_place(const std::string& where, const Graph& graph, size_t index);

/// Right-aligned broadcasting: equal dims, or 1 against anything. Nothing when they do not fit.
[[nodiscard]] std::optional<Dims> broadcast(std::initializer_list<const Dims*> shapes);

/// Rules of one node type. Both functions see roles and attributes that agree with the schema.
struct ShapeRule {
  /// Rules over inputs and attributes, and over outputs whose dims the op does not define.
  Result<void> (*check)(const OpView&) = nullptr;
  /// Dims of an output role where the op defines them. Also called before any check: returns
  /// nothing when the inputs do not fit.
  std::optional<Dims> (*output_dims)(const OpView&, std::string_view role) = nullptr;
};
[[nodiscard]] ShapeRule shape_rule(NodeType type);

// One per file shape_*.cpp.
ShapeRule convolution_rule(NodeType type);
ShapeRule pointwise_rule();
ShapeRule norm_rule(NodeType type);
ShapeRule sdpa_rule(NodeType type);
ShapeRule other_rule(NodeType type);

/// Number of places of a sliding window: (in + pre + post - (dilation * (window - 1) + 1)) / stride
/// + 1, or nothing when the window does not fit once or a number overflows. stride, dilation,
/// window must be at least 1, paddings at least 0.
[[nodiscard]] std::optional<int64_t> window_places(int64_t in, int64_t pre, int64_t post,
                                                   int64_t window, int64_t dilation,
                                                   int64_t stride);

// Parts of check().
Result<void> check_tensors(const Graph& graph, const std::string& where);
Result<void> check_order(const Graph& graph, const std::string& where);
Result<void> check_op(const Graph& graph, size_t node, const std::string& where);
/// Whether some element can be reached by two index tuples. Sure for up to 65,536 elements; above
/// that a layout that cannot be shown free of overlap counts as overlapping.
[[nodiscard]] bool overlaps_itself(const Tensor& tensor);

}  // namespace hipplan::graph::detail
