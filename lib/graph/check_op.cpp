// What the schema table says about a node, for graphs that no reader has seen, then the shape
// rules.
#include <cmath>

#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

bool is_compute_type(DataType type) {
  switch (type) {
    case DataType::float32:
    case DataType::half:
    case DataType::bfloat16:
    case DataType::float64:
    case DataType::int32:
      return true;
    default:
      return false;
  }
}

Result<void> check_reference(const OpView& view, const RoleSchema* schema, const std::string& role,
                             const Tensor& tensor, const char* side) {
  if (!schema)
    return view.fail("unknown-role",
                     cat(side, " role ", role, " is not one of ", view.schema().name),
                     "a role of docs/graph-dialect.md", role);
  if (!allows(schema->types, tensor.type))
    return view.fail("data-type",
                     cat(side, " ", role, " (uid ", tensor.uid,
                         ") has a data type that the op does "
                         "not take"),
                     type_rule_text(schema->types), data_type_name(tensor.type));
  if (schema->single_element && tensor.element_count() != 1)
    return view.wrong_dims(role, tensor, "one element");
  return {};
}

Result<void> check_roles(const OpView& view, const Graph& graph,
                         const std::vector<Reference>& references,
                         std::span<const RoleSchema> roles, const char* side) {
  if (references.size() > kMaxListedTensors)
    return view.fail("out-of-range", cat("too many ", side, "s"),
                     cat("at most ", kMaxListedTensors), cat(references.size()));
  for (size_t i = 0; i < references.size(); ++i) {
    for (size_t j = 0; j < i; ++j)
      if (references[i].role == references[j].role)
        return view.fail("duplicate-role",
                         cat(side, " role ", references[i].role, " is given twice"), "once",
                         "twice");
    HIPPLAN_TRY(check_reference(view, find_role(roles, references[i].role), references[i].role,
                                graph.tensors[references[i].tensor], side));
  }
  for (const RoleSchema& role : roles) {
    bool present = !role.required;
    for (const Reference& reference : references)
      present = present || is_role(role, reference.role);
    if (!present)
      return view.fail("missing-role", cat("required ", side, " ", role.role, " is missing"),
                       role_key(role), "nothing");
  }
  return {};
}

bool fits(const AttributeSchema& schema, const AttributeValue& value) {
  const auto in_range = [&](int64_t number) {
    return number >= schema.min && number <= schema.max;
  };
  switch (schema.kind) {
    case AttributeKind::flag:
      return std::holds_alternative<bool>(value);
    case AttributeKind::integer:
      return std::holds_alternative<int64_t>(value) && in_range(std::get<int64_t>(value));
    case AttributeKind::number: {
      const auto* number = std::get_if<double>(&value);
      return number && std::abs(*number) <= kFloatMax;
    }
    case AttributeKind::text:
      return std::holds_alternative<std::string>(value);
    case AttributeKind::data_type: {
      const auto* name = std::get_if<std::string>(&value);
      return name && parse_data_type(*name).has_value();
    }
    case AttributeKind::choice: {
      const auto* name = std::get_if<std::string>(&value);
      if (!name) return false;
      for (const std::string_view choice : schema.choices)
        if (choice == *name) return true;
      return false;
    }
    case AttributeKind::list: {
      const auto* list = std::get_if<std::vector<int64_t>>(&value);
      if (!list) return false;
      for (const int64_t number : *list)
        if (!in_range(number)) return false;
      return true;
    }
  }
  return false;
}

Result<void> check_attributes(const OpView& view) {
  for (const Attribute& attribute : view.node().attributes) {
    bool known = false;
    for (const AttributeSchema& schema : view.schema().attributes) {
      if (schema.key != attribute.key) continue;
      known = true;
      if (!fits(schema, attribute.value))
        return view.fail("attribute",
                         cat("attribute ", attribute.key,
                             " has a value that the op "
                             "does not take"),
                         "a value of docs/graph-dialect.md",
                         "another kind of value, or one out of range");
    }
    if (!known)
      return view.fail("unknown-key",
                       cat("attribute ", attribute.key, " is not one of ", view.schema().name),
                       "a key of docs/graph-dialect.md", attribute.key);
  }
  for (const AttributeSchema& schema : view.schema().attributes)
    if (schema.required && !view.node().attribute(schema.key))
      return view.fail("missing-key", cat("required attribute ", schema.key, " is missing"),
                       std::string(schema.key), "nothing");
  return {};
}

}  // namespace

Result<void> check_op(const Graph& graph, size_t node, const std::string& where) {
  const OpView view(graph, node, where);
  const Node& op = graph.nodes[node];
  if (op.compute_type == DataType::unset)
    return view.fail("no-data-type", "no compute data type",
                     "\"compute_data_type\" of the node or the graph", "unset");
  if (!is_compute_type(op.compute_type))
    return view.fail("data-type", "compute data type that nothing computes in",
                     "float, half, bfloat16, double or int32", data_type_name(op.compute_type));
  HIPPLAN_TRY(check_roles(view, graph, op.inputs, view.schema().inputs, "input"));
  HIPPLAN_TRY(check_roles(view, graph, op.outputs, view.schema().outputs, "output"));
  HIPPLAN_TRY(check_attributes(view));
  const ShapeRule rule = shape_rule(op.type);
  if (rule.check) HIPPLAN_TRY(rule.check(view));
  if (!rule.output_dims) return {};
  for (const Reference& output : op.outputs)
    if (const auto dims = rule.output_dims(view, output.role))
      HIPPLAN_TRY(view.want_dims(output.role, graph.tensors[output.tensor], *dims));
  return {};
}

}  // namespace hipplan::graph::detail
