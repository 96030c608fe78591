// One flat table of what each node type may hold. Reading, printing, type checks, content key and
// docs/graph-dialect.md all follow it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace hipplan::graph {

/// Which data types a tensor in a role may have.
enum class TypeRule : uint8_t {
  any,
  value,     ///< numbers of one byte or more: floats, fp8, integers, boolean
  floating,  ///< float, half, bfloat16, double, fp8_e4m3, fp8_e5m2
  product,   ///< operands of matrix products: floating, int8, uint8, int32 and the block-scaled
             ///< types
  index,     ///< int32, int64
};
[[nodiscard]] bool allows(TypeRule rule, DataType type);
/// Legal spellings of a rule, for messages.
[[nodiscard]] const char* type_rule_text(TypeRule rule);

/// A tensor reference. Its key is the role with "_tensor_uid", or `key` when that is given.
struct RoleSchema {
  std::string_view role;
  bool required = true;
  TypeRule types = TypeRule::floating;
  bool single_element = false;  ///< a scalar held in a tensor
  bool list = false;            ///< the key holds an array; roles become "<role>_0", "<role>_1", …
  std::string_view key = {};
};

/// Most tensors that a role with `list` may hold.
inline constexpr size_t kMaxListedTensors = 1024;

enum class AttributeKind : uint8_t { flag, integer, number, text, choice, data_type, list };
enum class KeyPlace : uint8_t { node, inputs, outputs, parameters, attributes };
[[nodiscard]] const char* key_place_name(KeyPlace place);

struct AttributeSchema {
  std::string_view key;
  AttributeKind kind;
  KeyPlace place;
  bool required = false;
  std::span<const std::string_view> choices = {};
  int64_t min = INT64_MIN, max = INT64_MAX;  ///< of integers and list elements
  /// Text of the value that an absent key stands for; empty when absence means something of its
  /// own.
  std::string_view fallback = {};
  bool also_in_attributes = false;  ///< accepted inside `attributes` too
  bool derived = false;  ///< follows from the shapes: checked, not part of the content key
};

struct OpSchema {
  NodeType type;
  std::string_view name;  ///< value of `type`
  bool flat = false;      ///< tensor references stand in the node itself
  bool nulls = true;      ///< absent optional keys are printed as null (RMSNorm: left out)
  std::span<const RoleSchema> inputs, outputs;
  std::span<const AttributeSchema> attributes = {};
};

[[nodiscard]] const OpSchema& schema_of(NodeType type);
/// By the value of `type`, or null.
[[nodiscard]] const OpSchema* find_schema(std::string_view type_name);
/// All 23, in the order of NodeType.
[[nodiscard]] std::span<const OpSchema> all_schemas();

/// The key that holds the references of a role.
[[nodiscard]] std::string role_key(const RoleSchema& role);
/// Whether `role` ("x", "peer_stats_3") is an instance of the schema's role.
[[nodiscard]] bool is_role(const RoleSchema& schema, std::string_view role);
/// The schema's role that a reference belongs to, or null.
[[nodiscard]] const RoleSchema* find_role(std::span<const RoleSchema> roles, std::string_view role);
/// Whether the value is what an absent key stands for.
[[nodiscard]] bool is_fallback(const AttributeSchema& schema, const AttributeValue& value);

/// Pointwise operations: name and number of inputs.
struct PointwiseSchema {
  std::string_view operation;
  int inputs;
  enum class Result : uint8_t { number, truth } result = Result::number;
};
[[nodiscard]] const PointwiseSchema* find_pointwise(std::string_view operation);

namespace detail {

/// The largest number of an attribute of type float.
inline constexpr double kFloatMax = std::numeric_limits<float>::max();

// Tables that stand in files of their own.
std::span<const OpSchema> norm_schemas();
std::span<const OpSchema> sdpa_schemas();
}  // namespace detail

}  // namespace hipplan::graph
