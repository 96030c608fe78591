// Table of the normalisations.
#include "graph/schema.h"

namespace hipplan::graph::detail {
namespace {

using enum AttributeKind;
using Role = RoleSchema;
using Key = AttributeSchema;
constexpr auto kFloating = TypeRule::floating;

constexpr Role norm_scalar(std::string_view role, bool required = true) {
  return {.role = role, .required = required, .types = kFloating, .single_element = true};
}
constexpr Role norm_optional(std::string_view role) {
  return {.role = role, .required = false};
}
constexpr Role kPeerStats = {.role = "peer_stats",
                             .required = false,
                             .types = kFloating,
                             .list = true,
                             .key = "peer_stats_tensor_uid"};

constexpr Role kInferenceIn[] = {{"x"}, {"mean"}, {"inv_variance"}, {"scale"}, {"bias"}};
constexpr Role kVarianceExtIn[] = {{"x"},     {"mean"}, {"variance"},
                                   {"scale"}, {"bias"}, norm_scalar("epsilon")};
constexpr Role kY[] = {{"y"}};

constexpr Role kBatchnormIn[] = {{"x"},
                                 {"scale"},
                                 {"bias"},
                                 norm_scalar("epsilon"),
                                 kPeerStats,
                                 norm_optional("prev_running_mean"),
                                 norm_optional("prev_running_variance"),
                                 norm_scalar("momentum", false)};
constexpr Role kBatchnormOut[] = {{"y"},
                                  norm_optional("mean"),
                                  norm_optional("inv_variance"),
                                  norm_optional("next_running_mean"),
                                  norm_optional("next_running_variance")};
constexpr Role kBatchnormBackwardIn[] = {
    {"dy"}, {"x"}, {"scale"}, norm_optional("mean"), norm_optional("inv_variance"), kPeerStats};
constexpr Role kGradientOut[] = {{"dx"}, {"dscale"}, {"dbias"}};

constexpr Role kLayernormIn[] = {{"x"}, {"scale"}, {"bias"}, norm_scalar("epsilon")};
constexpr Role kLayernormOut[] = {{"y"}, norm_optional("mean"), norm_optional("inv_variance")};
constexpr Role kLayernormBackwardIn[] = {{"dy"},
                                         {"x"},
                                         {"scale"},
                                         norm_optional("mean"),
                                         norm_optional("inv_variance"),
                                         norm_scalar("epsilon", false)};
constexpr Key kNormalizedDims = {.key = "normalized_dim_count",
                                 .kind = integer,
                                 .place = KeyPlace::node,
                                 .min = 1,
                                 .also_in_attributes = true};
constexpr Key kLayernormKeys[] = {
    kNormalizedDims,
    {.key = "forward_phase",
     .kind = integer,
     .place = KeyPlace::node,
     .min = -128,
     .max = 127,
     .fallback = "0",
     .also_in_attributes = true},
};
constexpr Key kLayernormBackwardKeys[] = {kNormalizedDims};

constexpr Role kRmsnormIn[] = {{"x"}, {"scale"}, norm_scalar("epsilon"), norm_optional("bias")};
constexpr Role kRmsnormOut[] = {{"y"}, norm_optional("inv_rms")};
constexpr Role kRmsnormBackwardIn[] = {{"dy"}, {"x"}, {"scale"}, {"inv_rms"}};
constexpr Role kRmsnormBackwardOut[] = {{"dx"}, {"dscale"}, norm_optional("dbias")};

constexpr OpSchema kNormSchemas[] = {
    {.type = NodeType::batchnorm_inference,
     .name = "BatchnormInferenceAttributes",
     .inputs = kInferenceIn,
     .outputs = kY},
    {.type = NodeType::batchnorm_inference_variance_ext,
     .name = "BatchnormInferenceAttributesVarianceExt",
     .inputs = kVarianceExtIn,
     .outputs = kY},
    {.type = NodeType::batchnorm,
     .name = "BatchnormAttributes",
     .inputs = kBatchnormIn,
     .outputs = kBatchnormOut},
    {.type = NodeType::batchnorm_backward,
     .name = "BatchnormBackwardAttributes",
     .inputs = kBatchnormBackwardIn,
     .outputs = kGradientOut},
    {.type = NodeType::layernorm,
     .name = "LayernormAttributes",
     .inputs = kLayernormIn,
     .outputs = kLayernormOut,
     .attributes = kLayernormKeys},
    {.type = NodeType::layernorm_backward,
     .name = "LayernormBackwardAttributes",
     .inputs = kLayernormBackwardIn,
     .outputs = kGradientOut,
     .attributes = kLayernormBackwardKeys},
    {.type = NodeType::rmsnorm,
     .name = "RMSNormAttributes",
     .nulls = false,
     .inputs = kRmsnormIn,
     .outputs = kRmsnormOut},
    {.type = NodeType::rmsnorm_backward,
     .name = "RMSNormBackwardAttributes",
     .nulls = false,
     .inputs = kRmsnormBackwardIn,
     .outputs = kRmsnormBackwardOut},
};

}  // namespace

std::span<const OpSchema> norm_schemas() {
  return kNormSchemas;
}

}  // namespace hipplan::graph::detail
