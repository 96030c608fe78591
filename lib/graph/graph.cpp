// Questions to a graph.
#include "graph/graph.h"

#include <algorithm>

#include "base/bytes.h"
#include "graph/schema.h"
#include "graph/uid_index.h"

namespace hipplan::graph {
namespace {

std::optional<size_t> find_reference(const std::vector<Reference>& references,
                                     std::string_view role) {
  for (const Reference& reference : references)
    if (reference.role == role) return reference.tensor;
  return std::nullopt;
}

struct Use {
  bool read = false, written = false;
};

std::vector<Use> uses_of(const Graph& graph) {
  std::vector<Use> uses(graph.tensors.size());
  const auto mark = [&](const std::vector<Reference>& references, bool Use::* flag) {
    for (const Reference& reference : references)
      if (reference.tensor < uses.size()) uses[reference.tensor].*flag = true;
  };
  for (const Node& node : graph.nodes) {
    mark(node.inputs, &Use::read);
    mark(node.outputs, &Use::written);
  }
  for (const size_t offset : detail::ragged_offsets(graph.tensors))
    if (offset != SIZE_MAX) uses[offset].read = true;
  return uses;
}

}  // namespace

const char* node_type_name(NodeType type) {
  return schema_of(type).name.data();
}

int64_t Tensor::element_count() const {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  return count;
}

int64_t Tensor::span_elements() const {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size() && i < strides.size(); ++i) last += (dims[i] - 1) * strides[i];
  return last + 1;
}

int64_t Tensor::span_bytes() const {
  const int64_t bits = bits_of(type), elements = span_elements();
  return bits % 8 == 0 ? elements * (bits / 8) : (elements * bits + 7) / 8;
}

std::optional<size_t> Node::input(std::string_view role) const {
  return find_reference(inputs, role);
}
std::optional<size_t> Node::output(std::string_view role) const {
  return find_reference(outputs, role);
}

const AttributeValue* Node::attribute(std::string_view key) const {
  for (const Attribute& attribute : attributes)
    if (attribute.key == key) return &attribute.value;
  return nullptr;
}

std::optional<bool> Node::flag(std::string_view key) const {
  const auto* value = attribute(key);
  const auto* flag = value ? std::get_if<bool>(value) : nullptr;
  return flag ? std::optional(*flag) : std::nullopt;
}

std::optional<int64_t> Node::integer(std::string_view key) const {
  const auto* value = attribute(key);
  const auto* integer = value ? std::get_if<int64_t>(value) : nullptr;
  return integer ? std::optional(*integer) : std::nullopt;
}

std::optional<double> Node::number(std::string_view key) const {
  const auto* value = attribute(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* integer = std::get_if<int64_t>(value)) return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<std::string> Node::text(std::string_view key) const {
  const auto* value = attribute(key);
  const auto* text = value ? std::get_if<std::string>(value) : nullptr;
  return text ? std::optional(*text) : std::nullopt;
}

const std::vector<int64_t>* Node::list(std::string_view key) const {
  const auto* value = attribute(key);
  return value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
}

std::optional<size_t> Graph::tensor_by_uid(int64_t uid) const {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].uid == uid) return i;
  return std::nullopt;
}

std::vector<size_t> Graph::external_inputs() const {
  const auto uses = uses_of(*this);
  std::vector<size_t> out;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (uses[i].read && !uses[i].written && !tensors[i].is_virtual && !tensors[i].value)
      out.push_back(i);
  return out;
}

std::vector<size_t> Graph::external_outputs() const {
  const auto uses = uses_of(*this);
  std::vector<size_t> out;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (uses[i].written && !tensors[i].is_virtual) out.push_back(i);
  return out;
}

}  // namespace hipplan::graph
