#include "run/compare.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

#include "base/parallel.h"
#include "reference/element.h"

namespace hipplan::run {
namespace {

using reference::facts;
using reference::TypeFacts;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kChunk = 4096;

/// What a piece of the tensor contributes; merged in the order of the pieces.
struct Tally {
  uint64_t failed = 0, wrong_nan = 0, both_nan = 0, unbounded = 0, finite = 0, not_finite = 0;
  double max_abs_error = 0, square_sum = 0, max_abs_expected = 0;
  double ratio = -1;  ///< of the worst element; below 0: none yet
  int64_t worst = 0;  ///< its row-major position
  double expected = 0, got = 0, bound = 0;
};

/// |got - expected| in units of the bound, infinity when the two cannot be reconciled.
double ratio_of(const TypeFacts& type, double expected, double got, double bound) {
  if (got == expected) return 0;
  if (std::isnan(expected) || std::isnan(got)) return kInfinity;
  if (bound == kInfinity) return 0;
  // Beyond the largest number a store gives infinity or the largest number itself.
  const bool may_overflow = std::fabs(expected) + bound > type.largest * (1 - type.unit_roundoff);
  if (may_overflow && std::signbit(got) == std::signbit(expected) &&
      (std::isinf(got) || std::fabs(got) >= type.largest))
    return std::isinf(expected) || std::fabs(expected) > type.largest ? 0 : 1;
  const double error = std::fabs(got - expected);
  if (!std::isfinite(error)) return kInfinity;
  return bound > 0 ? error / bound : kInfinity;
}

void judge(Tally& t, const TypeFacts& type, double expected, double got, double bound,
           int64_t position) {
  if (!std::isfinite(got)) ++t.not_finite;
  if (std::isnan(expected) && std::isnan(got)) {
    ++t.both_nan;
    return;
  }
  // A NaN cannot be stored in such a type; what stands there instead is not specified.
  if (std::isnan(expected) && !type.has_nan) {
    ++t.unbounded;
    return;
  }
  if (std::isnan(expected) || std::isnan(got)) ++t.wrong_nan;
  if (bound == kInfinity && !std::isnan(got)) ++t.unbounded;
  if (std::isfinite(expected) && std::isfinite(got)) {
    const double error = std::fabs(got - expected);
    ++t.finite;
    t.max_abs_error = std::max(t.max_abs_error, error);
    t.max_abs_expected = std::max(t.max_abs_expected, std::fabs(expected));
    t.square_sum += error * error;
  }
  const double ratio = ratio_of(type, expected, got, bound);
  if (ratio > 1) ++t.failed;
  if (ratio > t.ratio) {
    t.ratio = ratio;
    t.worst = position;
    t.expected = expected;
    t.got = got;
    t.bound = bound;
  }
}

void merge(Tally& into, const Tally& from) {
  into.failed += from.failed;
  into.wrong_nan += from.wrong_nan;
  into.both_nan += from.both_nan;
  into.unbounded += from.unbounded;
  into.finite += from.finite;
  into.not_finite += from.not_finite;
  into.square_sum += from.square_sum;
  into.max_abs_error = std::max(into.max_abs_error, from.max_abs_error);
  into.max_abs_expected = std::max(into.max_abs_expected, from.max_abs_expected);
  if (from.ratio <= into.ratio) return;
  into.ratio = from.ratio;
  into.worst = from.worst;
  into.expected = from.expected;
  into.got = from.got;
  into.bound = from.bound;
}

Comparison summary(const graph::Tensor& tensor, const Tally& t) {
  Comparison out;
  out.elements = static_cast<uint64_t>(tensor.element_count());
  out.failed = t.failed;
  out.wrong_nan = t.wrong_nan;
  out.both_nan = t.both_nan;
  out.unbounded = t.unbounded;
  out.not_finite = t.not_finite;
  out.max_abs_error = t.max_abs_error;
  out.rms_error = t.finite == 0 ? 0 : std::sqrt(t.square_sum / static_cast<double>(t.finite));
  out.max_abs_expected = t.max_abs_expected;
  out.pass = t.failed == 0;
  if (t.ratio < 0) return out;
  out.worst = {std::vector<int64_t>(tensor.dims.size()), t.expected, t.got, t.bound, t.ratio};
  int64_t left = t.worst;
  for (size_t d = tensor.dims.size(); d-- > 0; left /= tensor.dims[d])
    out.worst.index[d] = left % tensor.dims[d];
  return out;
}

double bound_of(const Tolerance& tolerance, double expected, double derived) {
  if (!tolerance.atol && !tolerance.rtol) return derived;
  const double relative = std::isfinite(expected) ? std::fabs(expected) : 0;
  return tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * relative;
}

Result<void> check_size(const graph::Tensor& tensor, ByteView bytes, const char* which) {
  const auto needed = static_cast<uint64_t>(tensor.span_bytes());
  if (bytes.size() >= needed) return {};
  return Error{Code::bad_input,
               "input-size",
               cat("tensor ", tensor.uid, " '", tensor.name, "'"),
               cat("the ", which, " buffer is too short"),
               cat(needed, " bytes"),
               cat(bytes.size(), " bytes"),
               ""};
}

/// Calls row(tally, offset, position, count) over the whole tensor in runs of at most kChunk
/// elements along its last dim, and adds the tallies up in order.
template <class Run>
Tally tally_runs(const graph::Tensor& tensor, unsigned jobs, const Run& run) {
  const auto shape = reference::row_shape(tensor);
  const int64_t chunks = (shape.length + kChunk - 1) / kChunk;
  const int64_t rows = std::max<int64_t>(1, 8 * kChunk / shape.length);
  const int64_t groups = (shape.rows + rows - 1) / rows;
  std::vector<Tally> tallies(static_cast<size_t>(groups * chunks));
  parallel_for(tallies.size(), jobs, [&](size_t piece) {
    Tally local;
    const int64_t begin = static_cast<int64_t>(piece) % chunks * kChunk;
    const int64_t first = static_cast<int64_t>(piece) / chunks * rows;
    for (int64_t row = first; row < std::min(first + rows, shape.rows); ++row)
      run(local, reference::row_offset(tensor, row) + begin * shape.stride, shape.stride,
          row * shape.length + begin, std::min(kChunk, shape.length - begin));
    tallies[piece] = local;
  });
  Tally out;
  for (const auto& t : tallies) merge(out, t);
  return out;
}

}  // namespace

std::string Comparison::text() const {
  std::ostringstream out;
  out << elements << " elements";
  if (failed != 0) out << ", " << failed << " beyond their bound";
  if (wrong_nan != 0) out << " (" << wrong_nan << " NaN)";
  if (unbounded != 0) out << ", " << unbounded << " without a bound";
  if (elements == 0 || worst.index.empty()) return out.str();
  out << ", worst " << std::setprecision(3) << worst.ratio << " of its bound at [";
  for (size_t d = 0; d < worst.index.size(); ++d) out << (d == 0 ? "" : ",") << worst.index[d];
  out << "] (expected " << std::setprecision(9) << worst.expected << ", got " << worst.got
      << ", bound " << std::setprecision(3) << worst.bound << ")";
  return out.str();
}

Result<Comparison> compare(const graph::Tensor& tensor, const reference::Output& expected,
                           ByteView got, const Tolerance& tolerance, unsigned jobs) {
  HIPPLAN_TRY(check_size(tensor, got, "output"));
  const auto count = static_cast<size_t>(tensor.element_count());
  if (expected.values.size() != count || expected.bounds.size() != count)
    return Error{Code::internal,
                 "input-size",
                 cat("tensor ", tensor.uid),
                 "the reference has another number of elements",
                 cat(count),
                 cat(expected.values.size()),
                 ""};
  const TypeFacts& type = facts(tensor.type);
  const auto run = [&](Tally& t, int64_t offset, int64_t stride, int64_t position, int64_t n) {
    double found[kChunk];
    reference::decode(tensor.type, got.data(), offset, stride, n, found);
    for (int64_t i = 0; i < n; ++i) {
      const auto p = static_cast<size_t>(position + i);
      judge(t, type, expected.values[p], found[i],
            bound_of(tolerance, expected.values[p], expected.bounds[p]), position + i);
    }
  };
  return summary(tensor, tally_runs(tensor, jobs, run));
}

Result<Comparison> compare_buffers(const graph::Tensor& tensor, ByteView expected, ByteView got,
                                   const Tolerance& tolerance, unsigned jobs) {
  HIPPLAN_TRY(check_size(tensor, expected, "expected"));
  HIPPLAN_TRY(check_size(tensor, got, "output"));
  const TypeFacts& type = facts(tensor.type);
  const auto run = [&](Tally& t, int64_t offset, int64_t stride, int64_t position, int64_t n) {
    double wanted[kChunk], found[kChunk];
    reference::decode(tensor.type, expected.data(), offset, stride, n, wanted);
    reference::decode(tensor.type, got.data(), offset, stride, n, found);
    for (int64_t i = 0; i < n; ++i)
      judge(t, type, wanted[i], found[i], bound_of(tolerance, wanted[i], 0), position + i);
  };
  return summary(tensor, tally_runs(tensor, jobs, run));
}

}  // namespace hipplan::run
