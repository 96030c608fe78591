// Data types: names, sizes, classes.
#include <array>

#include "graph/graph.h"
#include "graph/schema.h"

namespace hipplan::graph {
namespace {

struct TypeRow {
  DataType type;
  const char* name;
  unsigned bits;
};

constexpr std::array<TypeRow, 17> kTypes{{
    {DataType::unset, "unset", 0},
    {DataType::float32, "float", 32},
    {DataType::half, "half", 16},
    {DataType::bfloat16, "bfloat16", 16},
    {DataType::float64, "double", 64},
    {DataType::uint8, "uint8", 8},
    {DataType::int32, "int32", 32},
    {DataType::int8, "int8", 8},
    {DataType::fp8_e4m3, "fp8_e4m3", 8},
    {DataType::fp8_e5m2, "fp8_e5m2", 8},
    {DataType::fp8_e8m0, "fp8_e8m0", 8},
    {DataType::fp4_e2m1, "fp4_e2m1", 4},
    {DataType::int4, "int4", 4},
    {DataType::fp6_e2m3, "fp6_e2m3", 6},
    {DataType::fp6_e3m2, "fp6_e3m2", 6},
    {DataType::int64, "int64", 64},
    {DataType::boolean, "boolean", 8},
}};

constexpr bool rows_stand_in_enum_order() {
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].type != static_cast<DataType>(i)) return false;
  return true;
}
static_assert(rows_stand_in_enum_order());

bool is_floating(DataType type) {
  switch (type) {
    case DataType::float32:
    case DataType::half:
    case DataType::bfloat16:
    case DataType::float64:
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
      return true;
    default:
      return false;
  }
}

bool is_sub_byte(DataType type) {
  return bits_of(type) != 0 && bits_of(type) < 8;
}

}  // namespace

const char* data_type_name(DataType type) {
  return kTypes[static_cast<size_t>(type)].name;
}
unsigned bits_of(DataType type) {
  return kTypes[static_cast<size_t>(type)].bits;
}

std::optional<DataType> parse_data_type(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (name == row.name) return row.type;
  return std::nullopt;
}

bool allows(TypeRule rule, DataType type) {
  switch (rule) {
    case TypeRule::any:
      return type != DataType::unset;
    case TypeRule::value:
      return type != DataType::unset && !is_sub_byte(type) && type != DataType::fp8_e8m0;
    case TypeRule::floating:
      return is_floating(type);
    case TypeRule::product:
      return is_floating(type) || is_sub_byte(type) || type == DataType::int8 ||
             type == DataType::uint8 || type == DataType::int32;
    case TypeRule::index:
      return type == DataType::int32 || type == DataType::int64;
  }
  return false;
}

const char* type_rule_text(TypeRule rule) {
  switch (rule) {
    case TypeRule::any:
      return "any data type";
    case TypeRule::value:
      return "float, half, bfloat16, double, fp8_e4m3, fp8_e5m2, uint8, int8, int32, int64 or "
             "boolean";
    case TypeRule::floating:
      return "float, half, bfloat16, double, fp8_e4m3 or fp8_e5m2";
    case TypeRule::product:
      return "float, half, bfloat16, double, fp8_e4m3, fp8_e5m2, fp6_e2m3, fp6_e3m2, fp4_e2m1, "
             "int4, int8, uint8 or int32";
    case TypeRule::index:
      return "int32 or int64";
  }
  return "";
}

}  // namespace hipplan::graph
