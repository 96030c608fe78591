// Order of the checks, inference, and what the shape rules share.
#include <algorithm>

#include "base/bytes.h"
#include "graph/reader.h"
#include "graph/shape.h"
#include "graph/values.h"

namespace hipplan::graph {

Result<void> check(const Graph& graph, const std::string& where) {
  HIPPLAN_TRY(detail::check_tensors(graph, where));
  HIPPLAN_TRY(detail::check_order(graph, where));
  for (size_t i = 0; i < graph.nodes.size(); ++i) HIPPLAN_TRY(detail::check_op(graph, i, where));
  return {};
}

namespace detail {
namespace {

std::string place_text(const std::string& where, Place place, std::string_view list, size_t index,
                       const std::string& name) {
  std::string out = where;
  if (place.line != 0) out += cat(":", place.line, ":", place.column);
  out += cat(out.empty() ? "" : ": ", list, "[", index, "]");
  if (!name.empty()) out += cat(" \"", name, "\"");
  return out;
}

}  // namespace

std::string dims_text(const Dims& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) out += (i ? ", " : "") + std::to_string(dims[i]);
  return out + "]";
}

std::string node_place(const std::string& where, const Graph& graph, size_t index) {
  return place_text(where, graph.nodes[index].place, "nodes", index, graph.nodes[index].name);
}

std::string tensor_place(const std::string& where, const Graph& graph, size_t index) {
  const Tensor& tensor = graph.tensors[index];
  return place_text(where, tensor.place, "tensors", index, tensor.name);
}

const Tensor* OpView::in(std::string_view role) const {
  const auto found = node_.input(role);
  return found ? &graph_.tensors[*found] : nullptr;
}

const Tensor* OpView::out(std::string_view role) const {
  const auto found = node_.output(role);
  return found ? &graph_.tensors[*found] : nullptr;
}

Error OpView::fail(std::string reason, std::string what, std::string expected,
                   std::string found) const {
  Error error;
  error.code = Code::bad_input;
  error.reason = std::move(reason);
  error.where = node_place(where_, graph_, index_);
  error.what = std::move(what);
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
}

Error OpView::wrong_dims(std::string_view role, const Tensor& tensor, const std::string& expected,
                         std::string why) const {
  const bool is_output = node_.output(role).has_value();
  std::string what =
      cat("dims of ", is_output ? "output " : "input ", role, " (uid ", tensor.uid, ") do not fit");
  if (!why.empty()) what += ": " + why;
  return fail(is_output ? "output-dims" : "input-dims", what, expected, dims_text(tensor.dims));
}

Result<void> OpView::want_rank(std::string_view role, const Tensor& tensor, size_t min,
                               size_t max) const {
  if (tensor.dims.size() >= min && tensor.dims.size() <= max) return {};
  const std::string range = min == max ? cat(min) : cat(min, " to ", max);
  return wrong_dims(role, tensor, cat("rank ", range));
}

Result<void> OpView::want_dims(std::string_view role, const Tensor& tensor, const Dims& dims,
                               std::string why) const {
  if (tensor.dims == dims) return {};
  return wrong_dims(role, tensor, dims_text(dims), std::move(why));
}

std::optional<Dims> broadcast(std::initializer_list<const Dims*> shapes) {
  size_t rank = 0;
  for (const Dims* shape : shapes)
    if (shape) rank = std::max(rank, shape->size());
  Dims out(rank, 1);
  for (const Dims* shape : shapes) {
    if (!shape) continue;
    const size_t skip = rank - shape->size();
    for (size_t i = 0; i < shape->size(); ++i) {
      const int64_t dim = (*shape)[i];
      int64_t& common = out[skip + i];
      if (dim != 1 && common != 1 && dim != common) return std::nullopt;
      if (dim != 1) common = dim;
    }
  }
  return out;
}

std::optional<int64_t> window_places(int64_t in, int64_t pre, int64_t post, int64_t window,
                                     int64_t dilation, int64_t stride) {
  if (window < 1 || stride < 1 || dilation < 1) return std::nullopt;
  const auto reach = checked_mul(window - 1, dilation);
  const auto before = checked_add(in, pre);
  const auto padded = before ? checked_add(*before, post) : std::nullopt;
  if (!reach || !padded || *padded <= *reach) return std::nullopt;
  return (*padded - 1 - *reach) / stride + 1;
}

ShapeRule shape_rule(NodeType type) {
  switch (type) {
    case NodeType::convolution_fwd:
    case NodeType::convolution_bwd:
    case NodeType::convolution_wrw:
      return convolution_rule(type);
    case NodeType::pointwise:
      return pointwise_rule();
    case NodeType::batchnorm_inference:
    case NodeType::batchnorm_inference_variance_ext:
    case NodeType::batchnorm:
    case NodeType::batchnorm_backward:
    case NodeType::layernorm:
    case NodeType::layernorm_backward:
    case NodeType::rmsnorm:
    case NodeType::rmsnorm_backward:
      return norm_rule(type);
    case NodeType::sdpa:
    case NodeType::sdpa_backward:
      return sdpa_rule(type);
    default:
      return other_rule(type);
  }
}

namespace {

void infer_type(const Graph& graph, Tensor& tensor) {
  if (tensor.type != DataType::unset) return;
  if (tensor.value_type.empty())
    tensor.type = tensor.is_virtual ? graph.intermediate_type : graph.io_type;
  else if (const auto row = find_value_type(tensor.value_type))
    tensor.type = row->types.front();
}

}  // namespace

void infer(Graph& graph) {
  for (Tensor& tensor : graph.tensors) infer_type(graph, tensor);
  const std::string nowhere;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    if (node.compute_type == DataType::unset) node.compute_type = graph.compute_type;
    const OpView view(graph, i, nowhere);
    const ShapeRule rule = shape_rule(node.type);
    for (const Reference& output : node.outputs) {
      Tensor& tensor = graph.tensors[output.tensor];
      if (!tensor.dims.empty() || !rule.output_dims) continue;
      if (auto dims = rule.output_dims(view, output.role)) tensor.dims = std::move(*dims);
    }
  }
}

}  // namespace detail
}  // namespace hipplan::graph
