#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/node.h"

namespace hipplan::reference {
namespace {

/// An operand spread over the dims of x: read at a row-major position of x.
struct Parameter {
  std::shared_ptr<const Dense> data;
  std::vector<int64_t> strides;  ///< by dim of x, 0 where repeated

  [[nodiscard]] double value(int64_t at) const { return data->values[static_cast<size_t>(at)]; }
  [[nodiscard]] double error(int64_t at) const {
    return data->errors.empty() ? 0.0 : data->errors[static_cast<size_t>(at)];
  }
};

Result<Parameter> parameter(const Context& context, std::string_view role,
                            const std::vector<int64_t>& dims) {
  HIPPLAN_TRY_ASSIGN(const Operand* operand, context.required(role));
  const auto& own = operand->tensor->dims;
  const auto strides = broadcast_strides(own, row_major(own), dims);
  if (!strides) return context.bad_shape(role, "dims that broadcast to " + dims_text(dims), own);
  return Parameter{context.load(*operand), *strides};
}

/// A parameter that may be absent: `otherwise` everywhere then.
Result<Parameter> parameter_or(const Context& context, std::string_view role,
                               const std::vector<int64_t>& dims, double otherwise) {
  if (context.input(role) != nullptr) return parameter(context, role, dims);
  auto constant = std::make_shared<Dense>();
  constant->values.push_back(otherwise);
  return Parameter{std::move(constant), std::vector<int64_t>(dims.size(), 0)};
}

/// Offset of the element at row-major position `at` of `dims` under `strides`.
int64_t offset_at(const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                  int64_t at) {
  int64_t out = 0;
  for (size_t d = dims.size(); d-- > 0; at /= dims[d]) out += at % dims[d] * strides[d];
  return out;
}

struct Number {
  double value = 0, error = 0;
};
Number at(const Parameter& p, const std::vector<int64_t>& dims, int64_t position) {
  const int64_t offset = offset_at(dims, p.strides, position);
  return {p.value(offset), p.error(offset)};
}

/// y = (x - mean) * factor * scale + bias. Bound: a kernel may fold it into x*a + (bias - mean*a)
/// with a = scale * factor; each product and sum of that form rounds, five of them on the way of
/// x*a.
Number normalized(Number x, Number mean, Number factor, Number scale, Number bias, double u) {
  const double a = scale.value * factor.value;
  const double y = (x.value - mean.value) * a + bias.value;
  const double parts = std::fabs(a) * (std::fabs(x.value) + std::fabs(mean.value));
  const double rounding = u * (5 * parts + 2 * (std::fabs(bias.value) + std::fabs(y)));
  const double reach = std::fabs(x.value - mean.value) + x.error + mean.error;
  const double moved =
      (std::fabs(scale.value) + scale.error) * (std::fabs(factor.value) + factor.error) * reach;
  const double inherited = moved - std::fabs((x.value - mean.value) * a) + bias.error;
  return {y, rounding + inherited + 0x1p-50 * moved};
}

/// 1/sqrt(v + epsilon) where v carries `error`; a kernel's rsqrt and sum add 3u and 1u.
Number inverse_root(double v, double error, double epsilon, double u) {
  const double sum = v + epsilon, value = 1 / std::sqrt(sum);
  const double low = sum - error - u * sum;
  if (!(low > 0)) return {value, sum > 0 ? std::numeric_limits<double>::infinity() : 0};
  return {value, 1 / std::sqrt(low) - value + 4 * u * value};
}

constexpr int64_t kRowPiece = 8192;

}  // namespace

Evaluated evaluate_batchnorm_inference(const Context& context) {
  const bool from_variance = context.node.type == graph::NodeType::batchnorm_inference_variance_ext;
  HIPPLAN_TRY_ASSIGN(const size_t out, context.required_output("y"));
  HIPPLAN_TRY_ASSIGN(const Operand* x, context.required("x"));
  const auto& dims = x->tensor->dims;
  if (context.graph.tensors[out].dims != dims)
    return context.bad_shape("y", dims_text(dims), context.graph.tensors[out].dims);
  HIPPLAN_TRY_ASSIGN(const Parameter mean, parameter(context, "mean", dims));
  HIPPLAN_TRY_ASSIGN(const Parameter spread,
                     parameter(context, from_variance ? "variance" : "inv_variance", dims));
  HIPPLAN_TRY_ASSIGN(const Parameter scale, parameter_or(context, "scale", dims, 1));
  HIPPLAN_TRY_ASSIGN(const Parameter bias, parameter_or(context, "bias", dims, 0));
  double epsilon = 0;
  if (from_variance) {
    HIPPLAN_TRY_ASSIGN(const Operand* operand, context.required("epsilon"));
    HIPPLAN_TRY_ASSIGN(epsilon, context.scalar("epsilon", *operand));
  }
  const auto data = context.load(*x);
  Computed result{out, {}};
  result.data.values.resize(data->values.size());
  result.data.errors.resize(data->values.size());
  const auto total = static_cast<int64_t>(data->values.size());
  parallel_for(
      static_cast<size_t>((total + kRowPiece - 1) / kRowPiece), context.jobs, [&](size_t piece) {
        const int64_t begin = static_cast<int64_t>(piece) * kRowPiece;
        for (int64_t i = begin; i < std::min(total, begin + kRowPiece); ++i) {
          const auto p = static_cast<size_t>(i);
          Number factor = at(spread, dims, i);
          if (from_variance)
            factor = inverse_root(factor.value, factor.error, epsilon, context.roundoff);
          const Number y = normalized(
              {data->values[p], data->errors.empty() ? 0.0 : data->errors[p]}, at(mean, dims, i),
              factor, at(scale, dims, i), at(bias, dims, i), context.roundoff);
          result.data.values[p] = y.value;
          result.data.errors[p] = upward(y.error);
        }
      });
  return std::vector<Computed>{std::move(result)};
}

namespace {

/// x as rows to normalize: which axes belong to a row, and where the rows and their elements lie.
struct Rows {
  std::vector<int64_t> dims;
  std::vector<bool> inside;  ///< by axis
  std::vector<int64_t> starts,
      steps;  ///< row-major positions: of each row, of each element from it
};

Result<Rows> rows_of(const Context& context, const graph::Tensor& x) {
  Rows out{x.dims, std::vector<bool>(x.dims.size(), false), {}, {}};
  const size_t rank = x.dims.size();
  if (const auto count = context.node.integer("normalized_dim_count"); count && *count > 0) {
    if (*count > static_cast<int64_t>(rank))
      return context.bad_shape("x", cat("at least ", *count, " dims"), x.dims);
    std::fill(out.inside.end() - *count, out.inside.end(), true);
  } else {
    HIPPLAN_TRY_ASSIGN(const Operand* scale, context.required("scale"));
    const auto& dims = scale->tensor->dims;
    for (size_t i = 1; i <= std::min(rank, dims.size()); ++i)
      out.inside[rank - i] = dims[dims.size() - i] == x.dims[rank - i];
  }
  out.starts = positions_along(x.dims, out.inside, false);
  out.steps = positions_along(x.dims, out.inside, true);
  return out;
}

struct RowStatistics {
  Number mean, factor;
};

/// Mean and 1/sqrt(variance + epsilon) of a row, or 0 and 1/sqrt(mean square + epsilon). The bound
/// takes in kernels that compute the variance in one pass as E[x^2] - mean^2.
RowStatistics statistics(const Dense& x, const Rows& rows, int64_t start, bool centered,
                         double epsilon, double u) {
  const auto n = static_cast<double>(rows.steps.size());
  double sum = 0, magnitude = 0, squares = 0, error = 0, square_error = 0;
  for (const int64_t step : rows.steps) {
    const auto p = static_cast<size_t>(start + step);
    const double v = x.values[p], e = x.errors.empty() ? 0.0 : x.errors[p];
    sum += v;
    magnitude += std::fabs(v);
    squares += v * v;
    error += e;
    square_error += e * (2 * std::fabs(v) + e);
  }
  const double gamma = accumulation_error(n + 2, u);
  const double square_bound = (gamma * squares + square_error) / n;
  if (!centered) return {{0, 0}, inverse_root(squares / n, square_bound, epsilon, u)};
  const double mean = sum / n, mean_error = (gamma * magnitude + error) / n;
  double variance = 0;
  for (const int64_t step : rows.steps) {
    const double d = x.values[static_cast<size_t>(start + step)] - mean;
    variance += d * d;
  }
  const double mean_square = (2 * std::fabs(mean) + mean_error) * mean_error + 2 * u * mean * mean;
  return {{mean, mean_error}, inverse_root(variance / n, square_bound + mean_square, epsilon, u)};
}

/// Adds an optional output with one element per row.
Result<void> add_row_output(const Context& context, const char* role, size_t rows,
                            const std::vector<RowStatistics>& all, Number RowStatistics::* part,
                            std::vector<Computed>& to) {
  const auto tensor = context.node.output(role);
  if (!tensor) return {};
  const auto& dims = context.graph.tensors[*tensor].dims;
  if (product(dims) != static_cast<int64_t>(rows))
    return context.bad_shape(role, cat(rows, " elements, one a row"), dims);
  Computed out{*tensor, {}};
  for (const auto& row : all) {
    out.data.values.push_back((row.*part).value);
    out.data.errors.push_back(upward((row.*part).error));
  }
  to.push_back(std::move(out));
  return {};
}

Evaluated normalize_rows(const Context& context, bool centered) {
  HIPPLAN_TRY_ASSIGN(const size_t y, context.required_output("y"));
  HIPPLAN_TRY_ASSIGN(const Operand* x, context.required("x"));
  const auto& dims = x->tensor->dims;
  if (context.graph.tensors[y].dims != dims)
    return context.bad_shape("y", dims_text(dims), context.graph.tensors[y].dims);
  HIPPLAN_TRY_ASSIGN(const Rows rows, rows_of(context, *x->tensor));
  HIPPLAN_TRY_ASSIGN(const Parameter scale, parameter_or(context, "scale", dims, 1));
  HIPPLAN_TRY_ASSIGN(const Parameter bias, parameter_or(context, "bias", dims, 0));
  HIPPLAN_TRY_ASSIGN(const Operand* epsilon_operand, context.required("epsilon"));
  HIPPLAN_TRY_ASSIGN(const double epsilon, context.scalar("epsilon", *epsilon_operand));

  const auto data = context.load(*x);
  Computed result{y, {}};
  result.data.values.resize(data->values.size());
  result.data.errors.resize(data->values.size());
  std::vector<RowStatistics> all(rows.starts.size());
  parallel_for(rows.starts.size(), context.jobs, [&](size_t row) {
    const int64_t start = rows.starts[row];
    all[row] = statistics(*data, rows, start, centered, epsilon, context.roundoff);
    for (const int64_t step : rows.steps) {
      const auto p = static_cast<size_t>(start + step);
      const Number v{data->values[p], data->errors.empty() ? 0.0 : data->errors[p]};
      const Number out =
          normalized(v, all[row].mean, all[row].factor, at(scale, dims, start + step),
                     at(bias, dims, start + step), context.roundoff);
      result.data.values[p] = out.value;
      result.data.errors[p] = upward(out.error);
    }
  });
  std::vector<Computed> out;
  out.push_back(std::move(result));
  const size_t count = rows.starts.size();
  if (centered) {
    HIPPLAN_TRY(add_row_output(context, "mean", count, all, &RowStatistics::mean, out));
    HIPPLAN_TRY(add_row_output(context, "inv_variance", count, all, &RowStatistics::factor, out));
  } else {
    HIPPLAN_TRY(add_row_output(context, "inv_rms", count, all, &RowStatistics::factor, out));
  }
  return out;
}

}  // namespace

Evaluated evaluate_layernorm(const Context& context) {
  return normalize_rows(context, true);
}
Evaluated evaluate_rmsnorm(const Context& context) {
  return normalize_rows(context, false);
}

}  // namespace hipplan::reference
