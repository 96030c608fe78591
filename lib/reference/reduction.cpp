#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/node.h"

namespace hipplan::reference {
namespace {

/// Running values of one output element. `grown` is the result with every |x| enlarged by its
/// error.
struct Running {
  double value = 0, magnitude = 0, grown = 0, error = 0, count = 0;
};

/// A mode: where it starts, what one element adds, and the finish.
struct Mode {
  std::string_view name;
  double start;
  void (*add)(Running& r, double x, double e);
  /// Turns the running values into {value, error} given gamma for the element count and u.
  void (*finish)(Running& r, double gamma, double u);
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void add_sum(Running& r, double x, double e) {
  r.value += x;
  r.magnitude += std::fabs(x);
  r.error += e;
}
void finish_sum(Running& r, double gamma, double) {
  r.error += gamma * (r.magnitude + r.error);
}
void finish_average(Running& r, double gamma, double u) {
  finish_sum(r, gamma, u);
  r.value /= r.count;
  r.error = r.error / r.count + 5 * u * std::fabs(r.value);
}
void add_product(Running& r, double x, double e) {
  r.value *= x;
  r.magnitude *= std::fabs(x);
  r.grown *= std::fabs(x) + e;
}
void add_nonzero(Running& r, double x, double e) {
  if (x == 0 && e == 0) return;
  if (std::fabs(x) <= e) r.error = kInfinity;
  if (x != 0) add_product(r, x, e);
}
void finish_product(Running& r, double gamma, double) {
  r.error += gamma * r.grown + (r.grown - r.magnitude) + 0x1p-50 * r.grown;
}
void add_least(Running& r, double x, double e) {
  r.value = std::fmin(r.value, x);
  r.error = std::max(r.error, e);
}
void add_largest(Running& r, double x, double e) {
  r.value = std::fmax(r.value, x);
  r.error = std::max(r.error, e);
}
void add_largest_magnitude(Running& r, double x, double e) {
  add_largest(r, std::fabs(x), e);
}
void finish_exact(Running&, double, double) {}
void add_magnitude(Running& r, double x, double e) {
  add_sum(r, std::fabs(x), e);
}
void add_square(Running& r, double x, double e) {
  add_sum(r, x * x, e * (2 * std::fabs(x) + e));
}
void finish_root(Running& r, double gamma, double u) {
  finish_sum(r, gamma, u);
  const double square = r.value, root = std::sqrt(square);
  // sqrt(s+e) - sqrt(s) bounds both sides: below zero there is nothing.
  const double low = std::sqrt(std::max(0.0, square - r.error));
  r.value = root;
  r.error = std::max(std::sqrt(square + r.error) - root, root - low) + 6 * u * root;
}

constexpr Mode kReductionModes[] = {
    {"ADD", 0, add_sum, finish_sum},
    {"AVG", 0, add_sum, finish_average},
    {"MUL", 1, add_product, finish_product},
    {"MUL_NO_ZEROS", 1, add_nonzero, finish_product},
    {"MIN", kInfinity, add_least, finish_exact},
    {"MAX", -kInfinity, add_largest, finish_exact},
    {"AMAX", 0, add_largest_magnitude, finish_exact},
    {"NORM1", 0, add_magnitude, finish_sum},
    {"NORM2", 0, add_square, finish_root},
};

const Mode* find_mode(std::string_view name) {
  for (const auto& mode : kReductionModes)
    if (mode.name == name) return &mode;
  return nullptr;
}

Result<std::vector<bool>> reduced_axes(const Context& context, const std::vector<int64_t>& in,
                                       const std::vector<int64_t>& out) {
  if (in.size() != out.size())
    return context.bad_shape("out", cat(in.size(), " dims as the input"), out);
  std::vector<bool> reduced(in.size());
  for (size_t d = 0; d < in.size(); ++d) {
    if (out[d] != 1 && out[d] != in[d])
      return context.bad_shape("out", "1 or the input's dim on every axis", out);
    reduced[d] = out[d] == 1;
  }
  return reduced;
}

}  // namespace

Evaluated evaluate_reduction(const Context& context) {
  const std::string name = context.node.text("mode").value_or("NOT_SET");
  const Mode* mode = find_mode(name);
  if (mode == nullptr) return context.unsupported("reduction mode '" + name + "'");
  HIPPLAN_TRY_ASSIGN(const Operand* in, context.required("in"));
  HIPPLAN_TRY_ASSIGN(const size_t out, context.required_output("out"));
  const auto& dims = in->tensor->dims;
  HIPPLAN_TRY_ASSIGN(const auto reduced,
                     reduced_axes(context, dims, context.graph.tensors[out].dims));
  const auto starts = positions_along(dims, reduced, false),
             steps = positions_along(dims, reduced, true);
  const auto data = context.load(*in);
  const double gamma = accumulation_error(static_cast<double>(steps.size()) + 1, context.roundoff);
  Computed result{out, {}};
  result.data.values.resize(starts.size());
  result.data.errors.resize(starts.size());
  parallel_for(starts.size(), context.jobs, [&](size_t i) {
    Running r{mode->start, mode->start, mode->start, 0, static_cast<double>(steps.size())};
    for (const int64_t step : steps) {
      const auto p = static_cast<size_t>(starts[i] + step);
      mode->add(r, data->values[p], data->errors.empty() ? 0.0 : data->errors[p]);
    }
    mode->finish(r, gamma, context.roundoff);
    result.data.values[i] = r.value;
    result.data.errors[i] = upward(r.error);
  });
  return std::vector<Computed>{std::move(result)};
}

}  // namespace hipplan::reference
