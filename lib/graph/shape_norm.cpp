// Normalisations. Batchnorm's statistics are per channel, [1, C, 1, …]. Layernorm and RMSNorm
// normalise the trailing dims; scale has those dims and 1 before them, statistics the other way
// round.
#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

bool is_one_of(std::string_view role, std::initializer_list<std::string_view> roles) {
  for (const std::string_view other : roles)
    if (role == other) return true;
  return false;
}

// Batchnorm -------------------------------------------------------------------------------------

std::optional<Dims> channel_dims(const Dims& x) {
  if (x.size() < 2) return std::nullopt;
  Dims out(x.size(), 1);
  out[1] = x[1];
  return out;
}

std::optional<Dims> batchnorm_dims(const OpView& view, std::string_view role) {
  const Tensor* x = view.in("x");
  if (!x || x->dims.empty()) return std::nullopt;
  if (is_one_of(role, {"y", "dx"})) return x->dims;
  return channel_dims(x->dims);
}

Result<void> check_batchnorm(const OpView& view) {
  const Tensor& x = *view.in("x");
  HIPPLAN_TRY(view.want_rank("x", x, 2, 5));
  const auto per_channel = channel_dims(x.dims);
  for (const Reference& input : view.node().inputs) {
    const RoleSchema* role = find_role(view.schema().inputs, input.role);
    if (input.role == "x" || role->single_element || role->list) continue;
    const Dims& wanted = input.role == "dy" ? x.dims : *per_channel;
    HIPPLAN_TRY(
        view.want_dims(input.role, *view.in(input.role), wanted, cat("x is ", dims_text(x.dims))));
  }
  const bool mean = view.in("mean"), inv_variance = view.in("inv_variance");
  if (view.node().type == NodeType::batchnorm_backward && mean != inv_variance)
    return view.fail("missing-role", "mean and inv_variance go together", "both or neither",
                     mean ? "only mean" : "only inv_variance");
  return {};
}

// Layernorm, RMSNorm ----------------------------------------------------------------------------

/// First of the normalised dims: by normalized_dim_count, else the first that scale does not
/// leave 1.
std::optional<size_t> first_normalized(const OpView& view) {
  const Tensor *x = view.in("x"), *scale = view.in("scale");
  if (!x || !scale || x->dims.empty()) return std::nullopt;
  const size_t rank = x->dims.size();
  if (const auto count = view.node().integer("normalized_dim_count")) {
    if (*count < 1 || *count > static_cast<int64_t>(rank)) return std::nullopt;
    return rank - static_cast<size_t>(*count);
  }
  if (scale->dims.size() != rank) return std::nullopt;
  size_t first = 0;
  while (first + 1 < rank && scale->dims[first] == 1) ++first;
  return first;
}

/// x's dims with 1 for the normalised ones (or for the others).
Dims keep(const Dims& x, size_t first, bool normalized) {
  Dims out = x;
  for (size_t i = 0; i < out.size(); ++i)
    if ((i >= first) != normalized) out[i] = 1;
  return out;
}

std::optional<Dims> trailing_dims(const OpView& view, std::string_view role) {
  const Tensor* x = view.in("x");
  if (!x || x->dims.empty()) return std::nullopt;
  if (is_one_of(role, {"y", "dx"})) return x->dims;
  const auto first = first_normalized(view);
  if (!first) return std::nullopt;
  return keep(x->dims, *first, is_one_of(role, {"dscale", "dbias"}));
}

Result<void> check_trailing(const OpView& view) {
  const Tensor &x = *view.in("x"), &scale = *view.in("scale");
  const size_t rank = x.dims.size();
  const auto count = view.node().integer("normalized_dim_count");
  if (count && (*count < 1 || *count > static_cast<int64_t>(rank)))
    return view.fail("normalized-dims", "normalized_dim_count does not fit the rank of x",
                     cat("1 to ", rank), cat(*count));
  HIPPLAN_TRY(view.want_rank("scale", scale, rank, rank));
  const size_t first = *first_normalized(view);
  const std::string why =
      cat("x is ", dims_text(x.dims), " with its last ", rank - first, " dims normalised");
  for (const char* role : {"scale", "bias"})
    if (const Tensor* tensor = view.in(role))
      HIPPLAN_TRY(view.want_dims(role, *tensor, keep(x.dims, first, true), why));
  for (const char* role : {"mean", "inv_variance", "inv_rms"})
    if (const Tensor* tensor = view.in(role))
      HIPPLAN_TRY(view.want_dims(role, *tensor, keep(x.dims, first, false), why));
  if (const Tensor* dy = view.in("dy")) HIPPLAN_TRY(view.want_dims("dy", *dy, x.dims));
  return {};
}

}  // namespace

ShapeRule norm_rule(NodeType type) {
  switch (type) {
    case NodeType::batchnorm_inference:
    case NodeType::batchnorm_inference_variance_ext:
    case NodeType::batchnorm:
    case NodeType::batchnorm_backward:
      return {check_batchnorm, batchnorm_dims};
    default:
      return {check_trailing, trailing_dims};
  }
}

}  // namespace hipplan::graph::detail
