#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/contraction.h"
#include "reference/node.h"

namespace hipplan::reference {
namespace {

constexpr int64_t kSharedRows = 4;  // rows of a that share one pass over b

struct MatmulShape {
  std::vector<int64_t> batch;                 ///< leading dims of c
  std::vector<int64_t> a_strides, b_strides;  ///< of the leading dims, in matrices
  int64_t m = 1, n = 1, k = 1;
};

std::vector<int64_t> leading(const std::vector<int64_t>& dims) {
  return {dims.begin(), dims.end() - 2};
}

Result<MatmulShape> matmul_shape(const Context& context, const graph::Tensor& a,
                                 const graph::Tensor& b, const graph::Tensor& c) {
  if (a.dims.size() < 2) return context.bad_shape("a", "at least 2 dims", a.dims);
  if (b.dims.size() < 2) return context.bad_shape("b", "at least 2 dims", b.dims);
  if (c.dims.size() < 2) return context.bad_shape("c", "at least 2 dims", c.dims);
  MatmulShape out;
  out.m = c.dims[c.dims.size() - 2];
  out.n = c.dims.back();
  out.k = a.dims.back();
  if (a.dims[a.dims.size() - 2] != out.m)
    return context.bad_shape("a", cat(out.m, " rows as in c"), a.dims);
  if (b.dims.back() != out.n || b.dims[b.dims.size() - 2] != out.k)
    return context.bad_shape("b", cat("[…,", out.k, ",", out.n, "]"), b.dims);
  out.batch = leading(c.dims);
  const auto a_batch = leading(a.dims), b_batch = leading(b.dims);
  const auto a_strides = broadcast_strides(a_batch, row_major(a_batch), out.batch);
  const auto b_strides = broadcast_strides(b_batch, row_major(b_batch), out.batch);
  if (!a_strides) return context.bad_shape("a", "batch dims that broadcast to c's", a.dims);
  if (!b_strides) return context.bad_shape("b", "batch dims that broadcast to c's", b.dims);
  out.a_strides = *a_strides;
  out.b_strides = *b_strides;
  return out;
}

void multiply_rows(const MatmulShape& s, const double* a, const double* b, int64_t rows,
                   double* sums, double* magnitudes) {
  std::fill_n(sums, rows * s.n, 0.0);
  std::fill_n(magnitudes, rows * s.n, 0.0);
  for (int64_t k = 0; k < s.k; ++k)
    for (int64_t r = 0; r < rows; ++r)
      add_products(a[r * s.k + k], b + k * s.n, 1, s.n, sums + r * s.n, magnitudes + r * s.n);
}

Sums multiply(const MatmulShape& s, const std::vector<double>& a, const std::vector<double>& b,
              unsigned jobs) {
  const int64_t batches = product(s.batch), blocks = (s.m + kSharedRows - 1) / kSharedRows;
  Sums out;
  out.sums.resize(static_cast<size_t>(batches * s.m * s.n));
  out.magnitudes.resize(out.sums.size());
  parallel_for(static_cast<size_t>(batches * blocks), jobs, [&](size_t piece) {
    const int64_t batch = static_cast<int64_t>(piece) / blocks;
    const int64_t row = static_cast<int64_t>(piece) % blocks * kSharedRows;
    int64_t a_at = 0, b_at = 0, left = batch;
    for (size_t d = s.batch.size(); d-- > 0; left /= s.batch[d]) {
      a_at += left % s.batch[d] * s.a_strides[d];
      b_at += left % s.batch[d] * s.b_strides[d];
    }
    const int64_t at = (batch * s.m + row) * s.n;
    multiply_rows(s, a.data() + (a_at * s.m + row) * s.k, b.data() + b_at * s.k * s.n,
                  std::min(kSharedRows, s.m - row), out.sums.data() + at,
                  out.magnitudes.data() + at);
  });
  return out;
}

}  // namespace

Evaluated evaluate_matmul(const Context& context) {
  HIPPLAN_TRY_ASSIGN(const Operand* a, context.required("a"));
  HIPPLAN_TRY_ASSIGN(const Operand* b, context.required("b"));
  HIPPLAN_TRY_ASSIGN(const size_t c, context.required_output("c"));
  if (context.node.inputs.size() > 2) return context.unsupported("a matmul with extra inputs");
  HIPPLAN_TRY_ASSIGN(const MatmulShape s,
                     matmul_shape(context, *a->tensor, *b->tensor, context.graph.tensors[c]));
  Computed result{c, {}};
  result.data = contract(
      *context.load(*a), *context.load(*b), static_cast<double>(s.k), context.roundoff,
      [&](const auto& left, const auto& right) { return multiply(s, left, right, context.jobs); });
  return std::vector<Computed>{std::move(result)};
}

}  // namespace hipplan::reference
