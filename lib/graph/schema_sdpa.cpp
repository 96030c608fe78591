// Table of attention.
#include "graph/schema.h"

namespace hipplan::graph::detail {
namespace {

using enum AttributeKind;
using Role = RoleSchema;
using Key = AttributeSchema;
using Text = std::string_view;

constexpr Role sdpa_optional(Text role, TypeRule types = TypeRule::floating) {
  return {.role = role, .required = false, .types = types};
}
constexpr Role sdpa_scalar(Text role, TypeRule types = TypeRule::floating) {
  return {.role = role, .required = false, .types = types, .single_element = true};
}

constexpr Role kForwardIn[] = {
    {"q"},
    {"k"},
    {"v"},
    sdpa_optional("attn_mask", TypeRule::value),
    sdpa_scalar("scale"),
    sdpa_optional("seq_len_q", TypeRule::index),
    sdpa_optional("seq_len_kv", TypeRule::index),
    sdpa_scalar("seed", TypeRule::index),
    sdpa_scalar("offset", TypeRule::index),
    sdpa_optional("dropout_mask", TypeRule::value),
    sdpa_scalar("dropout_scale"),
    sdpa_optional("page_table_k", TypeRule::index),
    sdpa_optional("page_table_v", TypeRule::index),
    sdpa_optional("block_mask", TypeRule::any),
    sdpa_optional("sink_token"),
    sdpa_scalar("descale_q"),
    sdpa_scalar("descale_k"),
    sdpa_scalar("descale_v"),
    sdpa_scalar("descale_s"),
    sdpa_scalar("scale_s"),
    sdpa_scalar("scale_o"),
};
constexpr Role kForwardOut[] = {
    {"o"},
    sdpa_optional("stats"),
    sdpa_optional("max"),
    sdpa_optional("sum_exp"),
    sdpa_optional("rng_dump", TypeRule::value),
    sdpa_scalar("amax_s"),
    sdpa_scalar("amax_o"),
};

constexpr Text kAlignments[] = {"TOP_LEFT", "BOTTOM_RIGHT"};
constexpr Text kImplementations[] = {"AUTO", "COMPOSITE", "UNIFIED"};
constexpr auto kAttributes = KeyPlace::attributes;
constexpr Key kForwardKeys[] = {
    {.key = "generate_stats", .kind = flag, .place = kAttributes},
    {.key = "alibi_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "padding_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "causal_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "causal_mask_bottom_right", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "dropout_probability", .kind = number, .place = kAttributes},
    {.key = "attn_scale_value", .kind = number, .place = kAttributes},
    {.key = "left_bound", .kind = integer, .place = kAttributes, .min = -1},
    {.key = "right_bound", .kind = integer, .place = kAttributes, .min = -1},
    {.key = "max_seq_len_kv", .kind = integer, .place = kAttributes, .min = 1},
    {.key = "diagonal_alignment",
     .kind = choice,
     .place = kAttributes,
     .choices = kAlignments,
     .fallback = "TOP_LEFT"},
    {.key = "mma_core_mode", .kind = data_type, .place = kAttributes, .fallback = "unset"},
    {.key = "implementation",
     .kind = choice,
     .place = kAttributes,
     .choices = kImplementations,
     .fallback = "AUTO"},
};

constexpr Role kBackwardIn[] = {
    {"q"},
    {"k"},
    {"v"},
    {"o"},
    {"do"},
    {"stats"},
    sdpa_optional("attn_mask", TypeRule::value),
    sdpa_scalar("scale"),
    sdpa_optional("seq_len_q", TypeRule::index),
    sdpa_optional("seq_len_kv", TypeRule::index),
    sdpa_scalar("seed", TypeRule::index),
    sdpa_scalar("offset", TypeRule::index),
    sdpa_optional("dropout_mask", TypeRule::value),
    sdpa_scalar("dropout_scale"),
    sdpa_scalar("dropout_scale_inv"),
};
constexpr Role kBackwardOut[] = {{"dq"}, {"dk"}, {"dv"}, sdpa_optional("dbias")};
constexpr Key kBackwardKeys[] = {
    {.key = "alibi_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "padding_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "causal_mask", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "causal_mask_bottom_right", .kind = flag, .place = kAttributes, .fallback = "false"},
    {.key = "dropout_probability", .kind = number, .place = kAttributes},
    {.key = "attn_scale_value", .kind = number, .place = kAttributes},
    {.key = "left_bound", .kind = integer, .place = kAttributes, .min = -1},
    {.key = "right_bound", .kind = integer, .place = kAttributes, .min = -1},
    {.key = "max_total_seq_len_q", .kind = integer, .place = kAttributes, .min = 1},
    {.key = "max_total_seq_len_kv", .kind = integer, .place = kAttributes, .min = 1},
    {.key = "diagonal_alignment",
     .kind = choice,
     .place = kAttributes,
     .choices = kAlignments,
     .fallback = "TOP_LEFT"},
    {.key = "is_deterministic_algorithm", .kind = flag, .place = kAttributes, .fallback = "false"},
};

constexpr OpSchema kSdpaSchemas[] = {
    {.type = NodeType::sdpa,
     .name = "SdpaAttributes",
     .inputs = kForwardIn,
     .outputs = kForwardOut,
     .attributes = kForwardKeys},
    {.type = NodeType::sdpa_backward,
     .name = "SdpaBackwardAttributes",
     .inputs = kBackwardIn,
     .outputs = kBackwardOut,
     .attributes = kBackwardKeys},
};

}  // namespace

std::span<const OpSchema> sdpa_schemas() {
  return kSdpaSchemas;
}

}  // namespace hipplan::graph::detail
