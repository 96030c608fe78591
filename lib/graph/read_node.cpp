// Nodes: the schema table says which keys stand where.
#include <array>

#include "graph/reader.h"

namespace hipplan::graph::detail {
namespace {

/// The node object and the objects in it that the node type uses.
class NodeReader {
 public:
  NodeReader(const ReadContext& context, size_t index, const json::Value& value,
             const UidIndex& uids)
      : context_(context),
        index_(index),
        value_(value),
        uids_(uids),
        readers_{ObjectReader(context, path(KeyPlace::node), value), {}, {}, {}, {}} {}

  Result<Node> read() {
    Node node;
    node.place = {value_.line, value_.column};
    HIPPLAN_TRY_ASSIGN(schema_, read_type());
    node.type = schema_->type;
    ObjectReader& own = *readers_[0];
    HIPPLAN_TRY_ASSIGN(const auto* name, own.required("name"));
    HIPPLAN_TRY_ASSIGN(node.name, want_text(context_, own.path("name"), *name));
    HIPPLAN_TRY_ASSIGN(const auto* type, own.required("compute_data_type"));
    HIPPLAN_TRY_ASSIGN(node.compute_type,
                       want_data_type(context_, own.path("compute_data_type"), *type));
    HIPPLAN_TRY(open_objects());
    HIPPLAN_TRY(read_references(schema_->inputs, KeyPlace::inputs, node.inputs));
    HIPPLAN_TRY(read_references(schema_->outputs, KeyPlace::outputs, node.outputs));
    for (const AttributeSchema& attribute : schema_->attributes)
      HIPPLAN_TRY(read_attribute(attribute, node));
    for (auto& reader : readers_)
      if (reader) HIPPLAN_TRY(reader->finish());
    return node;
  }

 private:
  [[nodiscard]] KeyPath path(KeyPlace place) const {
    return {.list = "nodes", .index = index_, .object = key_place_name(place), .key = {}};
  }
  std::optional<ObjectReader>& reader(KeyPlace place) {
    return readers_[static_cast<size_t>(place)];
  }

  Result<const OpSchema*> read_type() {
    HIPPLAN_TRY_ASSIGN(const auto* type, readers_[0]->required("type"));
    HIPPLAN_TRY(want_kind(context_, readers_[0]->path("type"), *type, json::Kind::string));
    if (const OpSchema* schema = find_schema(type->string)) return schema;
    std::vector<std::string_view> names;
    for (const OpSchema& schema : all_schemas()) names.push_back(schema.name);
    return want_choice(context_, readers_[0]->path("type"), *type, names).error();
  }

  /// Whether keys of this node type stand in that object, and whether one of them is required.
  struct Use {
    bool used = false, required = false;
  };
  [[nodiscard]] Use use_of(KeyPlace place) const {
    Use use;
    const auto roles = place == KeyPlace::inputs    ? schema_->inputs
                       : place == KeyPlace::outputs ? schema_->outputs
                                                    : std::span<const RoleSchema>();
    if (!schema_->flat)
      for (const RoleSchema& role : roles) use = {true, use.required || role.required};
    for (const AttributeSchema& attribute : schema_->attributes) {
      if (attribute.place == place) use = {true, use.required || attribute.required};
      if (attribute.also_in_attributes && place == KeyPlace::attributes) use.used = true;
    }
    return use;
  }

  Result<void> open_objects() {
    for (const KeyPlace place :
         {KeyPlace::inputs, KeyPlace::outputs, KeyPlace::parameters, KeyPlace::attributes}) {
      const Use use = use_of(place);
      if (!use.used) continue;
      const std::string_view key = key_place_name(place);
      const json::Value* object = nullptr;
      if (use.required) {
        HIPPLAN_TRY_ASSIGN(object, readers_[0]->required(key));
      } else {
        object = readers_[0]->optional(key);
      }
      if (!object) continue;
      HIPPLAN_TRY(want_kind(context_, path(place), *object, json::Kind::object));
      reader(place).emplace(context_, path(place), *object);
    }
    return {};
  }

  Result<void> read_references(std::span<const RoleSchema> roles, KeyPlace place,
                               std::vector<Reference>& out) {
    auto& source = schema_->flat ? readers_[0] : reader(place);
    if (!source) return {};
    out.reserve(roles.size());
    for (const RoleSchema& role : roles) {
      const std::string key = role_key(role);
      const json::Value* value = source->optional(key);
      if (!value && role.required) {
        HIPPLAN_TRY_ASSIGN(value, source->required(key));
      }
      if (!value) continue;
      if (!role.list) {
        HIPPLAN_TRY(read_reference(std::string(role.role), source->path(key), *value, out));
        continue;
      }
      HIPPLAN_TRY(want_kind(context_, source->path(key), *value, json::Kind::array));
      if (role.required && value->items.empty())
        return fail(context_, source->path(key), *value, "missing-key", "list is empty",
                    "at least one tensor uid", "none");
      if (value->items.size() > kMaxListedTensors)
        return fail(context_, source->path(key), *value, "out-of-range", "too many tensors",
                    cat("at most ", kMaxListedTensors), cat(value->items.size()));
      for (size_t i = 0; i < value->items.size(); ++i)
        HIPPLAN_TRY(
            read_reference(cat(role.role, "_", i), source->path(key), value->items[i], out));
    }
    return {};
  }

  Result<void> read_reference(std::string role, const KeyPath& where, const json::Value& value,
                              std::vector<Reference>& out) {
    HIPPLAN_TRY_ASSIGN(const int64_t uid, want_integer(context_, where, value));
    const auto tensor = uids_.find(uid);
    if (!tensor)
      return fail(context_, where, value, "dangling-uid",
                  cat("tensor uid ", uid, " is not in \"tensors\""), "uid of a tensor of the graph",
                  cat(uid));
    out.push_back({std::move(role), *tensor});
    return {};
  }

  Result<void> read_attribute(const AttributeSchema& schema, Node& node) {
    auto* source = &reader(schema.place);
    const json::Value* value = *source ? (*source)->optional(schema.key) : nullptr;
    if (auto& second = reader(KeyPlace::attributes); schema.also_in_attributes && second) {
      const json::Value* other = second->optional(schema.key);
      if (value && other)
        return fail(context_, second->path(schema.key), *other, "duplicate-key",
                    cat("\"", schema.key, "\" stands in the node and in its \"attributes\""),
                    "one of them", "both");
      if (other) {
        value = other;
        source = &second;
      }
    }
    if (!value && schema.required) {
      HIPPLAN_TRY_ASSIGN(value, (*source)->required(schema.key));
    }
    if (!value) return {};
    HIPPLAN_TRY_ASSIGN(AttributeValue read,
                       read_value(schema, (*source)->path(schema.key), *value));
    node.attributes.push_back({std::string(schema.key), std::move(read)});
    return {};
  }

  template <class T>
  static Result<AttributeValue> widen(Result<T> result) {
    if (!result) return std::move(result).error();
    return AttributeValue(std::move(result).value());
  }

  Result<AttributeValue> read_value(const AttributeSchema& schema, const KeyPath& where,
                                    const json::Value& value) {
    switch (schema.kind) {
      case AttributeKind::flag:
        return widen(want_flag(context_, where, value));
      case AttributeKind::integer:
        return widen(want_integer(context_, where, value, schema.min, schema.max));
      case AttributeKind::number:
        return widen(want_number(context_, where, value, kFloatMax));
      case AttributeKind::text:
        return widen(want_text(context_, where, value));
      case AttributeKind::choice:
        return widen(want_choice(context_, where, value, schema.choices));
      case AttributeKind::list:
        return widen(want_list(context_, where, value, schema.min, schema.max));
      case AttributeKind::data_type: {
        HIPPLAN_TRY_ASSIGN(const DataType type, want_data_type(context_, where, value, true));
        return AttributeValue(std::string(data_type_name(type)));
      }
    }
    return AttributeValue(false);
  }

  const ReadContext& context_;
  size_t index_;
  const json::Value& value_;
  const UidIndex& uids_;
  const OpSchema* schema_ = nullptr;
  std::array<std::optional<ObjectReader>, 5> readers_;  ///< by KeyPlace
};

}  // namespace

Result<Node> read_node(const ReadContext& context, size_t index, const json::Value& value,
                       const UidIndex& uids) {
  HIPPLAN_TRY(want_kind(context, {.list = "nodes", .index = index}, value, json::Kind::object));
  return NodeReader(context, index, value, uids).read();
}

}  // namespace hipplan::graph::detail
