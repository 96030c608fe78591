// Attention: q [B, Hq, Sq, D], k [B, Hk, Skv, D], v [B, Hv, Skv, Dv] -> o [B, Hq, Sq, Dv]. Hk and
// Hv divide Hq (grouped queries). With page tables k and v hold blocks, [blocks, H, block size, D].
#include "base/bytes.h"
#include "graph/shape.h"

namespace hipplan::graph::detail {
namespace {

struct Sizes {
  int64_t batch, heads_q, heads_k, heads_v, seq_q, seq_kv, dim_qk, dim_v;
};

/// Length of k and v along the sequence; the pages' own length is given by max_seq_len_kv.
int64_t seq_kv_of(const OpView& view, const Tensor& k) {
  if (!view.in("page_table_k")) return k.dims[2];
  return view.node().integer("max_seq_len_kv").value_or(0);
}

std::optional<Dims> sdpa_dims(const OpView& view, std::string_view role) {
  const Tensor *q = view.in("q"), *k = view.in("k"), *v = view.in("v");
  for (const Tensor* tensor : {q, k, v})
    if (!tensor || tensor->dims.size() != 4) return std::nullopt;
  if (role == "o") return Dims{q->dims[0], q->dims[1], q->dims[2], v->dims[3]};
  if (role == "stats" || role == "max" || role == "sum_exp")
    return Dims{q->dims[0], q->dims[1], q->dims[2], 1};
  if (role == "dq") return q->dims;
  if (role == "dk") return k->dims;
  if (role == "dv") return v->dims;
  return std::nullopt;
}

Result<void> check_heads(const OpView& view, const Sizes& sizes) {
  for (const auto& [role, heads] : {std::pair("k", sizes.heads_k), std::pair("v", sizes.heads_v)})
    if (sizes.heads_q % heads != 0)
      return view.fail("heads", cat("heads of ", role, " do not divide the query heads"),
                       cat("a divisor of ", sizes.heads_q), cat(heads));
  return {};
}

Result<void> check_operands(const OpView& view, Sizes& sizes) {
  const Tensor &q = *view.in("q"), &k = *view.in("k"), &v = *view.in("v");
  for (const char* role : {"q", "k", "v"}) HIPPLAN_TRY(view.want_rank(role, *view.in(role), 4, 4));
  const bool paged = view.in("page_table_k") != nullptr;
  sizes = {q.dims[0], q.dims[1],          k.dims[1], v.dims[1],
           q.dims[2], seq_kv_of(view, k), q.dims[3], v.dims[3]};
  if (k.dims[3] != sizes.dim_qk)
    return view.wrong_dims("k", k, cat("head size ", sizes.dim_qk, " like q"));
  if (!paged && k.dims[0] != sizes.batch)
    return view.wrong_dims("k", k, cat("batch ", sizes.batch, " like q"));
  if (v.dims[0] != k.dims[0] || v.dims[2] != k.dims[2])
    return view.wrong_dims("v", v,
                           cat("batch ", k.dims[0], " and sequence ", k.dims[2], " like k"));
  if (q.type != k.type || q.type != v.type)
    return view.fail("data-type", "q, k and v differ in data type", data_type_name(q.type),
                     cat(data_type_name(k.type), " and ", data_type_name(v.type)));
  return check_heads(view, sizes);
}

Result<void> check_mask(const OpView& view, const Sizes& sizes) {
  const Dims scores{sizes.batch, sizes.heads_q, sizes.seq_q, sizes.seq_kv};
  for (const char* role : {"attn_mask", "dropout_mask"}) {
    const Tensor* mask = view.in(role);
    if (!mask) continue;
    HIPPLAN_TRY(view.want_rank(role, *mask, 1, 4));
    const auto common = broadcast({&mask->dims, &scores});
    if (!common || *common != scores)
      return view.wrong_dims(role, *mask, cat("dims that broadcast to ", dims_text(scores)));
  }
  if (const Tensor* sink = view.in("sink_token"))
    HIPPLAN_TRY(view.want_dims("sink_token", *sink, {1, sizes.heads_q, 1, 1}));
  return {};
}

Result<void> check_sequences(const OpView& view, const Sizes& sizes) {
  for (const char* role : {"seq_len_q", "seq_len_kv"}) {
    const Tensor* lengths = view.in(role);
    if (lengths && (lengths->dims[0] != sizes.batch || lengths->element_count() != sizes.batch))
      return view.wrong_dims(role, *lengths,
                             cat("one length per batch entry, [", sizes.batch, "]"));
  }
  const bool both = view.in("seq_len_q") && view.in("seq_len_kv");
  if (view.node().flag("padding_mask").value_or(false) && !both)
    return view.fail("missing-role", "padding_mask needs seq_len_q and seq_len_kv", "both",
                     view.in("seq_len_q") || view.in("seq_len_kv") ? "one" : "neither");
  return {};
}

/// Page tables are [B, 1, pages, 1] and each sequence has ceil(max_seq_len_kv / block size) pages.
Result<void> check_pages(const OpView& view, const Sizes& sizes) {
  const Tensor *table_k = view.in("page_table_k"), *table_v = view.in("page_table_v");
  if (!table_k != !table_v)
    return view.fail("missing-role", "page_table_k and page_table_v go together", "both or neither",
                     table_k ? "only page_table_k" : "only page_table_v");
  if (!table_k) return {};
  if (!view.node().integer("max_seq_len_kv"))
    return view.fail("missing-key", "page tables need max_seq_len_kv", "max_seq_len_kv", "nothing");
  const int64_t block = view.in("k")->dims[2];
  const int64_t pages = (sizes.seq_kv - 1) / block + 1;
  for (const char* role : {"page_table_k", "page_table_v"})
    HIPPLAN_TRY(view.want_dims(role, *view.in(role), {sizes.batch, 1, pages, 1},
                               cat("blocks hold ", block, " of ", sizes.seq_kv, " positions")));
  return {};
}

Result<void> check_diagonal(const OpView& view) {
  const Node& node = view.node();
  const bool top = node.flag("causal_mask").value_or(false),
             bottom = node.flag("causal_mask_bottom_right").value_or(false);
  if (top && bottom)
    return view.fail("mask-conflict", "causal_mask and causal_mask_bottom_right exclude each other",
                     "one of them", "both");
  if (top && node.text("diagonal_alignment") == "BOTTOM_RIGHT")
    return view.fail("mask-conflict",
                     "causal_mask is top-left and diagonal_alignment says otherwise", "TOP_LEFT",
                     "BOTTOM_RIGHT");
  const auto left = node.integer("left_bound"), right = node.integer("right_bound");
  if ((top || bottom) && right && *right > 0)
    return view.fail("mask-conflict", "a causal mask ends at the diagonal",
                     "right_bound 0, -1 or null", cat(*right));
  if (left && *left == 0)
    return view.fail("left-bound", "left_bound 0 masks everything: the diagonal counts",
                     "-1 (no bound) or at least 1", "0");
  return {};
}

Result<void> check_dropout_and_scale(const OpView& view) {
  const auto probability = view.node().number("dropout_probability");
  if (probability && (*probability < 0 || *probability >= 1))
    return view.fail("dropout", "dropout_probability out of range", "at least 0, below 1",
                     cat(*probability));
  if (probability && *probability > 0 && !(view.in("seed") && view.in("offset")) &&
      !view.in("dropout_mask"))
    return view.fail("dropout", "dropout needs its random numbers",
                     "seed and offset, or dropout_mask", "neither");
  if (view.in("scale") && view.node().number("attn_scale_value"))
    return view.fail("scale-conflict", "the attention scale is given twice",
                     "the tensor scale or attn_scale_value", "both");
  return {};
}

Result<void> check_forward(const OpView& view) {
  Sizes sizes{};
  HIPPLAN_TRY(check_operands(view, sizes));
  HIPPLAN_TRY(check_pages(view, sizes));
  HIPPLAN_TRY(check_mask(view, sizes));
  HIPPLAN_TRY(check_sequences(view, sizes));
  HIPPLAN_TRY(check_diagonal(view));
  HIPPLAN_TRY(check_dropout_and_scale(view));
  const auto generate = view.node().flag("generate_stats");
  if (generate && *generate != (view.out("stats") != nullptr))
    return view.fail("stats-conflict", "generate_stats and the output stats disagree",
                     *generate ? "an output stats" : "no output stats", *generate ? "none" : "one");
  return {};
}

Result<void> check_backward(const OpView& view) {
  Sizes sizes{};
  HIPPLAN_TRY(check_operands(view, sizes));
  HIPPLAN_TRY(check_mask(view, sizes));
  HIPPLAN_TRY(check_sequences(view, sizes));
  HIPPLAN_TRY(check_diagonal(view));
  HIPPLAN_TRY(check_dropout_and_scale(view));
  const Dims o{sizes.batch, sizes.heads_q, sizes.seq_q, sizes.dim_v};
  HIPPLAN_TRY(view.want_dims("o", *view.in("o"), o));
  HIPPLAN_TRY(view.want_dims("do", *view.in("do"), o));
  return view.want_dims("stats", *view.in("stats"), {sizes.batch, sizes.heads_q, sizes.seq_q, 1});
}

}  // namespace

ShapeRule sdpa_rule(NodeType type) {
  return {type == NodeType::sdpa ? check_forward : check_backward, sdpa_dims};
}

}  // namespace hipplan::graph::detail
