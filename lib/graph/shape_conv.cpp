// Convolutions. All three directions obey one relation between x [N, C, spatial…], w [K, C/groups,
// window…] and y [N, K, spatial…]; the group count is x's channels over w's.
#include "base/bytes.h"
#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

struct Parts {
  const Tensor *x, *w, *y;
  std::string_view x_role, w_role, y_role;
};

Parts parts_of(const OpView& view) {
  switch (view.node().type) {
    case NodeType::convolution_bwd:
      return {view.out("dx"), view.in("w"), view.in("dy"), "dx", "w", "dy"};
    case NodeType::convolution_wrw:
      return {view.in("x"), view.out("dw"), view.in("dy"), "x", "dw", "dy"};
    default:
      return {view.in("x"), view.in("w"), view.out("y"), "x", "w", "y"};
  }
}

struct Window {
  const Dims *pre, *post, *stride, *dilation;
};

Window window_of(const OpView& view) {
  const Node& node = view.node();
  return {node.list("pre_padding"), node.list("post_padding"), node.list("stride"),
          node.list("dilation")};
}

/// Dims of y, or nothing when x, w and the window do not fit together.
std::optional<Dims> forward_dims(const Dims& x, const Dims& w, const Window& window) {
  const size_t rank = x.size();
  if (rank < 3 || w.size() != rank) return std::nullopt;
  for (const Dims* list : {window.pre, window.post, window.stride, window.dilation})
    if (!list || list->size() != rank - 2) return std::nullopt;
  Dims y{x[0], w[0]};
  for (size_t i = 0; i + 2 < rank; ++i) {
    const auto places = window_places(x[i + 2], (*window.pre)[i], (*window.post)[i], w[i + 2],
                                      (*window.dilation)[i], (*window.stride)[i]);
    if (!places) return std::nullopt;
    y.push_back(*places);
  }
  return y;
}

Result<void> check_parameters(const OpView& view, size_t spatial) {
  if (view.node().text("conv_mode") == "UNSET")
    return view.fail("conv-mode", "conv_mode is UNSET", "CONVOLUTION or CROSS_CORRELATION",
                     "UNSET");
  for (const char* key : {"pre_padding", "post_padding", "stride", "dilation"}) {
    const Dims* list = view.node().list(key);
    if (!list || list->size() != spatial)
      return view.fail("spatial-rank", cat(key, " has the wrong length"),
                       cat(spatial, " values, one per spatial dim"),
                       list ? dims_text(*list) : "nothing");
  }
  return {};
}

Result<void> check_groups(const OpView& view, const Parts& parts) {
  const int64_t channels = parts.x->dims[1], per_group = parts.w->dims[1],
                filters = parts.w->dims[0];
  if (channels % per_group != 0)
    return view.fail(
        "groups", cat("channels of ", parts.x_role, " are no multiple of those of ", parts.w_role),
        cat("a multiple of ", per_group), cat(channels));
  const int64_t groups = channels / per_group;
  if (filters % groups != 0)
    return view.fail("groups", cat("filters of ", parts.w_role, " do not divide into groups"),
                     cat("a multiple of ", groups), cat(filters));
  if (const auto stated = view.node().integer("group_count"); stated && *stated != groups)
    return view.fail("groups", "group_count disagrees with the channels", cat(groups),
                     cat(*stated));
  return {};
}

Result<void> check_convolution(const OpView& view) {
  const Parts parts = parts_of(view);
  HIPPLAN_TRY(view.want_rank(parts.x_role, *parts.x, 3, 5));
  const size_t rank = parts.x->dims.size();
  HIPPLAN_TRY(view.want_rank(parts.w_role, *parts.w, rank, rank));
  HIPPLAN_TRY(view.want_rank(parts.y_role, *parts.y, rank, rank));
  HIPPLAN_TRY(check_parameters(view, rank - 2));
  HIPPLAN_TRY(check_groups(view, parts));
  const auto y = forward_dims(parts.x->dims, parts.w->dims, window_of(view));
  if (!y)
    return view.fail("window", "the dilated window does not fit into the padded input",
                     cat("a window that fits into ", dims_text(parts.x->dims), " with its padding"),
                     dims_text(parts.w->dims));
  return view.want_dims(parts.y_role, *parts.y, *y,
                        cat(parts.x_role, " ", dims_text(parts.x->dims), " and ", parts.w_role, " ",
                            dims_text(parts.w->dims), " define them"));
}

std::optional<Dims> conv_dims(const OpView& view, std::string_view) {
  const Tensor *x = view.in("x"), *w = view.in("w");
  return x && w ? forward_dims(x->dims, w->dims, window_of(view)) : std::nullopt;
}

}  // namespace

ShapeRule convolution_rule(NodeType type) {
  return {check_convolution, type == NodeType::convolution_fwd ? conv_dims : nullptr};
}

}  // namespace hipplan::graph::detail
