// The graph's meaning as bytes: equal bytes are equal meaning, and their SHA-256 is the content
// key. Every piece is typed by its position or length-prefixed, so that no two meanings share an
// encoding.
#include <algorithm>
#include <bit>

#include "base/bytes.h"
#include "graph/schema.h"
#include "graph/uid_index.h"

namespace hipplan::graph {
namespace {

constexpr std::string_view kVersion = "hipplan graph content 1";

class Encoder {
 public:
  Encoder& number(uint64_t value) {
    append(out_, value);
    return *this;
  }
  Encoder& number(int64_t value) { return number(static_cast<uint64_t>(value)); }
  Encoder& text(std::string_view value) {
    number(uint64_t{value.size()});
    append(out_, as_bytes(value));
    return *this;
  }
  Encoder& list(const std::vector<int64_t>& values) {
    number(uint64_t{values.size()});
    for (const int64_t value : values) number(value);
    return *this;
  }
  Encoder& flag(bool value) { return number(uint64_t{value}); }
  [[nodiscard]] Bytes take() { return std::move(out_); }

  // AttributeValue and Scalar: the kind, then the value.
  void value(bool v) { number(uint64_t{1}).flag(v); }
  void value(int64_t v) { number(uint64_t{2}).number(v); }
  void value(double v) { number(uint64_t{3}).number(std::bit_cast<uint64_t>(v)); }
  void value(const std::string& v) { number(uint64_t{4}).text(v); }
  void value(const std::vector<int64_t>& v) { number(uint64_t{5}).list(v); }

 private:
  Bytes out_;
};

/// `ragged_offset`: position of the tensor with the offsets plus 1, 0 for none.
void encode(Encoder& out, const Tensor& tensor, uint64_t ragged_offset) {
  out.text(data_type_name(tensor.type)).list(tensor.dims).list(tensor.strides);
  out.flag(tensor.is_virtual).flag(tensor.runtime_pass_by_value).number(tensor.alignment);
  out.number(ragged_offset).number(tensor.ragged_offset_multiplier);
  out.text(tensor.value ? tensor.value_type : "");
  if (tensor.value) std::visit([&](auto value) { out.value(value); }, *tensor.value);
}

/// In the order of the schema, so that the order in the file does not matter.
void encode(Encoder& out, std::span<const RoleSchema> roles, const std::vector<Reference>& list) {
  out.number(uint64_t{list.size()});
  for (const RoleSchema& role : roles)
    for (const Reference& reference : list)
      if (is_role(role, reference.role))
        out.text(reference.role).number(uint64_t{reference.tensor});
}

void encode(Encoder& out, const Node& node) {
  const OpSchema& schema = schema_of(node.type);
  out.text(schema.name).text(data_type_name(node.compute_type));
  encode(out, schema.inputs, node.inputs);
  encode(out, schema.outputs, node.outputs);
  for (const AttributeSchema& attribute : schema.attributes) {
    const AttributeValue* value = node.attribute(attribute.key);
    if (!value || attribute.derived || is_fallback(attribute, *value)) continue;
    out.text(attribute.key);
    std::visit([&](const auto& v) { out.value(v); }, *value);
  }
  out.text("");
}

Bytes encode(const Graph& graph) {
  Encoder out;
  out.text(kVersion).number(uint64_t{graph.tensors.size()});
  const auto offsets = detail::ragged_offsets(graph.tensors);
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    encode(out, graph.tensors[i], uint64_t{offsets[i]} + 1);
  out.number(uint64_t{graph.nodes.size()});
  for (const Node& node : graph.nodes) encode(out, node);
  return out.take();
}

}  // namespace

Digest content_key(const Graph& graph) {
  return sha256(encode(graph));
}

bool same_meaning(const Graph& a, const Graph& b) {
  if (a.nodes.empty() || b.nodes.empty()) return false;
  return encode(a) == encode(b);
}

}  // namespace hipplan::graph
