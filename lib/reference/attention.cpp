#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "reference/attention_shape.h"
#include "reference/bounds.h"
#include "reference/contraction.h"
#include "reference/node.h"

namespace hipplan::reference {
namespace {

constexpr int64_t kRows = 16;  // query rows a piece of work takes

struct Dot {
  double sum = 0, magnitude = 0;
};
/// Sum of a*b and of |a*b|, in eight interleaved partial sums.
Dot dot(const double* a, const double* b, int64_t count) {
  double sums[8] = {}, magnitudes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int64_t l = 0; l < 8; ++l) {
      const double p = a[i + l] * b[i + l];
      sums[l] += p;
      magnitudes[l] += std::fabs(p);
    }
  Dot out;
  for (int64_t l = 0; l < 8; ++l) {
    out.sum += sums[l];
    out.magnitude += magnitudes[l];
  }
  for (; i < count; ++i) {
    out.sum += a[i] * b[i];
    out.magnitude += std::fabs(a[i] * b[i]);
  }
  return out;
}

/// Outputs and work space shared by all rows.
struct Job {
  const Attention& a;
  double u;
  std::vector<double> q_reach, k_reach;  ///< |value| + error; empty when both are exact
  Dense *o = nullptr, *stats = nullptr, *max = nullptr, *sum_exp = nullptr;
};

/// One row of scores and what becomes of it.
struct Row {
  std::vector<double> score, error;  ///< of each key from `first`
  std::vector<double> p, weight;     ///< exp(s - max), and p times all relative errors
  int64_t first = 0;
  double max = -kInfinity, largest = 0, max_error = 0;
  double sum = 0;             ///< of p
  double relative_error = 0;  ///< of `sum`, without the rounding of p
};

/// s = scale * q.k + mask with its error (docs/numerics.md, "Attention").
void score_row(const Job& job, int64_t batch, int64_t head, int64_t i, Attention::Keys keys,
               Row& row) {
  const Attention& a = job.a;
  const int64_t k_head = head * a.k.heads / a.heads;
  const int64_t q_at = ((batch * a.heads + head) * a.rows_q + i) * a.width;
  const double gamma = accumulation_error(static_cast<double>(a.width), job.u);
  row.first = keys.first;
  const auto count = static_cast<size_t>(keys.last - keys.first);
  row.score.resize(count);
  row.error.resize(count);
  for (size_t n = 0; n < count; ++n) {
    const int64_t j = keys.first + static_cast<int64_t>(n), k_at = a.k.row(batch, k_head, j);
    const Dot d = dot(a.q->values.data() + q_at, a.k.data->values.data() + k_at, a.width);
    double error = gamma * d.magnitude;
    if (!job.q_reach.empty()) {
      const Dot r = dot(job.q_reach.data() + q_at, job.k_reach.data() + k_at, a.width);
      error = gamma * r.magnitude + (r.magnitude - d.magnitude) + 0x1p-48 * r.magnitude;
    }
    double s = a.scale * d.sum;
    error = std::fabs(a.scale) * error + 4 * job.u * std::fabs(s);
    if (a.mask != nullptr) {
      const int64_t at = batch * a.mask_strides[0] + head * a.mask_strides[1] +
                         i * a.mask_strides[2] + j * a.mask_strides[3];
      const double m = a.mask->values[static_cast<size_t>(at)];
      if (a.mask_keeps) {
        s = m != 0 ? s : -kInfinity;
      } else {
        s += m;
        error += 2 * job.u * (std::fabs(s) + std::fabs(m));
        if (!a.mask->errors.empty()) error += a.mask->errors[static_cast<size_t>(at)];
      }
    }
    row.score[n] = s;
    row.error[n] = s == -kInfinity ? 0 : error;
  }
}

/// Softmax weights before the division, and how far a kernel's may be off.
void weigh_row(const Job& job, Row& row) {
  const size_t count = row.score.size();
  row.max = -kInfinity;
  row.largest = row.max_error = row.sum = row.relative_error = 0;
  for (size_t n = 0; n < count; ++n) {
    if (row.score[n] == -kInfinity) continue;
    row.max = row.score[n] > row.max || std::isnan(row.score[n]) ? row.score[n] : row.max;
    row.largest = std::max(row.largest, std::fabs(row.score[n]));
    row.max_error = std::max(row.max_error, row.error[n]);
  }
  row.p.assign(count, 0);
  row.weight.assign(count, 0);
  if (row.max == -kInfinity) return;
  const double gamma = accumulation_error(2 * static_cast<double>(count) + 16, job.u);
  double weighted = 0;
  for (size_t n = 0; n < count; ++n) {
    if (row.score[n] == -kInfinity) continue;
    const double p = std::exp(row.score[n] - row.max);
    const double argument =
        row.error[n] + job.u * (3 * (std::fabs(row.score[n]) + row.largest) + 8);
    const double relative = std::expm1(argument) + gamma;
    row.p[n] = p;
    row.weight[n] = p * (relative + job.a.probability_roundoff) + job.a.probability_tiny + 0x1p-126;
    row.sum += p;
    weighted += p * relative + 0x1p-126;
  }
  row.relative_error = weighted / row.sum;
}

/// o = sum p*v / sum p, into the output's row.
void blend_row(const Job& job, int64_t batch, int64_t head, const Row& row, int64_t at) {
  const Attention& a = job.a;
  const int64_t v_head = head * a.v.heads / a.heads, width = a.v.width;
  std::vector<double> sums(static_cast<size_t>(width)), errors(static_cast<size_t>(width));
  for (size_t n = 0; n < row.p.size(); ++n) {
    if (row.weight[n] == 0) continue;
    const int64_t v_at = a.v.row(batch, v_head, row.first + static_cast<int64_t>(n));
    const double* v = a.v.data->values.data() + v_at;
    const double p = row.p[n], w = row.weight[n];
    for (int64_t d = 0; d < width; ++d) {
      sums[static_cast<size_t>(d)] += p * v[d];
      errors[static_cast<size_t>(d)] += w * std::fabs(v[d]);
    }
    if (a.v.data->errors.empty()) continue;
    const float* e = a.v.data->errors.data() + v_at;
    for (int64_t d = 0; d < width; ++d) errors[static_cast<size_t>(d)] += (p + w) * e[d];
  }
  const double shrink = 1 - row.relative_error;
  for (int64_t d = 0; d < width; ++d) {
    const double o = sums[static_cast<size_t>(d)] / row.sum;
    const double error =
        errors[static_cast<size_t>(d)] / row.sum + std::fabs(o) * row.relative_error;
    const double bound = shrink > 0 ? error / shrink + 6 * job.u * std::fabs(o) : kInfinity;
    job.o->values[static_cast<size_t>(at + d)] = o * a.out_factor;
    job.o->errors[static_cast<size_t>(at + d)] = upward(bound * std::fabs(a.out_factor));
  }
}

void store(Dense* to, int64_t at, double value, double error) {
  if (to == nullptr) return;
  to->values[static_cast<size_t>(at)] = value;
  to->errors[static_cast<size_t>(at)] = upward(error);
}

void attend_row(const Job& job, int64_t batch, int64_t head, int64_t i, Row& row) {
  const Attention& a = job.a;
  const int64_t at = (batch * a.heads + head) * a.rows_q + i;
  score_row(job, batch, head, i, a.keys(batch, i), row);
  weigh_row(job, row);
  if (row.max == -kInfinity) {  // o stays 0
    store(job.stats, at, -kInfinity, 0);
    store(job.max, at, -kInfinity, 0);
    store(job.sum_exp, at, 0, 0);
    return;
  }
  if (job.o != nullptr) blend_row(job, batch, head, row, at * a.v.width);
  const double stats = row.max + std::log(row.sum);
  store(job.stats, at, stats,
        row.relative_error + 8 * job.u * (1 + std::fabs(row.max) + std::fabs(stats)));
  store(job.max, at, row.max, row.max_error + 2 * job.u * std::fabs(row.max));
  store(job.sum_exp, at, row.sum, row.sum * (row.relative_error + std::expm1(row.max_error)));
}

/// Room for an output of `elements` elements, in `all`; null when the node does not have it.
Result<Dense*> prepare(const Context& context, const char* role, int64_t elements,
                       std::vector<Computed>& all) {
  const auto tensor = context.node.output(role);
  if (!tensor) return static_cast<Dense*>(nullptr);
  const auto& dims = context.graph.tensors[*tensor].dims;
  if (product(dims) != elements) return context.bad_shape(role, cat(elements, " elements"), dims);
  all.push_back({*tensor, {}});
  all.back().data.values.resize(static_cast<size_t>(elements));
  all.back().data.errors.resize(static_cast<size_t>(elements));
  return &all.back().data;
}

}  // namespace

Evaluated evaluate_sdpa(const Context& context) {
  HIPPLAN_TRY_ASSIGN(const Attention a, read_attention(context));
  const int64_t rows = a.batches * a.heads * a.rows_q;
  std::vector<Computed> out;
  out.reserve(4);
  Job job{.a = a, .u = context.roundoff, .q_reach = {}, .k_reach = {}};
  HIPPLAN_TRY_ASSIGN(job.o, prepare(context, "o", rows * a.v.width, out));
  HIPPLAN_TRY_ASSIGN(job.stats, prepare(context, "stats", rows, out));
  HIPPLAN_TRY_ASSIGN(job.max, prepare(context, "max", rows, out));
  HIPPLAN_TRY_ASSIGN(job.sum_exp, prepare(context, "sum_exp", rows, out));
  if (!a.q->errors.empty() || !a.k.data->errors.empty()) {
    job.q_reach = reach(*a.q);
    job.k_reach = reach(*a.k.data);
  }
  const int64_t blocks = (a.rows_q + kRows - 1) / kRows;
  parallel_for(static_cast<size_t>(a.batches * a.heads * blocks), context.jobs, [&](size_t piece) {
    const int64_t block = static_cast<int64_t>(piece) % blocks;
    const int64_t pair = static_cast<int64_t>(piece) / blocks;
    Row row;
    for (int64_t i = block * kRows; i < std::min(a.rows_q, (block + 1) * kRows); ++i)
      attend_row(job, pair / a.heads, pair % a.heads, i, row);
  });
  return out;
}

}  // namespace hipplan::reference
