#include <algorithm>
#include <array>
#include <cmath>

#include "base/parallel.h"
#include "reference/bounds.h"
#include "reference/node.h"
#include "reference/pointwise_modes.h"

namespace hipplan::reference {
namespace {

constexpr int64_t kChunk = 4096;

/// The output's dims with neighbours merged where every operand walks them in one stride.
struct Loop {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> strides;  ///< of each operand, by dim
};

Loop merged(const std::vector<int64_t>& dims, const std::vector<std::vector<int64_t>>& strides) {
  Loop out{{}, std::vector<std::vector<int64_t>>(strides.size())};
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    bool joins = !out.dims.empty();
    for (size_t o = 0; joins && o < strides.size(); ++o)
      joins = out.strides[o].back() == strides[o][d] * dims[d];
    if (joins) {
      out.dims.back() *= dims[d];
    } else {
      out.dims.push_back(dims[d]);
    }
    for (size_t o = 0; o < strides.size(); ++o) {
      if (joins)
        out.strides[o].back() = strides[o][d];
      else
        out.strides[o].push_back(strides[o][d]);
    }
  }
  if (out.dims.empty()) {
    out.dims.push_back(1);
    for (auto& s : out.strides) s.push_back(0);
  }
  return out;
}

struct PointwiseJob {
  const PointwiseMode& mode;
  PointwiseSettings settings;
  std::vector<const Operand*> operands;
  double roundoff;
  bool exact;  ///< no operand has an error and the mode is exact
};

/// How far f can move when each operand moves by its error: the corners of the box around it.
double spread(const PointwiseJob& job, const double* at, const double* error, double value) {
  const int n = job.mode.operands;
  if (job.mode.pole_at_zero && std::fabs(at[n - 1]) <= error[n - 1]) return kInfinity;
  double out = 0;
  for (int corner = 0; corner < (1 << n); ++corner) {
    double moved[3] = {0, 0, 0};
    for (int i = 0; i < n; ++i) moved[i] = at[i] + ((corner >> i) & 1 ? error[i] : -error[i]);
    const double away =
        std::fabs(job.mode.formula(moved[0], moved[1], moved[2], job.settings) - value);
    out = away <= out ? out : (std::isnan(away) ? kInfinity : away);
  }
  return out;
}

double element_error(const PointwiseJob& job, const double* at, const double* error, double value) {
  const PointwiseMode& mode = job.mode;
  if (!std::isfinite(value)) return 0;
  double out = 0;
  if (mode.output_error != 0)
    out = mode.output_error * job.roundoff *
          (mode.magnitude != nullptr ? mode.magnitude(at[0], at[1], at[2], job.settings)
                                     : std::fabs(value));
  double reach[3];
  bool any = false;
  for (int i = 0; i < mode.operands; ++i) {
    reach[i] = error[i] + mode.input_error * job.roundoff * std::fabs(at[i]);
    any = any || reach[i] != 0;
  }
  return any ? out + spread(job, at, reach, value) : out;
}

/// One run of at most kChunk elements; offsets and strides are those of each operand.
void run_chunk(const PointwiseJob& job, const int64_t* offsets, const int64_t* strides,
               int64_t count, double* values, float* errors) {
  thread_local std::array<std::array<double, kChunk>, 3> at_rows, error_rows;
  const size_t n = job.operands.size();
  for (size_t o = 0; o < n; ++o) {
    job.operands[o]->read(offsets[o], strides[o], count, at_rows[o].data());
    if (!job.exact)
      job.operands[o]->read_errors(offsets[o], strides[o], count, error_rows[o].data());
  }
  const auto formula = job.mode.formula;
  for (int64_t i = 0; i < count; ++i) {
    double at[3] = {0, 0, 0};
    for (size_t o = 0; o < n; ++o) at[o] = at_rows[o][static_cast<size_t>(i)];
    values[i] = formula(at[0], at[1], at[2], job.settings);
    if (job.exact) continue;
    double error[3] = {0, 0, 0};
    for (size_t o = 0; o < n; ++o) error[o] = error_rows[o][static_cast<size_t>(i)];
    errors[i] = upward(element_error(job, at, error, values[i]));
  }
}

/// A piece of work: a run within a row of the merged loop, or several short rows.
void run_loop(const PointwiseJob& job, const Loop& loop, unsigned jobs, Dense& out) {
  const int64_t length = loop.dims.back(), rows = product(loop.dims) / length;
  const int64_t chunks = (length + kChunk - 1) / kChunk;
  const int64_t rows_a_piece = std::max<int64_t>(1, kChunk / length);
  const int64_t row_groups = (rows + rows_a_piece - 1) / rows_a_piece;
  const size_t n = job.operands.size();
  parallel_for(static_cast<size_t>(row_groups * chunks), jobs, [&](size_t piece) {
    const int64_t group = static_cast<int64_t>(piece) / chunks;
    const int64_t begin = static_cast<int64_t>(piece) % chunks * kChunk;
    const int64_t count = std::min(kChunk, length - begin);
    const int64_t last = std::min(rows, (group + 1) * rows_a_piece);
    for (int64_t row = group * rows_a_piece; row < last; ++row) {
      int64_t offsets[3] = {0, 0, 0}, strides[3] = {0, 0, 0};
      int64_t left = row;
      for (size_t d = loop.dims.size() - 1; d-- > 0; left /= loop.dims[d])
        for (size_t o = 0; o < n; ++o) offsets[o] += left % loop.dims[d] * loop.strides[o][d];
      for (size_t o = 0; o < n; ++o) {
        strides[o] = loop.strides[o].back();
        offsets[o] += begin * strides[o];
      }
      const int64_t position = row * length + begin;
      run_chunk(job, offsets, strides, count, out.values.data() + position,
                out.errors.empty() ? nullptr : out.errors.data() + position);
    }
  });
}

Evaluated index_values(const Context& context, size_t out) {
  const auto& dims = context.graph.tensors[out].dims;
  auto axis = context.node.integer("axis_tensor_uid");
  if (!axis) axis = context.node.integer("axis");
  if (!axis || *axis < 0 || *axis >= static_cast<int64_t>(dims.size()))
    return Error{.code = Code::bad_input,
                 .reason = "axis",
                 .where = context.where,
                 .what = "gen_index needs an axis of its output",
                 .expected = cat("0 to ", static_cast<int64_t>(dims.size()) - 1),
                 .found = axis ? cat(*axis) : "none"};
  const auto a = static_cast<size_t>(*axis);
  const int64_t inner = row_major(dims)[a];
  Computed result{out, {}};
  result.data.values.resize(static_cast<size_t>(product(dims)));
  for (size_t i = 0; i < result.data.values.size(); ++i)
    result.data.values[i] = static_cast<double>(static_cast<int64_t>(i) / inner % dims[a]);
  return std::vector<Computed>{std::move(result)};
}

/// Operands of a wider type than the arithmetic are converted first: they carry that error.
bool converts(const Context& context, const Operand& operand) {
  const TypeFacts& f = facts(operand.tensor->type);
  return !f.integer && f.unit_roundoff < context.roundoff && context.roundoff > 0x1p-52;
}

}  // namespace

Evaluated evaluate_pointwise(const Context& context) {
  const std::string operation = context.node.text("operation").value_or("unset");
  const PointwiseMode* mode = pointwise_mode(operation);
  if (mode == nullptr) return context.unsupported("pointwise operation '" + operation + "'");
  HIPPLAN_TRY_ASSIGN(const size_t out, context.required_output("out_0"));
  if (mode->formula == nullptr) return index_values(context, out);

  const auto& dims = context.graph.tensors[out].dims;
  PointwiseJob job{*mode, pointwise_settings(context.node), {}, context.roundoff, true};
  job.exact = mode->output_error == 0 && mode->input_error == 0;
  std::vector<Operand> converted(3);
  std::vector<std::vector<int64_t>> strides;
  for (int i = 0; i < mode->operands; ++i) {
    const std::string role = cat("in_", i);
    HIPPLAN_TRY_ASSIGN(const Operand* operand, context.required(role));
    if (!job.exact && converts(context, *operand)) {
      converted[static_cast<size_t>(i)] = {operand->tensor, nullptr, context.load(*operand)};
      operand = &converted[static_cast<size_t>(i)];
    }
    auto stride = broadcast_strides(operand->tensor->dims, operand->strides(), dims);
    if (!stride)
      return context.bad_shape(role, "dims that broadcast to " + dims_text(dims),
                               operand->tensor->dims);
    job.exact = job.exact && operand->exact();
    job.operands.push_back(operand);
    strides.push_back(std::move(*stride));
  }
  Computed result{out, {}};
  result.data.values.resize(static_cast<size_t>(product(dims)));
  if (!job.exact) result.data.errors.resize(result.data.values.size());
  run_loop(job, merged(dims, strides), context.jobs, result.data);
  return std::vector<Computed>{std::move(result)};
}

}  // namespace hipplan::reference
