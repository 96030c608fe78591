#include "engine/dispatch_support.h"

#include <algorithm>
#include <numeric>

namespace hipplan::engine {

Error launch_error(std::string_view alias, std::string what, std::string expected,
                   std::string found) {
  return Error{Code::unusable,
               "launch-values",
               std::string(alias),
               std::move(what),
               std::move(expected),
               std::move(found),
               "the plan was not written by this contract, or by a faulty writer"};
}

uint32_t element_bytes(std::string_view dtype) {
  if (dtype == "float") return 4;
  if (dtype == "half" || dtype == "bfloat16") return 2;
  return 0;
}

std::optional<int64_t> product(const std::vector<int64_t>& extents) {
  int64_t out = 1;
  for (const auto extent : extents) {
    const auto next = checked_mul(out, extent);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

std::optional<uint64_t> span_bytes(const std::vector<int64_t>& dims,
                                   const std::vector<int64_t>& strides,
                                   uint32_t bytes_per_element) {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto reach = checked_mul(dims[i] - 1, strides[i]);
    const auto sum = reach ? checked_add(last, *reach) : std::nullopt;
    if (!sum) return std::nullopt;
    last = *sum;
  }
  const auto elements = checked_add(last, int64_t{1});
  const auto bytes =
      elements ? checked_mul(*elements, static_cast<int64_t>(bytes_per_element)) : std::nullopt;
  if (!bytes) return std::nullopt;
  return static_cast<uint64_t>(*bytes);
}

FastDivisor fast_divisor(uint32_t divisor) {
  uint32_t shift = 0;
  while (shift < 31 && (uint32_t{1} << shift) < divisor) ++shift;
  // ceil(2^32 * (2^shift - divisor) / divisor) fits 32 bits, as divisor > 2^(shift-1).
  const uint64_t numerator = ((uint64_t{1} << shift) - divisor) << 32;
  const auto multiplier = static_cast<uint32_t>(numerator / divisor + 1);
  return {divisor, divisor == (uint32_t{1} << shift) ? 0 : multiplier, shift};
}

uint64_t max_grid_x(uint32_t block_size) {
  return block_size == 0 ? 0 : UINT32_MAX / block_size;
}

StridedViews collapse(StridedViews views, bool keep_order) {
  const size_t rank = views.dims.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (!keep_order && !views.strides.empty()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return views.strides[0][a] > views.strides[0][b]; });
  }
  StridedViews out;
  out.strides.resize(views.strides.size());
  for (const size_t dim : order) {
    if (views.dims[dim] == 1) continue;
    bool join = !out.dims.empty();
    for (size_t v = 0; join && v < views.strides.size(); ++v) {
      const auto reach = checked_mul(views.strides[v][dim], views.dims[dim]);
      join = reach && out.strides[v].back() == *reach;
    }
    const auto joined = join ? checked_mul(out.dims.back(), views.dims[dim]) : std::nullopt;
    if (joined) {
      out.dims.back() = *joined;
      for (size_t v = 0; v < views.strides.size(); ++v)
        out.strides[v].back() = views.strides[v][dim];
      continue;
    }
    out.dims.push_back(views.dims[dim]);
    for (size_t v = 0; v < views.strides.size(); ++v)
      out.strides[v].push_back(views.strides[v][dim]);
  }
  if (out.dims.empty()) {
    out.dims.push_back(1);
    for (auto& strides : out.strides) strides.push_back(0);
  }
  return out;
}

std::optional<Walk> plan_walk(const StridedViews& views) {
  constexpr int64_t kMaxInner = INT32_MAX;
  const size_t rank = views.dims.size();
  Walk walk;
  walk.rank = 0;
  walk.strides.resize(views.strides.size());
  walk.slot_of_dim.resize(rank);
  int64_t inner = 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t dim = rank - 1 - i;
    const auto extent = views.dims[dim];
    const bool fits = i < Walk::kInnerDims && extent <= kMaxInner / inner;
    if (!fits && (dim != 0 || extent > kMaxInner)) return std::nullopt;
    const size_t slot = fits ? i : Walk::kInnerDims;
    walk.slot_of_dim[dim] = slot;
    for (size_t v = 0; v < views.strides.size(); ++v) walk.strides[v][slot] = views.strides[v][dim];
    if (!fits) {
      walk.outer_count = static_cast<uint32_t>(extent);
      continue;
    }
    inner *= extent;
    walk.extents[i] = fast_divisor(static_cast<uint32_t>(extent));
    walk.rank = static_cast<uint32_t>(i + 1);
  }
  walk.count = static_cast<uint32_t>(inner);
  return walk;
}

std::vector<PreparedLaunch::Patch> pointer_patches(size_t count) {
  std::vector<PreparedLaunch::Patch> patches;
  for (size_t i = 0; i < count; ++i) patches.push_back({static_cast<uint32_t>(i * 8), i, 0});
  return patches;
}

std::vector<codeobject::Argument> argument_signature(size_t pointers, size_t block_bytes) {
  std::vector<codeobject::Argument> out;
  for (size_t i = 0; i < pointers; ++i) {
    out.push_back({"global_buffer", 8, static_cast<uint32_t>(i * 8), ""});
  }
  out.push_back(
      {"by_value", static_cast<uint32_t>(block_bytes), static_cast<uint32_t>(pointers * 8), ""});
  return out;
}

ValueRule text_rule(std::string name, std::vector<std::string> choices) {
  ValueRule rule;
  rule.name = std::move(name);
  rule.type = ValueRule::Type::text;
  rule.choices = std::move(choices);
  return rule;
}
ValueRule integer_rule(std::string name, int64_t min, int64_t max) {
  ValueRule rule;
  rule.name = std::move(name);
  rule.min = min;
  rule.max = max;
  return rule;
}
ValueRule uid_rule(std::string name) {
  return integer_rule(std::move(name), INT64_MIN, INT64_MAX);
}
namespace {
ValueRule list_rule(std::string name, size_t min_length, size_t max_length, int64_t min,
                    int64_t max) {
  ValueRule rule = integer_rule(std::move(name), min, max);
  rule.type = ValueRule::Type::integer_list;
  rule.min_length = min_length;
  rule.max_length = max_length;
  return rule;
}
}  // namespace
ValueRule uids_rule(std::string name, size_t min_length, size_t max_length) {
  return list_rule(std::move(name), min_length, max_length, INT64_MIN, INT64_MAX);
}
ValueRule extents_rule(std::string name, size_t min_length, size_t max_length) {
  return list_rule(std::move(name), min_length, max_length, 1, kMaxExtent);
}
ValueRule strides_rule(std::string name, size_t min_length, size_t max_length) {
  return list_rule(std::move(name), min_length, max_length, 0, kMaxStride);
}
ValueRule float_rule(std::string name) {
  ValueRule rule;
  rule.name = std::move(name);
  rule.type = ValueRule::Type::number;
  rule.exact_float32 = true;
  return rule;
}
ValueRule flag_rule(std::string name) {
  ValueRule rule;
  rule.name = std::move(name);
  rule.type = ValueRule::Type::boolean;
  return rule;
}
ValueRule dtype_rule(std::string name) {
  return text_rule(std::move(name), {"float", "half", "bfloat16"});
}

}  // namespace hipplan::engine
