// The dialect's JSON again, in one canonical form.
#include "graph/schema.h"
#include "json/json.h"

namespace hipplan::graph {
namespace {

using json::Writer;

/// A list on one line.
void write_list(Writer& writer, std::string_view key, const std::vector<int64_t>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i ? ", " : "") + std::to_string(list[i]);
  writer.key(key).raw(text + "]");
}

void write_tensor(Writer& writer, const Tensor& tensor) {
  writer.begin_object();
  writer.member("uid", tensor.uid);
  writer.member("name", tensor.name);
  writer.member("data_type", data_type_name(tensor.type));
  write_list(writer, "dims", tensor.dims);
  write_list(writer, "strides", tensor.strides);
  writer.member("virtual", tensor.is_virtual);
  writer.member("alignment", tensor.alignment);
  writer.member("is_runtime_pass_by_value", tensor.runtime_pass_by_value);
  if (tensor.ragged_offset_uid)
    writer.member("ragged_offset_tensor_uid", *tensor.ragged_offset_uid);
  if (tensor.ragged_offset_multiplier != 1)
    writer.member("ragged_offset_multiplier", tensor.ragged_offset_multiplier);
  if (tensor.value) {
    writer.member("value_type", tensor.value_type);
    writer.key("value");
    std::visit([&](auto value) { writer.value(value); }, *tensor.value);
  }
  writer.end_object();
}

class NodePrinter {
 public:
  NodePrinter(Writer& writer, const Graph& graph, const Node& node)
      : writer_(writer), graph_(graph), node_(node), schema_(schema_of(node.type)) {}

  void print() {
    writer_.begin_object();
    writer_.member("name", node_.name);
    writer_.member("type", schema_.name);
    writer_.member("compute_data_type", data_type_name(node_.compute_type));
    if (schema_.flat) {
      references(schema_.inputs, node_.inputs);
      references(schema_.outputs, node_.outputs);
    } else {
      object(KeyPlace::inputs, schema_.inputs, node_.inputs);
      object(KeyPlace::outputs, schema_.outputs, node_.outputs);
    }
    for (const KeyPlace place : {KeyPlace::parameters, KeyPlace::attributes})
      if (has_keys(place)) object(place, {}, {});
    attributes(KeyPlace::node);
    writer_.end_object();
  }

 private:
  [[nodiscard]] bool has_keys(KeyPlace place) const {
    for (const AttributeSchema& attribute : schema_.attributes)
      if (attribute.place == place) return true;
    return false;
  }
  void object(KeyPlace place, std::span<const RoleSchema> roles,
              const std::vector<Reference>& list) {
    writer_.key(key_place_name(place)).begin_object();
    attributes(place);
    references(roles, list);
    writer_.end_object();
  }
  void references(std::span<const RoleSchema> roles, const std::vector<Reference>& list) {
    for (const RoleSchema& role : roles) {
      if (role.list) {
        reference_list(role, list);
        continue;
      }
      const Reference* found = nullptr;
      for (const Reference& reference : list)
        if (is_role(role, reference.role)) found = &reference;
      if (found)
        writer_.member(role_key(role), graph_.tensors[found->tensor].uid);
      else if (schema_.nulls)
        writer_.key(role_key(role)).null();
    }
  }
  void reference_list(const RoleSchema& role, const std::vector<Reference>& list) {
    std::vector<int64_t> uids;
    for (const Reference& reference : list)
      if (is_role(role, reference.role)) uids.push_back(graph_.tensors[reference.tensor].uid);
    if (!uids.empty() || schema_.nulls) write_list(writer_, role_key(role), uids);
  }
  void attributes(KeyPlace place) {
    for (const AttributeSchema& schema : schema_.attributes) {
      if (schema.place != place) continue;
      const AttributeValue* value = node_.attribute(schema.key);
      if (value)
        attribute(schema.key, *value);
      else if (schema_.nulls && !schema.derived)
        writer_.key(schema.key).null();
    }
  }
  void attribute(std::string_view key, const AttributeValue& value) {
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
      return write_list(writer_, key, *list);
    writer_.key(key);
    if (const auto* flag = std::get_if<bool>(&value)) writer_.value(*flag);
    if (const auto* integer = std::get_if<int64_t>(&value)) writer_.value(*integer);
    if (const auto* number = std::get_if<double>(&value)) writer_.value(*number);
    if (const auto* text = std::get_if<std::string>(&value)) writer_.value(*text);
  }

  Writer& writer_;
  const Graph& graph_;
  const Node& node_;
  const OpSchema& schema_;
};

void write_version(Writer& writer, const std::string& version) {
  writer.key("min_required_engine_api_version").begin_object();
  size_t at = 0;
  for (const char* key : {"major", "minor", "patch"}) {
    const size_t end = std::min(version.find('.', at), version.size());
    writer.key(key).raw(version.substr(at, end - at));
    at = std::min(end + 1, version.size());
  }
  writer.end_object();
}

}  // namespace

std::string print_graph(const Graph& graph) {
  Writer writer;
  writer.begin_object();
  writer.member("name", graph.name);
  writer.member("compute_data_type", data_type_name(graph.compute_type));
  writer.member("io_data_type", data_type_name(graph.io_type));
  writer.member("intermediate_data_type", data_type_name(graph.intermediate_type));
  writer.member("is_override_shape_enabled", graph.override_shape_enabled);
  if (graph.preferred_engine_id) writer.member("preferred_engine_id", *graph.preferred_engine_id);
  if (graph.id) writer.member("id", *graph.id);
  if (graph.min_engine_api_version) write_version(writer, *graph.min_engine_api_version);
  writer.key("tensors").begin_array();
  for (const Tensor& tensor : graph.tensors) write_tensor(writer, tensor);
  writer.end_array();
  writer.key("nodes").begin_array();
  for (const Node& node : graph.nodes) NodePrinter(writer, graph, node).print();
  writer.end_array();
  writer.end_object();
  return writer.text() + "\n";
}

}  // namespace hipplan::graph
