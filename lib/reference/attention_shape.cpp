#include "reference/attention_shape.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds.h"
#include "reference/element.h"

namespace hipplan::reference {
namespace {

/// All elements of an integer operand, row-major.
std::vector<int64_t> integers(const Context& context, const Operand& operand) {
  const auto data = context.load(operand);
  std::vector<int64_t> out;
  out.reserve(data->values.size());
  for (const double v : data->values) out.push_back(static_cast<int64_t>(v));
  return out;
}

Error value_error(const Context& context, std::string_view role, int64_t position,
                  const std::string& expected, int64_t found) {
  return {Code::bad_input,
          "input-value",
          context.where,
          cat("element ", position, " of '", role, "' is out of range"),
          expected,
          cat(found),
          ""};
}

/// Lengths of the sequences of each batch: the operand's, else `all` for every batch.
Result<std::vector<int64_t>> lengths(const Context& context, const char* role, int64_t batches,
                                     int64_t all) {
  const Operand* operand = context.input(role);
  if (operand == nullptr) return std::vector<int64_t>(static_cast<size_t>(batches), all);
  if (operand->tensor->element_count() != batches)
    return context.bad_shape(role, cat(batches, " elements, one a batch"), operand->tensor->dims);
  auto out = integers(context, *operand);
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t length = out[static_cast<size_t>(b)];
    if (length < 0 || length > all) return value_error(context, role, b, cat("0 to ", all), length);
  }
  return out;
}

/// K or V: its store and, when it is paged, the page of every place.
Result<KeyStore> key_store(const Context& context, const char* role, const char* table_role,
                           int64_t batches) {
  HIPPLAN_TRY_ASSIGN(const Operand* operand, context.required(role));
  const auto& dims = operand->tensor->dims;
  if (dims.size() != 4) return context.bad_shape(role, "4 dims", dims);
  KeyStore out{context.load(*operand), dims[1], dims[3], dims[2], 1, {}};
  const Operand* table = context.input(table_role);
  if (table == nullptr) {
    if (dims[0] != batches) return context.bad_shape(role, cat("batch ", batches), dims);
    for (int64_t b = 0; b < batches; ++b) out.table.push_back(b);
    return out;
  }
  const int64_t places = table->tensor->element_count();
  if (places % batches != 0)
    return context.bad_shape(table_role, cat("pages for each of ", batches, " batches"),
                             table->tensor->dims);
  out.table_length = places / batches;
  out.table = integers(context, *table);
  return out;
}

/// Page numbers that a batch's keys use must exist.
Result<void> check_pages(const Context& context, const char* role, const KeyStore& store,
                         const std::vector<int64_t>& lengths_kv, int64_t pages) {
  for (size_t b = 0; b < lengths_kv.size(); ++b) {
    const int64_t used = (lengths_kv[b] + store.page_rows - 1) / store.page_rows;
    for (int64_t p = 0; p < used; ++p) {
      const int64_t at = static_cast<int64_t>(b) * store.table_length + p;
      const int64_t page = store.table[static_cast<size_t>(at)];
      if (page < 0 || page >= pages)
        return value_error(context, role, at, cat("0 to ", pages - 1), page);
    }
  }
  return {};
}

Result<double> scalar_or(const Context& context, const char* role, double otherwise) {
  const Operand* operand = context.input(role);
  if (operand == nullptr) return otherwise;
  return context.scalar(role, *operand);
}

Result<void> read_scales(const Context& context, Attention& a) {
  const double otherwise =
      context.node.number("attn_scale_value").value_or(1 / std::sqrt(static_cast<double>(a.width)));
  HIPPLAN_TRY_ASSIGN(a.scale, scalar_or(context, "scale", otherwise));
  for (const char* role : {"descale_q", "descale_k"}) {
    HIPPLAN_TRY_ASSIGN(const double factor, scalar_or(context, role, 1));
    a.scale *= factor;
  }
  for (const char* role : {"descale_v", "descale_s", "scale_s", "scale_o"}) {
    HIPPLAN_TRY_ASSIGN(const double factor, scalar_or(context, role, 1));
    a.out_factor *= factor;
  }
  return {};
}

std::optional<int64_t> bound(const Context& context, const char* key) {
  const auto value = context.node.integer(key);
  return value && *value >= 0 ? value : std::nullopt;
}

void read_diagonal(const Context& context, Attention& a) {
  const bool top = context.node.flag("causal_mask").value_or(false);
  const bool bottom = context.node.flag("causal_mask_bottom_right").value_or(false);
  a.bottom_right =
      bottom || context.node.text("diagonal_alignment").value_or("TOP_LEFT") == "BOTTOM_RIGHT";
  a.left_bound = bound(context, "left_bound");
  a.right_bound = bound(context, "right_bound");
  if (top || bottom) a.right_bound = 0;
}

Result<void> read_mask(const Context& context, Attention& a) {
  const Operand* mask = context.input("attn_mask");
  if (mask == nullptr) return {};
  const std::vector<int64_t> target{a.batches, a.heads, a.rows_q, a.rows_kv};
  const auto& dims = mask->tensor->dims;
  const auto strides = broadcast_strides(dims, row_major(dims), target);
  if (!strides)
    return context.bad_shape("attn_mask", "dims that broadcast to " + dims_text(target), dims);
  a.mask = context.load(*mask);
  a.mask_strides = *strides;
  a.mask_keeps = mask->tensor->type == graph::DataType::boolean;
  return {};
}

Result<void> read_keys(const Context& context, Attention& a) {
  HIPPLAN_TRY_ASSIGN(a.k, key_store(context, "k", "page_table_k", a.batches));
  HIPPLAN_TRY_ASSIGN(a.v, key_store(context, "v", "page_table_v", a.batches));
  const auto& k_dims = (*context.required("k"))->tensor->dims;
  const auto& v_dims = (*context.required("v"))->tensor->dims;
  if (a.k.width != a.width) return context.bad_shape("k", cat("head size ", a.width), k_dims);
  if (a.heads % a.k.heads != 0)
    return context.bad_shape("k", cat("a head count that divides ", a.heads), k_dims);
  if (a.heads % a.v.heads != 0)
    return context.bad_shape("v", cat("a head count that divides ", a.heads), v_dims);
  const bool paged =
      context.input("page_table_k") != nullptr || context.input("page_table_v") != nullptr;
  const int64_t room = std::min(a.k.table_length * a.k.page_rows, a.v.table_length * a.v.page_rows);
  a.rows_kv = room;
  if (!paged && k_dims[2] != v_dims[2])
    return context.bad_shape("v", cat(k_dims[2], " rows as k"), v_dims);
  if (paged) a.rows_kv = std::min(room, context.node.integer("max_seq_len_kv").value_or(room));
  HIPPLAN_TRY_ASSIGN(a.lengths_kv, lengths(context, "seq_len_kv", a.batches, a.rows_kv));
  HIPPLAN_TRY(check_pages(context, "page_table_k", a.k, a.lengths_kv, k_dims[0]));
  return check_pages(context, "page_table_v", a.v, a.lengths_kv, v_dims[0]);
}

}  // namespace

Attention::Keys Attention::keys(int64_t batch, int64_t i) const {
  const auto b = static_cast<size_t>(batch);
  const int64_t length = lengths_kv[b];
  if (i >= lengths_q[b]) return {0, 0};
  const int64_t diagonal = i + (bottom_right ? length - lengths_q[b] : 0);
  Keys out{0, length};
  if (right_bound)
    out.last = std::clamp<int64_t>(diagonal + std::min(*right_bound, length) + 1, 0, length);
  if (left_bound) out.first = std::max<int64_t>(0, diagonal - *left_bound + 1);
  out.first = std::min(out.first, out.last);
  return out;
}

Result<Attention> read_attention(const Context& context) {
  HIPPLAN_TRY(sdpa_supported(context.graph, context.node));
  HIPPLAN_TRY_ASSIGN(const Operand* q, context.required("q"));
  const auto& dims = q->tensor->dims;
  if (dims.size() != 4) return context.bad_shape("q", "4 dims", dims);
  Attention a;
  a.batches = dims[0];
  a.heads = dims[1];
  a.rows_q = dims[2];
  a.width = dims[3];
  a.q = context.load(*q);
  HIPPLAN_TRY(read_keys(context, a));
  HIPPLAN_TRY_ASSIGN(a.lengths_q, lengths(context, "seq_len_q", a.batches, a.rows_q));
  if (context.node.flag("padding_mask").value_or(false) &&
      (context.input("seq_len_q") == nullptr || context.input("seq_len_kv") == nullptr))
    return Error{Code::bad_input,
                 "missing-tensor",
                 context.where,
                 "padding_mask needs seq_len_q and seq_len_kv",
                 "",
                 "",
                 ""};
  HIPPLAN_TRY(read_scales(context, a));
  read_diagonal(context, a);
  HIPPLAN_TRY(read_mask(context, a));
  const TypeFacts& v_type = facts((*context.required("v"))->tensor->type);
  if (v_type.unit_roundoff > context.roundoff) {
    a.probability_roundoff = v_type.unit_roundoff;
    a.probability_tiny = v_type.half_tiny;
  }
  return a;
}

Result<void> sdpa_supported(const graph::Graph&, const graph::Node& node) {
  const auto refuse = [&](const std::string& what) {
    return Error{Code::negative,
                 "reference-unsupported",
                 "node '" + node.name + "'",
                 "SDPA with " + what + " is not evaluated by the CPU reference",
                 "",
                 "",
                 ""};
  };
  if (node.flag("alibi_mask").value_or(false)) return refuse("alibi_mask");
  if (node.number("dropout_probability").value_or(0) != 0) return refuse("dropout");
  for (const char* role : {"dropout_mask", "dropout_scale", "block_mask", "sink_token"})
    if (node.input(role)) return refuse(role);
  for (const char* role : {"rng_dump", "amax_s", "amax_o"})
    if (node.output(role)) return refuse(std::string("output ") + role);
  return {};
}

}  // namespace hipplan::reference
