// Sums of products with their condition sums: what matmul and convolution share.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "reference/bounds.h"
#include "reference/node.h"

namespace hipplan::reference {

/// For every output element the sum of a*b and the sum of |a*b|.
struct Sums {
  std::vector<double> sums, magnitudes;
};

/// sums[i] += a * b[i*stride], magnitudes likewise.
inline void add_products(double a, const double* __restrict b, int64_t stride, int64_t count,
                         double* __restrict sums, double* __restrict magnitudes) {
  if (stride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      const double p = a * b[i];
      sums[i] += p;
      magnitudes[i] += std::fabs(p);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const double p = a * b[i * stride];
    sums[i] += p;
    magnitudes[i] += std::fabs(p);
  }
}

[[nodiscard]] inline std::vector<double> reach(const Dense& data) {
  std::vector<double> out(data.values.size());
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = std::fabs(data.values[i]) + (data.errors.empty() ? 0.0 : data.errors[i]);
  return out;
}

/// Values and bounds of a contraction of `length` terms. `run` maps two value arrays to Sums; when
/// an operand has errors it is called again with |a|+error: the sum grows by just what they can
/// add.
template <class Run>
[[nodiscard]] Dense contract(const Dense& a, const Dense& b, double length, double u,
                             const Run& run) {
  Sums sums = run(a.values, b.values);
  std::vector<double> grown;
  if (!a.errors.empty() || !b.errors.empty()) grown = std::move(run(reach(a), reach(b)).sums);
  const double relative = accumulation_error(length, u), tiny = length * 0x1p-126;
  Dense out;
  out.errors.resize(sums.sums.size());
  for (size_t i = 0; i < out.errors.size(); ++i) {
    const double magnitude = grown.empty() ? sums.magnitudes[i] : grown[i];
    const double inherited = grown.empty() ? 0 : grown[i] - sums.magnitudes[i] + 0x1p-48 * grown[i];
    out.errors[i] = upward(relative * magnitude + inherited + tiny);
  }
  out.values = std::move(sums.sums);
  return out;
}

}  // namespace hipplan::reference
