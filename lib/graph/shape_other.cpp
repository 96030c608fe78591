// Matrix products, reduction, resampling, block scaling. Custom ops have no rules.
#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

// Matmul: a […, M, K], b […, K, N] -> c […, M, N]; batch dims equal or 1.

std::optional<Dims> matmul_dims(const OpView& view, std::string_view) {
  const Tensor *a = view.in("a"), *b = view.in("b");
  if (!a || !b || a->dims.size() < 2 || a->dims.size() != b->dims.size()) return std::nullopt;
  const size_t batch = a->dims.size() - 2;
  const auto split = static_cast<std::ptrdiff_t>(batch);
  const Dims batch_a(a->dims.begin(), a->dims.begin() + split),
      batch_b(b->dims.begin(), b->dims.begin() + split);
  auto out = broadcast({&batch_a, &batch_b});
  if (!out || a->dims[batch + 1] != b->dims[batch]) return std::nullopt;
  out->push_back(a->dims[batch]);
  out->push_back(b->dims[batch + 1]);
  return out;
}

Result<void> check_matmul(const OpView& view) {
  const Tensor &a = *view.in("a"), &b = *view.in("b");
  const size_t rank = a.dims.size();
  HIPPLAN_TRY(view.want_rank("a", a, 2, 8));
  HIPPLAN_TRY(view.want_rank("b", b, rank, rank));
  if (a.dims[rank - 1] != b.dims[rank - 2])
    return view.fail("inner-dims", "inner dims of a and b differ",
                     cat("b with ", a.dims[rank - 1], " rows, the columns of a"),
                     cat(b.dims[rank - 2], " in ", dims_text(b.dims)));
  if (!matmul_dims(view, "c"))
    return view.fail("broadcast", "batch dims of a and b do not broadcast",
                     "equal dims, or 1 against any",
                     cat(dims_text(a.dims), " and ", dims_text(b.dims)));
  return {};
}

// Reduction: an output dim is the input's, or 1 where that axis is reduced.

Result<void> check_reduction(const OpView& view) {
  const Tensor &in = *view.in("in"), &out = *view.out("out");
  if (view.node().text("mode") == "NOT_SET")
    return view.fail("reduction-mode", "mode is NOT_SET", "a reduction mode", "NOT_SET");
  HIPPLAN_TRY(view.want_rank("out", out, in.dims.size(), in.dims.size()));
  for (size_t i = 0; i < in.dims.size(); ++i)
    if (out.dims[i] != in.dims[i] && out.dims[i] != 1)
      return view.wrong_dims("out", out, cat("1 or the dim of in ", dims_text(in.dims)));
  return {};
}

// Resampling: y [N, C, places…] over x [N, C, spatial…].

std::optional<Dims> resampled(const OpView& view, const Dims& x) {
  const Dims *pre = view.node().list("pre_padding"), *post = view.node().list("post_padding"),
             *stride = view.node().list("stride"), *window = view.node().list("window");
  if (x.size() < 3) return std::nullopt;
  for (const Dims* list : {pre, post, stride, window})
    if (!list || list->size() != x.size() - 2) return std::nullopt;
  Dims y{x[0], x[1]};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    const auto places =
        window_places(x[i + 2], (*pre)[i], (*post)[i], (*window)[i], 1, (*stride)[i]);
    if (!places) return std::nullopt;
    y.push_back(*places);
  }
  return y;
}

Result<void> check_resample(const OpView& view) {
  const bool forward = view.node().type == NodeType::resample_fwd;
  const Tensor& x = forward ? *view.in("x") : *view.out("dx");
  HIPPLAN_TRY(view.want_rank(forward ? "x" : "dx", x, 3, 5));
  if (view.node().text("resample_mode") == "NOT_SET")
    return view.fail("resample-mode", "resample_mode is NOT_SET", "a resample mode", "NOT_SET");
  const auto y = resampled(view, x.dims);
  if (!y)
    return view.fail(
        "window", "window, stride and paddings do not fit the tensor",
        cat(x.dims.size() - 2, " values each, a window that fits into ", dims_text(x.dims)),
        "another length, or a window larger than the padded tensor");
  if (forward) return {};
  if (const Tensor* given = view.in("x")) HIPPLAN_TRY(view.want_dims("x", *given, x.dims));
  for (const char* role : {"dy", "y", "index"})
    if (const Tensor* tensor = view.in(role)) HIPPLAN_TRY(view.want_dims(role, *tensor, *y));
  return {};
}

std::optional<Dims> resample_dims(const OpView& view, std::string_view) {
  const Tensor* x = view.in("x");
  return x ? resampled(view, x->dims) : std::nullopt;
}

// Block scaling keeps the dims; a scale stands for a whole block of elements.

std::optional<Dims> same_as_x(const OpView& view, std::string_view role) {
  const Tensor* x = view.in("x");
  return x && role == "y" && !x->dims.empty() ? std::optional(x->dims) : std::nullopt;
}

Result<void> check_scale(const OpView& view) {
  const Tensor& x = *view.in("x");
  const Tensor& scale = view.in("scale") ? *view.in("scale") : *view.out("scale");
  HIPPLAN_TRY(view.want_rank("scale", scale, x.dims.size(), x.dims.size()));
  for (size_t i = 0; i < x.dims.size(); ++i)
    if (scale.dims[i] > x.dims[i])
      return view.wrong_dims("scale", scale, cat("at most the dims of x, ", dims_text(x.dims)));
  const auto axis = view.node().integer("axis");
  if (axis && *axis >= static_cast<int64_t>(x.dims.size()))
    return view.fail("axis", "axis is not an axis of x", cat("0 to ", x.dims.size() - 1),
                     cat(*axis));
  return {};
}

// Grouped matrix product: token [1, T, K], weight [E, K, N] -> output [1, T', N].

Result<void> check_moe(const OpView& view) {
  const Tensor &token = *view.in("token"), &weight = *view.in("weight"),
               &output = *view.out("output");
  for (const char* role : {"token", "weight"})
    HIPPLAN_TRY(view.want_rank(role, *view.in(role), 3, 3));
  HIPPLAN_TRY(view.want_rank("output", output, 3, 3));
  if (token.dims[2] != weight.dims[1])
    return view.fail("inner-dims", "inner dims of token and weight differ",
                     cat("weight with ", token.dims[2], " rows"), dims_text(weight.dims));
  if (output.dims[2] != weight.dims[2])
    return view.wrong_dims("output", output, cat(weight.dims[2], " columns like weight"));
  return {};
}

Result<void> check_moe_bwd(const OpView& view) {
  const Tensor &token = *view.in("token"), &doutput = *view.in("doutput"),
               &dweight = *view.out("dweight");
  for (const char* role : {"token", "doutput"})
    HIPPLAN_TRY(view.want_rank(role, *view.in(role), 3, 3));
  HIPPLAN_TRY(view.want_rank("dweight", dweight, 3, 3));
  return view.want_dims("dweight", dweight, {dweight.dims[0], token.dims[2], doutput.dims[2]});
}

}  // namespace

ShapeRule other_rule(NodeType type) {
  switch (type) {
    case NodeType::matmul:
      return {check_matmul, matmul_dims};
    case NodeType::reduction:
      return {check_reduction, nullptr};
    case NodeType::resample_fwd:
      return {check_resample, resample_dims};
    case NodeType::resample_bwd:
      return {check_resample, nullptr};
    case NodeType::block_scale_dequantize:
    case NodeType::block_scale_quantize:
      return {check_scale, same_as_x};
    case NodeType::moe_grouped_matmul:
      return {check_moe, nullptr};
    case NodeType::moe_grouped_matmul_bwd:
      return {check_moe_bwd, nullptr};
    default:
      return {};
  }
}

}  // namespace hipplan::graph::detail
