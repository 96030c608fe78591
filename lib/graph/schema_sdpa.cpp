// Table of attention.
#include "graph/schema.h"

namespace hipplan::graph::detail {
namespace {

using enum AttributeKind;
using Role = RoleSchema;
using Key = AttributeSchema;
using Text = std::string_view;

constexpr Role optional(Text role, TypeRule types = TypeRule::floating) {
  return {.role = role, .required = false, .types = types};
}
constexpr Role scalar(Text role, TypeRule types = TypeRule::floating) {
  return {.role = role, .required = false, .types = types, .single_element = true};
}

constexpr Role kForwardIn[] = {
    {"q"},
    {"k"},
    {"v"},
    optional("attn_mask", TypeRule::value),
    scalar("scale"),
    optional("seq_len_q", TypeRule::index),
    optional("seq_len_kv", TypeRule::index),
    scalar("seed", TypeRule::index),
    scalar("offset", TypeRule::index),
    optional("dropout_mask", TypeRule::value),
    scalar("dropout_scale"),
    optional("page_table_k", TypeRule::index),
    optional("page_table_v", TypeRule::index),
    optional("block_mask", TypeRule::any),
    optional("sink_token"),
    scalar("descale_q"),
    scalar("descale_k"),
    scalar("descale_v"),
    scalar("descale_s"),
    scalar("scale_s"),
    scalar("scale_o"),
};
constexpr Role kForwardOut[] = {
    {"o"},
    optional("stats"),
    optional("max"),
    optional("sum_exp"),
    optional("rng_dump", TypeRule::value),
    scalar("amax_s"),
    scalar("amax_o"),
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
    optional("attn_mask", TypeRule::value),
    scalar("scale"),
    optional("seq_len_q", TypeRule::index),
    optional("seq_len_kv", TypeRule::index),
    scalar("seed", TypeRule::index),
    scalar("offset", TypeRule::index),
    optional("dropout_mask", TypeRule::value),
    scalar("dropout_scale"),
    scalar("dropout_scale_inv"),
};
constexpr Role kBackwardOut[] = {{"dq"}, {"dk"}, {"dv"}, optional("dbias")};
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

constexpr OpSchema kSchemas[] = {
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
  return kSchemas;
}

}  // namespace hipplan::graph::detail
