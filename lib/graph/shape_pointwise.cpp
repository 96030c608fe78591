// Pointwise: all inputs broadcast, aligned at the last dim, to the dims of the output.
#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

constexpr const char* kInputs[] = {"in_0", "in_1", "in_2"};

const Dims* dims_of(const Tensor* tensor) {
  return tensor ? &tensor->dims : nullptr;
}

std::optional<Dims> common_dims(const OpView& view) {
  for (const char* role : kInputs)
    if (const Tensor* tensor = view.in(role); tensor && tensor->dims.empty()) return std::nullopt;
  return broadcast({dims_of(view.in("in_0")), dims_of(view.in("in_1")), dims_of(view.in("in_2"))});
}

Result<void> check_arity(const OpView& view, const PointwiseSchema& schema) {
  for (int i = 0; i < 3; ++i) {
    const bool present = view.in(kInputs[i]) != nullptr, wanted = i < schema.inputs;
    if (present == wanted) continue;
    return view.fail("pointwise-inputs",
                     cat("operation ", schema.operation,
                         wanted ? " needs input " : " has no input ", kInputs[i]),
                     cat(schema.inputs, " inputs"), wanted ? "none there" : "one there");
  }
  return {};
}

Result<void> check_settings(const OpView& view, const PointwiseSchema& schema, size_t rank) {
  const auto axis = view.node().integer("axis_tensor_uid");
  if (schema.operation == "gen_index" && !axis)
    return view.fail("pointwise-axis", "gen_index needs axis_tensor_uid, the axis it counts along",
                     cat("0 to ", rank - 1), "nothing");
  if (axis && (*axis < 0 || *axis >= static_cast<int64_t>(rank)))
    return view.fail("pointwise-axis", "axis_tensor_uid is not an axis of the output",
                     cat("0 to ", rank - 1), cat(*axis));
  const auto low = view.node().number("relu_lower_clip"),
             high = view.node().number("relu_upper_clip");
  if (low && high && *low > *high)
    return view.fail("pointwise-clip", "relu_lower_clip is above relu_upper_clip",
                     cat("at most ", *high), cat(*low));
  return {};
}

Result<void> check_pointwise(const OpView& view) {
  const auto operation = view.node().text("operation");
  const PointwiseSchema* schema = operation ? find_pointwise(*operation) : nullptr;
  if (!schema || schema->inputs == 0)
    return view.fail("pointwise-operation", "operation is not set", "a pointwise operation",
                     operation.value_or("nothing"));
  HIPPLAN_TRY(check_arity(view, *schema));
  if (!common_dims(view)) {
    std::string found;
    for (const char* role : kInputs)
      if (const Tensor* tensor = view.in(role))
        found += (found.empty() ? "" : " and ") + dims_text(tensor->dims);
    return view.fail("broadcast", "the inputs do not broadcast to common dims",
                     "equal dims, or 1 against any", found);
  }
  return check_settings(view, *schema, view.out("out_0")->dims.size());
}

std::optional<Dims> pointwise_dims(const OpView& view, std::string_view) {
  return common_dims(view);
}

}  // namespace

ShapeRule pointwise_rule() {
  return {check_pointwise, pointwise_dims};
}

}  // namespace hipplan::graph::detail
