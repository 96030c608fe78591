#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/element.h"
#include "reference/node.h"
#include "reference/pointwise_modes.h"
#include "reference/reference.h"

namespace hipplan::reference {
namespace {

using graph::NodeType;

struct Evaluator {
  NodeType type;
  Evaluated (*evaluate)(const Context&);
};
constexpr Evaluator kEvaluators[] = {
    {NodeType::pointwise, evaluate_pointwise},
    {NodeType::convolution_fwd, evaluate_convolution_fwd},
    {NodeType::matmul, evaluate_matmul},
    {NodeType::batchnorm_inference, evaluate_batchnorm_inference},
    {NodeType::batchnorm_inference_variance_ext, evaluate_batchnorm_inference},
    {NodeType::layernorm, evaluate_layernorm},
    {NodeType::rmsnorm, evaluate_rmsnorm},
    {NodeType::reduction, evaluate_reduction},
    {NodeType::sdpa, evaluate_sdpa},
};

const Evaluator* find_evaluator(NodeType type) {
  for (const auto& e : kEvaluators)
    if (e.type == type) return &e;
  return nullptr;
}

Error unsupported(const std::string& where, const std::string& what) {
  return {Code::negative,
          "reference-unsupported",
          where,
          what + " is not evaluated by the CPU reference",
          "",
          "",
          ""};
}

std::string place_of(const graph::Node& node) {
  return "node '" + node.name + "'";
}
std::string place_of(const graph::Tensor& tensor) {
  return cat("tensor ", tensor.uid, " '", tensor.name, "'");
}

double scalar_value(const graph::Scalar& scalar) {
  return std::visit([](auto v) { return static_cast<double>(v); }, scalar);
}

/// A constant fills its tensor with one value.
Operand constant(const graph::Tensor& tensor) {
  auto data = std::make_shared<Dense>();
  data->values.assign(static_cast<size_t>(tensor.element_count()),
                      rounded(tensor.type, scalar_value(*tensor.value)));
  return {&tensor, nullptr, std::move(data)};
}

Result<Operand> from_caller(const graph::Tensor& tensor, const Inputs& inputs) {
  const auto found = inputs.find(tensor.uid);
  if (found == inputs.end())
    return Error{
        Code::bad_input, "missing-input", place_of(tensor), "no data for this input", "", "", ""};
  const auto needed = static_cast<uint64_t>(tensor.span_bytes());
  if (found->second.size() < needed)
    return Error{Code::bad_input,
                 "input-size",
                 place_of(tensor),
                 "the input buffer is too short",
                 cat(needed, " bytes"),
                 cat(found->second.size(), " bytes"),
                 ""};
  return Operand{&tensor, found->second.data(), nullptr};
}

Result<std::vector<Operand>> starting_operands(const graph::Graph& graph, const Inputs& inputs) {
  std::vector<Operand> out(graph.tensors.size());
  for (const size_t i : graph.external_inputs()) {
    HIPPLAN_TRY_ASSIGN(out[i], from_caller(graph.tensors[i], inputs));
  }
  for (size_t i = 0; i < out.size(); ++i)
    if (graph.tensors[i].value) out[i] = constant(graph.tensors[i]);
  return out;
}

constexpr int64_t kPiece = 65536;

template <class Work>
void for_pieces(size_t count, unsigned jobs, const Work& work) {
  const auto pieces = (count + kPiece - 1) / kPiece;
  parallel_for(pieces, jobs, [&](size_t piece) {
    const size_t begin = piece * kPiece, end = std::min(count, begin + kPiece);
    for (size_t i = begin; i < end; ++i) work(i);
  });
}

/// What later nodes read: values as stored in the tensor's type, errors with both roundings (the
/// kernel's and ours; a fused kernel may do without).
Operand stored(const graph::Tensor& tensor, const Dense& data, unsigned jobs) {
  auto out = std::make_shared<Dense>();
  out->values.resize(data.values.size());
  out->errors.resize(data.values.size());
  for_pieces(data.values.size(), jobs, [&](size_t i) {
    const double error = data.errors.empty() ? 0.0 : data.errors[i];
    const double store = store_error(tensor.type, data.values[i], error);
    out->values[i] = rounded(tensor.type, data.values[i]);
    out->errors[i] = upward(error + 2 * store);
  });
  const bool exact =
      std::all_of(out->errors.begin(), out->errors.end(), [](float e) { return e == 0; });
  if (exact) out->errors.clear();
  return {&tensor, nullptr, std::move(out)};
}

Output finished(const graph::Tensor& tensor, Dense&& data, unsigned jobs) {
  Output out;
  out.bounds = std::move(data.errors);
  out.bounds.resize(data.values.size(), 0.0f);
  for_pieces(data.values.size(), jobs, [&](size_t i) {
    const double error = out.bounds[i];
    out.bounds[i] = upward(error + store_error(tensor.type, data.values[i], error));
  });
  out.values = std::move(data.values);
  return out;
}

/// For each tensor the position after the last node that reads it.
std::vector<size_t> last_reads(const graph::Graph& graph) {
  std::vector<size_t> out(graph.tensors.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const auto& reference : graph.nodes[n].inputs) out[reference.tensor] = n + 1;
  return out;
}

Result<void> evaluate_node(const graph::Graph& graph, size_t n, const std::vector<size_t>& last,
                           std::vector<Operand>& operands, Outputs& outputs, unsigned jobs) {
  const graph::Node& node = graph.nodes[n];
  for (const auto& reference : node.inputs)
    if (!operands[reference.tensor].ready())
      return Error{Code::bad_input,
                   "missing-input",
                   place_of(graph.tensors[reference.tensor]),
                   "read before it is written",
                   "",
                   "",
                   ""};
  const Context context{graph, node, operands, compute_roundoff(graph, node), jobs, place_of(node)};
  HIPPLAN_TRY_ASSIGN(auto computed, find_evaluator(node.type)->evaluate(context));
  for (auto& one : computed) {
    const graph::Tensor& tensor = graph.tensors[one.tensor];
    if (last[one.tensor] > n + 1) operands[one.tensor] = stored(tensor, one.data, jobs);
    if (!tensor.is_virtual) outputs[tensor.uid] = finished(tensor, std::move(one.data), jobs);
  }
  for (size_t i = 0; i < operands.size(); ++i)
    if (last[i] == n + 1) operands[i].dense.reset();  // its memory is no longer needed
  return {};
}

}  // namespace

Result<void> supported(const graph::Graph& graph) {
  for (const auto& tensor : graph.tensors) {
    if (tensor.ragged_offset_uid) return unsupported(place_of(tensor), "a ragged tensor");
    if (tensor.type == graph::DataType::unset)
      return unsupported(place_of(tensor), "a tensor without a data type");
  }
  for (const auto& node : graph.nodes) {
    if (find_evaluator(node.type) == nullptr)
      return unsupported(place_of(node), graph::node_type_name(node.type));
    if (node.type == NodeType::sdpa) HIPPLAN_TRY(sdpa_supported(graph, node));
    if (node.type == NodeType::pointwise) {
      const auto operation = node.text("operation").value_or("unset");
      if (pointwise_mode(operation) == nullptr)
        return unsupported(place_of(node), "pointwise operation '" + operation + "'");
    }
  }
  return {};
}

Result<Outputs> evaluate(const graph::Graph& graph, const Inputs& inputs, unsigned jobs) {
  HIPPLAN_TRY(supported(graph));
  HIPPLAN_TRY_ASSIGN(auto operands, starting_operands(graph, inputs));
  const auto last = last_reads(graph);
  Outputs outputs;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    HIPPLAN_TRY(evaluate_node(graph, n, last, operands, outputs, jobs));
  for (const size_t i : graph.external_outputs())
    if (!outputs.contains(graph.tensors[i].uid))
      return unsupported(place_of(graph.tensors[i]), "this output of its node");
  return outputs;
}

}  // namespace hipplan::reference
