// Rules of single tensors: uid, dims, strides, spans, alignment, constants.
#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "graph/shape.h"
#include "graph/uid_index.h"
#include "graph/values.h"

namespace hipplan::graph::detail {
namespace {

constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxSharedElements = 1 << 16;

class TensorCheck {
 public:
  TensorCheck(const Graph& graph, size_t index, const std::string& where, size_t ragged_offset)
      : graph_(graph),
        tensor_(graph.tensors[index]),
        index_(index),
        where_(where),
        ragged_offset_(ragged_offset) {}

  Result<void> run() {
    HIPPLAN_TRY(check_type());
    HIPPLAN_TRY(check_layout());
    HIPPLAN_TRY(check_span());
    HIPPLAN_TRY(check_flags());
    return check_constant();
  }
  Error fail(std::string reason, std::string what, std::string expected, std::string found) const {
    Error error;
    error.code = Code::bad_input;
    error.reason = std::move(reason);
    error.where = tensor_place(where_, graph_, index_);
    error.what = cat("tensor uid ", tensor_.uid, ": ", what);
    error.expected = std::move(expected);
    error.found = std::move(found);
    return error;
  }

 private:
  Result<void> check_type() const {
    if (tensor_.type != DataType::unset) return {};
    return fail(
        "no-data-type", "no data type",
        cat("\"data_type\", or \"", tensor_.is_virtual ? "intermediate_data_type" : "io_data_type",
            "\" of the graph"),
        "unset");
  }

  Result<void> check_layout() const {
    const Dims &dims = tensor_.dims, &strides = tensor_.strides;
    if (dims.empty())
      return fail("no-dims", "\"dims\" is empty and no op defines it", "dims", "none");
    if (dims.size() > kMaxRank)
      return fail("rank", "too many dims", cat("at most ", kMaxRank), cat(dims.size()));
    if (strides.size() != dims.size())
      return fail("strides", "dims and strides differ in length",
                  cat(dims.size(), " strides for dims ", dims_text(dims)), dims_text(strides));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 1)
        return fail("dims", cat("dims[", i, "] is not positive"), "at least 1", cat(dims[i]));
      if (strides[i] < 0)
        return fail("strides", cat("strides[", i, "] is negative"), "at least 0", cat(strides[i]));
    }
    return {};
  }

  Result<void> check_span() const {
    int64_t span = 1, count = 1;
    for (size_t i = 0; i < tensor_.dims.size(); ++i) {
      const auto reach = checked_mul(tensor_.dims[i] - 1, tensor_.strides[i]);
      const auto next_span = reach ? checked_add(span, *reach) : std::nullopt;
      const auto next_count = checked_mul(count, tensor_.dims[i]);
      if (!next_span || !next_count) return overflow();
      span = *next_span;
      count = *next_count;
    }
    // Bits are counted, so that every later byte count fits as well.
    if (!checked_mul<int64_t>(span, 64) || !checked_mul<int64_t>(count, 64)) return overflow();
    return {};
  }
  Error overflow() const {
    return fail("size-overflow", "dims and strides reach past what 64-bit byte counts hold",
                "a smaller tensor",
                cat("dims ", dims_text(tensor_.dims), ", strides ", dims_text(tensor_.strides)));
  }

  Result<void> check_flags() const {
    const int64_t alignment = tensor_.alignment;
    if (alignment < 1 || (alignment & (alignment - 1)) != 0)
      return fail("alignment", "alignment is not a power of two", "1, 2, 4, 8, 16, …",
                  cat(alignment));
    if (tensor_.runtime_pass_by_value && tensor_.is_virtual)
      return fail("pass-by-value", "a virtual tensor cannot be passed by value", "not virtual",
                  "virtual");
    if (tensor_.runtime_pass_by_value && tensor_.element_count() != 1)
      return fail("pass-by-value", "a tensor passed by value has one element", "1",
                  cat(tensor_.element_count()));
    if (tensor_.ragged_offset_multiplier < 1)
      return fail("ragged-offset", "ragged offset multiplier is not positive", "at least 1",
                  cat(tensor_.ragged_offset_multiplier));
    return check_ragged_offset();
  }

  Result<void> check_ragged_offset() const {
    if (!tensor_.ragged_offset_uid) return {};
    if (ragged_offset_ == SIZE_MAX)
      return fail("dangling-uid", "ragged offset tensor is not in \"tensors\"",
                  "uid of a tensor of the graph", cat(*tensor_.ragged_offset_uid));
    const Tensor& target = graph_.tensors[ragged_offset_];
    if (ragged_offset_ == index_ || target.ragged_offset_uid || target.is_virtual)
      return fail("ragged-offset", cat("tensor uid ", target.uid, " cannot hold ragged offsets"),
                  "a plain, not virtual tensor other than this one", "another");
    if (!allows(TypeRule::index, target.type))
      return fail("ragged-offset", "ragged offsets are not integers",
                  type_rule_text(TypeRule::index), data_type_name(target.type));
    return {};
  }

  Result<void> check_constant() const {
    if (!tensor_.value) {
      if (tensor_.value_type.empty()) return {};
      return fail("value-pair", "value type without a value", "both or neither",
                  tensor_.value_type);
    }
    const auto* row = find_value_type(tensor_.value_type);
    if (!row)
      return fail("value-type", "unknown value type", "Float32Value, Int32Value, …",
                  tensor_.value_type);
    if (std::find(row->types.begin(), row->types.end(), tensor_.type) == row->types.end())
      return fail(
          "value-type", "the constant's type and the tensor's data type differ",
          cat("data type ", data_type_name(row->types.front()), " for ", tensor_.value_type),
          data_type_name(tensor_.type));
    if (tensor_.element_count() != 1)
      return fail("value-dims", "a constant has one element", "1", cat(tensor_.element_count()));
    if (tensor_.is_virtual || tensor_.runtime_pass_by_value)
      return fail("pass-by-value", "a constant is neither virtual nor passed at run time",
                  "\"virtual\" and \"is_runtime_pass_by_value\" false",
                  tensor_.is_virtual ? "virtual" : "is_runtime_pass_by_value");
    return check_constant_range(*row);
  }

  Result<void> check_constant_range(const ValueTypeRow& row) const {
    bool fits = false;
    if (const auto* number = std::get_if<double>(&*tensor_.value))
      fits = row.form == ValueTypeRow::Form::number && *number >= -row.largest &&
             *number <= row.largest;
    if (const auto* integer = std::get_if<int64_t>(&*tensor_.value))
      fits = row.form == ValueTypeRow::Form::integer && *integer >= row.min && *integer <= row.max;
    if (std::holds_alternative<bool>(*tensor_.value)) fits = row.form == ValueTypeRow::Form::flag;
    if (fits) return {};
    return fail("value-range", "the constant does not fit its type", tensor_.value_type,
                "another kind of value, or one out of range");
  }

  const Graph& graph_;
  const Tensor& tensor_;
  size_t index_;
  const std::string& where_;
  size_t ragged_offset_;
};

Result<void> check_uids(const Graph& graph, const std::string& where) {
  std::vector<std::pair<int64_t, size_t>> sorted;
  for (size_t i = 0; i < graph.tensors.size(); ++i) sorted.emplace_back(graph.tensors[i].uid, i);
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first != sorted[i - 1].first) continue;
    const size_t first = sorted[i - 1].second, second = sorted[i].second;
    return TensorCheck(graph, second, where, SIZE_MAX)
        .fail("duplicate-uid", "uid is used twice", "a uid of its own",
              cat("the uid of tensors[", first, "] \"", graph.tensors[first].name, "\""));
  }
  return {};
}

/// All element offsets, sorted: two equal ones are an overlap.
bool has_equal_offsets(const Tensor& tensor) {
  std::vector<int64_t> offsets{0};
  for (size_t i = 0; i < tensor.dims.size(); ++i) {
    const size_t count = offsets.size();
    for (int64_t step = 1; step < tensor.dims[i]; ++step)
      for (size_t j = 0; j < count; ++j) offsets.push_back(offsets[j] + step * tensor.strides[i]);
  }
  std::sort(offsets.begin(), offsets.end());
  return std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
}

}  // namespace

bool overlaps_itself(const Tensor& tensor) {
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, dim
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    if (tensor.dims[i] > 1) axes.emplace_back(tensor.strides[i], tensor.dims[i]);
  std::sort(axes.begin(), axes.end());
  // Free of overlap when each stride steps over all that the smaller ones reach.
  int64_t reach = 0;
  bool nested = true;
  for (const auto& [stride, dim] : axes) {
    nested = nested && stride > reach;
    reach += stride * (dim - 1);
  }
  if (nested) return false;
  if (axes.front().first == 0 || tensor.element_count() > tensor.span_elements()) return true;
  return tensor.element_count() > kMaxSharedElements || has_equal_offsets(tensor);
}

Result<void> check_tensors(const Graph& graph, const std::string& where) {
  HIPPLAN_TRY(check_uids(graph, where));
  const auto offsets = ragged_offsets(graph.tensors);
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    HIPPLAN_TRY(TensorCheck(graph, i, where, offsets[i]).run());
  return {};
}

}  // namespace hipplan::graph::detail
