#include "graph/schema.h"

#include <array>
#include <charconv>

namespace hipplan::graph {
namespace {

using enum AttributeKind;
using Role = RoleSchema;
using Key = AttributeSchema;
using Schema = OpSchema;
using Text = std::string_view;

// Pointwise -------------------------------------------------------------------------------------

constexpr auto kTruth = PointwiseSchema::Result::truth;
constexpr PointwiseSchema kPointwise[] = {
    {"unset", 0},
    {"abs", 1},
    {"add", 2},
    {"add_square", 2},
    {"binary_select", 3},
    {"ceil", 1},
    {"cmp_eq", 2, kTruth},
    {"cmp_ge", 2, kTruth},
    {"cmp_gt", 2, kTruth},
    {"cmp_le", 2, kTruth},
    {"cmp_lt", 2, kTruth},
    {"cmp_neq", 2, kTruth},
    {"div", 2},
    {"elu_bwd", 2},
    {"elu_fwd", 1},
    {"erf", 1},
    {"exp", 1},
    {"floor", 1},
    {"gelu_approx_tanh_bwd", 2},
    {"gelu_approx_tanh_fwd", 1},
    {"gelu_bwd", 2},
    {"gelu_fwd", 1},
    {"gen_index", 1},
    {"identity", 1},
    {"log", 1},
    {"logical_and", 2, kTruth},
    {"logical_not", 1, kTruth},
    {"logical_or", 2, kTruth},
    {"max_op", 2},
    {"min_op", 2},
    {"mul", 2},
    {"neg", 1},
    {"reciprocal", 1},
    {"relu_bwd", 2},
    {"relu_fwd", 1},
    {"rsqrt", 1},
    {"sigmoid_bwd", 2},
    {"sigmoid_fwd", 1},
    {"sin", 1},
    {"softplus_bwd", 2},
    {"softplus_fwd", 1},
    {"sqrt", 1},
    {"sub", 2},
    {"swish_bwd", 2},
    {"swish_fwd", 1},
    {"tan", 1},
    {"tanh_bwd", 2},
    {"tanh_fwd", 1},
};

constexpr auto kOperations = [] {
  std::array<Text, std::size(kPointwise)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kPointwise[i].operation;
  return names;
}();

constexpr Role kPointwiseIn[] = {{"in_0", true, TypeRule::value},
                                 {"in_1", false, TypeRule::value},
                                 {"in_2", false, TypeRule::value}};
constexpr Role kPointwiseOut[] = {{"out_0", true, TypeRule::value}};
constexpr Key kPointwiseKeys[] = {
    {.key = "operation",
     .kind = choice,
     .place = KeyPlace::inputs,
     .required = true,
     .choices = kOperations},
    {.key = "axis_tensor_uid", .kind = integer, .place = KeyPlace::inputs},
    {.key = "relu_lower_clip", .kind = number, .place = KeyPlace::inputs},
    {.key = "relu_upper_clip", .kind = number, .place = KeyPlace::inputs},
    {.key = "relu_lower_clip_slope", .kind = number, .place = KeyPlace::inputs},
    {.key = "swish_beta", .kind = number, .place = KeyPlace::inputs},
    {.key = "elu_alpha", .kind = number, .place = KeyPlace::inputs},
    {.key = "softplus_beta", .kind = number, .place = KeyPlace::inputs},
};

// Convolution -----------------------------------------------------------------------------------

constexpr Text kConvModes[] = {"UNSET", "CONVOLUTION", "CROSS_CORRELATION"};
constexpr Key kConvKeys[] = {
    {.key = "conv_mode",
     .kind = choice,
     .place = KeyPlace::parameters,
     .required = true,
     .choices = kConvModes},
    {.key = "pre_padding", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 0},
    {.key = "post_padding",
     .kind = list,
     .place = KeyPlace::parameters,
     .required = true,
     .min = 0},
    {.key = "stride", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 1},
    {.key = "dilation", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 1},
    {.key = "group_count",
     .kind = integer,
     .place = KeyPlace::parameters,
     .min = 1,
     .derived = true},
};
constexpr Role kConvFwdIn[] = {{"x", true, TypeRule::product}, {"w", true, TypeRule::product}};
constexpr Role kConvFwdOut[] = {{"y", true, TypeRule::product}};
constexpr Role kConvBwdIn[] = {{"dy", true, TypeRule::product}, {"w", true, TypeRule::product}};
constexpr Role kConvBwdOut[] = {{"dx", true, TypeRule::product}};
constexpr Role kConvWrwIn[] = {{"x", true, TypeRule::product}, {"dy", true, TypeRule::product}};
constexpr Role kConvWrwOut[] = {{"dw", true, TypeRule::product}};

// Matrix products -------------------------------------------------------------------------------

constexpr Role kMatmulIn[] = {{"a", true, TypeRule::product}, {"b", true, TypeRule::product}};
constexpr Role kMatmulOut[] = {{"c", true, TypeRule::product}};

constexpr Text kMoeModes[] = {"NONE", "GATHER", "SCATTER"};
constexpr Key kMoeKeys[] = {
    {.key = "mode",
     .kind = choice,
     .place = KeyPlace::parameters,
     .choices = kMoeModes,
     .fallback = "NONE"},
    {.key = "top_k", .kind = integer, .place = KeyPlace::parameters, .min = 1},
};
constexpr Role kMoeIn[] = {{"token", true, TypeRule::product},
                           {"weight", true, TypeRule::product},
                           {"first_token_offset", true, TypeRule::index},
                           {"token_index", false, TypeRule::index},
                           {"token_ks", false, TypeRule::index}};
constexpr Role kMoeOut[] = {{"output", true, TypeRule::product}};
constexpr Role kMoeBwdIn[] = {{"doutput", true, TypeRule::product},
                              {"token", true, TypeRule::product},
                              {"first_token_offset", true, TypeRule::index},
                              {"token_index", false, TypeRule::index},
                              {"token_ks", false, TypeRule::index}};
constexpr Role kMoeBwdOut[] = {{"dweight", true, TypeRule::product}};

// Block scaling, custom, reduction, resampling --------------------------------------------------

constexpr Role kDequantizeIn[] = {{"x", true, TypeRule::any}, {"scale", true, TypeRule::any}};
constexpr Role kDequantizeOut[] = {{"y", true, TypeRule::any}};
constexpr Key kDequantizeKeys[] = {
    {.key = "block_size", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 1},
    {.key = "is_negative_scale", .kind = flag, .place = KeyPlace::parameters, .fallback = "false"},
};
constexpr Role kQuantizeIn[] = {{"x", true, TypeRule::any}};
constexpr Role kQuantizeOut[] = {{"y", true, TypeRule::any}, {"scale", true, TypeRule::any}};
constexpr Key kQuantizeKeys[] = {
    {.key = "block_size",
     .kind = integer,
     .place = KeyPlace::parameters,
     .required = true,
     .min = 1},
    {.key = "axis", .kind = integer, .place = KeyPlace::parameters, .min = 0},
    {.key = "transpose", .kind = flag, .place = KeyPlace::parameters, .fallback = "false"},
};

constexpr Role kCustomIn[] = {{.role = "input",
                               .required = false,
                               .types = TypeRule::any,
                               .list = true,
                               .key = "input_tensor_uids"}};
constexpr Role kCustomOut[] = {{.role = "output",
                                .required = true,
                                .types = TypeRule::any,
                                .list = true,
                                .key = "output_tensor_uids"}};
constexpr Key kCustomKeys[] = {
    {.key = "custom_op_id", .kind = text, .place = KeyPlace::node, .required = true},
    {.key = "data", .kind = list, .place = KeyPlace::node, .min = 0, .max = 255},
};

constexpr Text kReductionModes[] = {"NOT_SET", "ADD", "MUL",   "MIN",   "MAX",
                                    "AMAX",    "AVG", "NORM1", "NORM2", "MUL_NO_ZEROS"};
constexpr Role kReductionIn[] = {{"in", true, TypeRule::value}};
constexpr Role kReductionOut[] = {{"out", true, TypeRule::value}};
constexpr Key kReductionKeys[] = {
    {.key = "mode",
     .kind = choice,
     .place = KeyPlace::node,
     .required = true,
     .choices = kReductionModes},
};

constexpr Text kResampleModes[] = {
    "NOT_SET", "AVGPOOL_EXCLUDE_PADDING", "AVGPOOL_INCLUDE_PADDING", "BILINEAR", "NEAREST",
    "MAXPOOL"};
constexpr Text kPaddingModes[] = {"NOT_SET", "EDGE_VAL_PAD", "NEG_INF_PAD", "ZERO_PAD"};
constexpr Key kResampleKeys[] = {
    {.key = "resample_mode",
     .kind = choice,
     .place = KeyPlace::parameters,
     .required = true,
     .choices = kResampleModes},
    {.key = "padding_mode",
     .kind = choice,
     .place = KeyPlace::parameters,
     .choices = kPaddingModes,
     .fallback = "NOT_SET"},
    {.key = "pre_padding", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 0},
    {.key = "post_padding",
     .kind = list,
     .place = KeyPlace::parameters,
     .required = true,
     .min = 0},
    {.key = "stride", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 1},
    {.key = "window", .kind = list, .place = KeyPlace::parameters, .required = true, .min = 1},
};
constexpr Role kResampleFwdIn[] = {{"x", true, TypeRule::value}};
constexpr Role kResampleFwdOut[] = {{"y", true, TypeRule::value}, {"index", false, TypeRule::any}};
constexpr Role kResampleBwdIn[] = {{"dy", true, TypeRule::value},
                                   {"x", false, TypeRule::value},
                                   {"y", false, TypeRule::value},
                                   {"index", false, TypeRule::any}};
constexpr Role kResampleBwdOut[] = {{"dx", true, TypeRule::value}};

// The rest of the table; normalisation and attention stand in files of their own.
constexpr Schema kSchemas[] = {
    {.type = NodeType::pointwise,
     .name = "PointwiseAttributes",
     .inputs = kPointwiseIn,
     .outputs = kPointwiseOut,
     .attributes = kPointwiseKeys},
    {.type = NodeType::convolution_fwd,
     .name = "ConvolutionFwdAttributes",
     .inputs = kConvFwdIn,
     .outputs = kConvFwdOut,
     .attributes = kConvKeys},
    {.type = NodeType::convolution_bwd,
     .name = "ConvolutionBwdAttributes",
     .inputs = kConvBwdIn,
     .outputs = kConvBwdOut,
     .attributes = kConvKeys},
    {.type = NodeType::convolution_wrw,
     .name = "ConvolutionWrwAttributes",
     .inputs = kConvWrwIn,
     .outputs = kConvWrwOut,
     .attributes = kConvKeys},
    {.type = NodeType::matmul,
     .name = "MatmulAttributes",
     .inputs = kMatmulIn,
     .outputs = kMatmulOut},
    {.type = NodeType::block_scale_dequantize,
     .name = "BlockScaleDequantizeAttributes",
     .inputs = kDequantizeIn,
     .outputs = kDequantizeOut,
     .attributes = kDequantizeKeys},
    {.type = NodeType::block_scale_quantize,
     .name = "BlockScaleQuantizeAttributes",
     .inputs = kQuantizeIn,
     .outputs = kQuantizeOut,
     .attributes = kQuantizeKeys},
    {.type = NodeType::custom_op,
     .name = "CustomOpAttributes",
     .inputs = kCustomIn,
     .outputs = kCustomOut,
     .attributes = kCustomKeys},
    {.type = NodeType::reduction,
     .name = "ReductionAttributes",
     .flat = true,
     .inputs = kReductionIn,
     .outputs = kReductionOut,
     .attributes = kReductionKeys},
    {.type = NodeType::resample_fwd,
     .name = "ResampleFwdAttributes",
     .inputs = kResampleFwdIn,
     .outputs = kResampleFwdOut,
     .attributes = kResampleKeys},
    {.type = NodeType::resample_bwd,
     .name = "ResampleBwdAttributes",
     .inputs = kResampleBwdIn,
     .outputs = kResampleBwdOut,
     .attributes = kResampleKeys},
    {.type = NodeType::moe_grouped_matmul,
     .name = "MoeGroupedMatmulAttributes",
     .inputs = kMoeIn,
     .outputs = kMoeOut,
     .attributes = kMoeKeys},
    {.type = NodeType::moe_grouped_matmul_bwd,
     .name = "MoeGroupedMatmulBwdAttributes",
     .inputs = kMoeBwdIn,
     .outputs = kMoeBwdOut,
     .attributes = kMoeKeys},
};

constexpr size_t kNodeTypes = static_cast<size_t>(NodeType::moe_grouped_matmul_bwd) + 1;

std::array<OpSchema, kNodeTypes> gather() {
  std::array<OpSchema, kNodeTypes> table{};
  const auto take = [&](std::span<const OpSchema> part) {
    for (const OpSchema& schema : part) table[static_cast<size_t>(schema.type)] = schema;
  };
  take(kSchemas);
  take(detail::norm_schemas());
  take(detail::sdpa_schemas());
  return table;
}

}  // namespace

std::span<const OpSchema> all_schemas() {
  static const auto table = gather();
  return table;
}

const OpSchema& schema_of(NodeType type) {
  return all_schemas()[static_cast<size_t>(type)];
}

const OpSchema* find_schema(std::string_view type_name) {
  for (const OpSchema& schema : all_schemas())
    if (schema.name == type_name) return &schema;
  return nullptr;
}

const char* key_place_name(KeyPlace place) {
  constexpr const char* kNames[] = {"", "inputs", "outputs", "parameters", "attributes"};
  return kNames[static_cast<size_t>(place)];
}

std::string role_key(const RoleSchema& role) {
  return role.key.empty() ? std::string(role.role) + "_tensor_uid" : std::string(role.key);
}

bool is_role(const RoleSchema& schema, std::string_view role) {
  if (!schema.list) return role == schema.role;
  if (role.size() <= schema.role.size() + 1 || !role.starts_with(schema.role)) return false;
  const std::string_view number = role.substr(schema.role.size() + 1);
  return role[schema.role.size()] == '_' &&
         number.find_first_not_of("0123456789") == std::string_view::npos;
}

const RoleSchema* find_role(std::span<const RoleSchema> roles, std::string_view role) {
  for (const RoleSchema& schema : roles)
    if (is_role(schema, role)) return &schema;
  return nullptr;
}

bool is_fallback(const AttributeSchema& schema, const AttributeValue& value) {
  if (schema.fallback.empty()) return false;
  if (const auto* flag_value = std::get_if<bool>(&value))
    return schema.fallback == (*flag_value ? "true" : "false");
  if (const auto* text_value = std::get_if<std::string>(&value))
    return schema.fallback == *text_value;
  if (const auto* integer_value = std::get_if<int64_t>(&value))
    return schema.fallback == std::to_string(*integer_value);
  return false;
}

const PointwiseSchema* find_pointwise(std::string_view operation) {
  for (const PointwiseSchema& schema : kPointwise)
    if (schema.operation == operation) return &schema;
  return nullptr;
}

}  // namespace hipplan::graph
