#include <limits>

#include "graph/reader.h"
#include "graph/values.h"

namespace hipplan::graph::detail {
namespace {

using Form = ValueTypeRow::Form;

constexpr DataType kFloat[] = {DataType::float32};
constexpr DataType kHalf[] = {DataType::half};
constexpr DataType kBfloat16[] = {DataType::bfloat16};
constexpr DataType kFloat8[] = {DataType::fp8_e4m3, DataType::fp8_e5m2, DataType::fp8_e8m0};
constexpr DataType kInt32[] = {DataType::int32};
constexpr DataType kInt64[] = {DataType::int64};
constexpr DataType kDouble[] = {DataType::float64};
constexpr DataType kBool[] = {DataType::boolean, DataType::uint8};

constexpr double kHalfMax = 65504;
constexpr double kBfloat16Max = 3.3895313892515355e38;

constexpr ValueTypeRow kValueTypes[] = {
    {"Float32Value", Form::number, kFloatMax, 0, 0, kFloat},
    {"Float16Value", Form::number, kHalfMax, 0, 0, kHalf},
    {"BFloat16Value", Form::number, kBfloat16Max, 0, 0, kBfloat16},
    {"Float8Value", Form::integer, 0, 0, 255, kFloat8},
    {"Int32Value", Form::integer, 0, INT32_MIN, INT32_MAX, kInt32},
    {"Int64Value", Form::integer, 0, INT64_MIN, INT64_MAX, kInt64},
    {"Float64Value", Form::number, std::numeric_limits<double>::max(), 0, 0, kDouble},
    {"BoolValue", Form::flag, 0, 0, 1, kBool},
};

Result<Scalar> read_scalar(const ReadContext& context, const KeyPath& path,
                           const json::Value& value, const ValueTypeRow& row) {
  switch (row.form) {
    case Form::number: {
      HIPPLAN_TRY_ASSIGN(const double number, want_number(context, path, value, row.largest));
      return Scalar(number);
    }
    case Form::integer: {
      HIPPLAN_TRY_ASSIGN(const int64_t integer,
                         want_integer(context, path, value, row.min, row.max));
      return Scalar(integer);
    }
    case Form::flag: {
      HIPPLAN_TRY_ASSIGN(const bool flag, want_flag(context, path, value));
      return Scalar(flag);
    }
  }
  return Scalar(0.0);
}

/// `value_type` and `value`, which stand together or not at all; "NONE" is no value.
Result<void> read_constant(const ReadContext& context, ObjectReader& reader, Tensor& tensor) {
  const json::Value* type = reader.optional("value_type");
  const json::Value* value = reader.optional("value");
  std::string_view name;
  if (type) {
    std::vector<std::string_view> names{"NONE"};
    for (const ValueTypeRow& row : kValueTypes) names.push_back(row.name);
    HIPPLAN_TRY(want_choice(context, reader.path("value_type"), *type, names));
    name = type->string;
  }
  const bool has_type = !name.empty() && name != "NONE";
  if (has_type != (value != nullptr))
    return fail(context, reader.path(value ? "value" : "value_type"), value ? *value : *type,
                "value-pair", "\"value_type\" and \"value\" go together", "both or neither",
                value ? "only \"value\"" : "only \"value_type\"");
  if (!value) return {};
  HIPPLAN_TRY_ASSIGN(tensor.value,
                     read_scalar(context, reader.path("value"), *value, *find_value_type(name)));
  tensor.value_type = name;
  return {};
}

}  // namespace

std::span<const ValueTypeRow> value_types() {
  return kValueTypes;
}

const ValueTypeRow* find_value_type(std::string_view name) {
  for (const ValueTypeRow& row : kValueTypes)
    if (row.name == name) return &row;
  return nullptr;
}

Result<Tensor> read_tensor(const ReadContext& context, size_t index, const json::Value& value) {
  const KeyPath path{.list = "tensors", .index = index};
  HIPPLAN_TRY(want_kind(context, path, value, json::Kind::object));
  ObjectReader reader(context, path, value);
  Tensor tensor;
  tensor.place = {value.line, value.column};
  const auto at = [&](std::string_view key) { return reader.path(key); };

  HIPPLAN_TRY_ASSIGN(const auto* uid, reader.required("uid"));
  HIPPLAN_TRY_ASSIGN(tensor.uid, want_integer(context, at("uid"), *uid));
  HIPPLAN_TRY_ASSIGN(const auto* name, reader.required("name"));
  HIPPLAN_TRY_ASSIGN(tensor.name, want_text(context, at("name"), *name));
  HIPPLAN_TRY_ASSIGN(const auto* type, reader.required("data_type"));
  HIPPLAN_TRY_ASSIGN(tensor.type, want_data_type(context, at("data_type"), *type));
  // Dims may be left out where the op defines them; a layout is never guessed.
  if (const auto* dims = reader.optional("dims")) {
    HIPPLAN_TRY_ASSIGN(tensor.dims, want_list(context, at("dims"), *dims));
  }
  HIPPLAN_TRY_ASSIGN(const auto* strides, reader.required("strides"));
  HIPPLAN_TRY_ASSIGN(tensor.strides, want_list(context, at("strides"), *strides));
  HIPPLAN_TRY_ASSIGN(const auto* is_virtual, reader.required("virtual"));
  HIPPLAN_TRY_ASSIGN(tensor.is_virtual, want_flag(context, at("virtual"), *is_virtual));

  if (const auto* flag = reader.optional("is_runtime_pass_by_value")) {
    HIPPLAN_TRY_ASSIGN(tensor.runtime_pass_by_value,
                       want_flag(context, at("is_runtime_pass_by_value"), *flag));
  }
  if (const auto* alignment = reader.optional("alignment")) {
    HIPPLAN_TRY_ASSIGN(tensor.alignment, want_integer(context, at("alignment"), *alignment));
  }
  if (const auto* offset = reader.optional("ragged_offset_tensor_uid")) {
    HIPPLAN_TRY_ASSIGN(tensor.ragged_offset_uid,
                       want_integer(context, at("ragged_offset_tensor_uid"), *offset));
  }
  if (const auto* multiplier = reader.optional("ragged_offset_multiplier")) {
    HIPPLAN_TRY_ASSIGN(tensor.ragged_offset_multiplier,
                       want_integer(context, at("ragged_offset_multiplier"), *multiplier));
  }
  HIPPLAN_TRY(read_constant(context, reader, tensor));
  HIPPLAN_TRY(reader.finish());
  return tensor;
}

}  // namespace hipplan::graph::detail
