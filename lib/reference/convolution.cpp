#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/contraction.h"
#include "reference/node.h"

namespace hipplan::reference {
namespace {

using Spatial = std::array<int64_t, 3>;  // padded in front with ones to three dims

struct ConvShape {
  int64_t n = 1, c = 1, k = 1;  ///< batch, channels of x, channels of y
  int64_t group_c = 1;          ///< channels of w
  Spatial in{1, 1, 1}, out{1, 1, 1}, taps{1, 1, 1};
  Spatial stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0};
  bool mirrored = false;

  [[nodiscard]] int64_t in_size() const { return in[0] * in[1] * in[2]; }
  [[nodiscard]] int64_t out_size() const { return out[0] * out[1] * out[2]; }
  [[nodiscard]] int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
};

Spatial spatial(const std::vector<int64_t>& values, size_t skip) {
  Spatial out{1, 1, 1};
  const size_t count = values.size() - skip;
  for (size_t i = 0; i < count; ++i) out[3 - count + i] = values[skip + i];
  return out;
}

constexpr int64_t kLargestSetting = int64_t{1} << 30;  // keeps index arithmetic far from overflow

/// A list attribute with one number per spatial dim; `otherwise`, also the least legal number,
/// where the node has none.
Result<Spatial> setting(const Context& context, const char* key, size_t dims, int64_t otherwise) {
  Spatial out{otherwise, otherwise, otherwise};
  const auto* list = context.node.list(key);
  if (list == nullptr) return out;
  if (list->size() != dims)
    return Error{Code::bad_input,
                 "attribute",
                 context.where,
                 cat("wrong length of '", key, "'"),
                 cat(dims, " numbers"),
                 dims_text(*list),
                 ""};
  for (size_t i = 0; i < dims; ++i) {
    const int64_t value = (*list)[i];
    if (value < otherwise || value > kLargestSetting)
      return Error{Code::bad_input,
                   "attribute",
                   context.where,
                   cat("bad value in '", key, "'"),
                   cat(otherwise, " to ", kLargestSetting),
                   cat(value),
                   ""};
    out[3 - dims + i] = value;
  }
  return out;
}

Result<void> read_settings(const Context& context, size_t dims, ConvShape& s) {
  HIPPLAN_TRY_ASSIGN(s.stride, setting(context, "stride", dims, 1));
  HIPPLAN_TRY_ASSIGN(s.dilation, setting(context, "dilation", dims, 1));
  HIPPLAN_TRY_ASSIGN(s.before, setting(context, "pre_padding", dims, 0));
  for (size_t d = 0; d + dims < 3; ++d) s.before[d] = 0;
  const std::string mode = context.node.text("conv_mode").value_or("CROSS_CORRELATION");
  s.mirrored = mode == "CONVOLUTION";
  return {};
}

Result<ConvShape> conv_shape(const Context& context, const graph::Tensor& x, const graph::Tensor& w,
                             const graph::Tensor& y) {
  const size_t rank = x.dims.size();
  if (rank < 3 || rank > 5) return context.bad_shape("x", "1 to 3 spatial dims", x.dims);
  if (w.dims.size() != rank) return context.bad_shape("w", cat(rank, " dims as x"), w.dims);
  if (y.dims.size() != rank) return context.bad_shape("y", cat(rank, " dims as x"), y.dims);
  ConvShape s;
  s.n = x.dims[0];
  s.c = x.dims[1];
  s.k = w.dims[0];
  s.group_c = w.dims[1];
  s.in = spatial(x.dims, 2);
  s.taps = spatial(w.dims, 2);
  s.out = spatial(y.dims, 2);
  if (y.dims[0] != s.n || y.dims[1] != s.k)
    return context.bad_shape("y", cat("[", s.n, ",", s.k, ",…]"), y.dims);
  if (s.c % s.group_c != 0 || s.k % (s.c / s.group_c) != 0)
    return context.bad_shape("w", "channels that divide those of x into groups", w.dims);
  HIPPLAN_TRY(read_settings(context, rank - 2, s));
  return s;
}

/// Output positions o with 0 <= o*stride + shift < size, as [first, last).
struct Range {
  int64_t first = 0, last = 0;
};
Range inside(int64_t shift, int64_t stride, int64_t size, int64_t count) {
  const int64_t first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t room = size - shift;  // o*stride < room
  const int64_t last = room <= 0 ? 0 : (room + stride - 1) / stride;
  return {std::min(first, count), std::clamp(last, std::min(first, count), count)};
}

/// Adds one channel's tap to a plane of y.
void add_tap(const ConvShape& s, const double* x, double weight, const Spatial& tap, double* sums,
             double* magnitudes) {
  Spatial shift;
  std::array<Range, 3> range;
  for (size_t d = 0; d < 3; ++d) {
    shift[d] = tap[d] * s.dilation[d] - s.before[d];
    range[d] = inside(shift[d], s.stride[d], s.in[d], s.out[d]);
  }
  const int64_t count = range[2].last - range[2].first;
  if (count <= 0) return;
  for (int64_t a = range[0].first; a < range[0].last; ++a)
    for (int64_t b = range[1].first; b < range[1].last; ++b) {
      const int64_t row = (a * s.stride[0] + shift[0]) * s.in[1] + b * s.stride[1] + shift[1];
      const double* from = x + row * s.in[2] + range[2].first * s.stride[2] + shift[2];
      const int64_t to = (a * s.out[1] + b) * s.out[2] + range[2].first;
      add_products(weight, from, s.stride[2], count, sums + to, magnitudes + to);
    }
}

/// One plane of y: x and w point to the first channel and weight that it reads.
void fill_plane(const ConvShape& s, const double* x, const double* w, double* sums,
                double* magnitudes) {
  for (int64_t c = 0; c < s.group_c; ++c)
    for (int64_t t = 0; t < s.tap_count(); ++t) {
      Spatial tap{t / (s.taps[1] * s.taps[2]), t / s.taps[2] % s.taps[1], t % s.taps[2]};
      if (s.mirrored)
        for (size_t d = 0; d < 3; ++d) tap[d] = s.taps[d] - 1 - tap[d];
      add_tap(s, x + c * s.in_size(), w[c * s.tap_count() + t], tap, sums, magnitudes);
    }
}

Sums convolve(const ConvShape& s, const std::vector<double>& x, const std::vector<double>& w,
              unsigned jobs) {
  const int64_t groups = s.c / s.group_c, k_a_group = s.k / groups;
  Sums out;
  out.sums.resize(static_cast<size_t>(s.n * s.k * s.out_size()));
  out.magnitudes.resize(out.sums.size());
  parallel_for(static_cast<size_t>(s.n * s.k), jobs, [&](size_t plane) {
    const int64_t n = static_cast<int64_t>(plane) / s.k, k = static_cast<int64_t>(plane) % s.k;
    const int64_t first_c = k / k_a_group * s.group_c;
    const int64_t at = static_cast<int64_t>(plane) * s.out_size();
    fill_plane(s, x.data() + (n * s.c + first_c) * s.in_size(),
               w.data() + k * s.group_c * s.tap_count(), out.sums.data() + at,
               out.magnitudes.data() + at);
  });
  return out;
}

}  // namespace

Evaluated evaluate_convolution_fwd(const Context& context) {
  HIPPLAN_TRY_ASSIGN(const Operand* x, context.required("x"));
  HIPPLAN_TRY_ASSIGN(const Operand* w, context.required("w"));
  HIPPLAN_TRY_ASSIGN(const size_t y, context.required_output("y"));
  HIPPLAN_TRY_ASSIGN(const ConvShape s,
                     conv_shape(context, *x->tensor, *w->tensor, context.graph.tensors[y]));
  Computed result{y, {}};
  result.data = contract(
      *context.load(*x), *context.load(*w), static_cast<double>(s.group_c * s.tap_count()),
      context.roundoff,
      [&](const auto& left, const auto& right) { return convolve(s, left, right, context.jobs); });
  return std::vector<Computed>{std::move(result)};
}

}  // namespace hipplan::reference
