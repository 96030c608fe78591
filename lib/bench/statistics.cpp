#include "bench/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hipplan::bench {
namespace {

/// The standard deviation of a normal distribution over its median absolute deviation.
constexpr double kNormal = 1.4826;
/// Beyond that many spreads a sample is an outlier; and never within this part of the median, which
/// a timer's resolution alone can make.
constexpr double kOutlierSpreads = 5, kResolution = 0.005;
/// Mann-Kendall: one percent two-sided; and the change that matters.
constexpr double kSureTrend = 2.576, kSmallDrift = 0.02;

double of_sorted(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  const double place = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  std::vector<double> out(samples.begin(), samples.end());
  std::sort(out.begin(), out.end());
  return out;
}

double mean_of(std::span<const double> samples) {
  if (samples.empty()) return 0;
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

void find_outliers(std::span<const double> samples, Statistics& out) {
  const double limit = std::max(kOutlierSpreads * out.spread, kResolution * out.median);
  std::vector<double> kept;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (std::abs(samples[i] - out.median) > limit)
      out.outliers.push_back(i);
    else
      kept.push_back(samples[i]);
  }
  out.robust_mean = mean_of(kept);
}

/// Mann-Kendall's test and the Theil-Sen slope.
void find_drift(std::span<const double> samples, Statistics& out) {
  const auto n = static_cast<double>(samples.size());
  if (samples.size() < 5 || out.median <= 0) return;
  std::vector<double> slopes;
  double sign_sum = 0;
  for (size_t i = 0; i < samples.size(); ++i)
    for (size_t j = i + 1; j < samples.size(); ++j) {
      const double rise = samples[j] - samples[i];
      slopes.push_back(rise / static_cast<double>(j - i));
      sign_sum += rise > 0 ? 1 : rise < 0 ? -1 : 0;
    }
  out.drift = of_sorted(sorted_copy(slopes), 0.5) * (n - 1) / out.median;
  const double deviation = std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
  out.drifts =
      (std::abs(sign_sum) - 1) / deviation > kSureTrend && std::abs(out.drift) >= kSmallDrift;
}

}  // namespace

double percentile(std::span<const double> samples, double part) {
  return of_sorted(sorted_copy(samples), std::clamp(part, 0.0, 1.0));
}

Statistics summarize(std::span<const double> samples) {
  Statistics out;
  if (samples.empty()) return out;
  const auto sorted = sorted_copy(samples);
  out.minimum = sorted.front();
  out.maximum = sorted.back();
  out.median = of_sorted(sorted, 0.5);
  out.lower_quartile = of_sorted(sorted, 0.25);
  out.upper_quartile = of_sorted(sorted, 0.75);
  out.percentile_10 = of_sorted(sorted, 0.1);
  out.percentile_90 = of_sorted(sorted, 0.9);
  out.mean = mean_of(samples);
  std::vector<double> distances;
  for (const double sample : samples) distances.push_back(std::abs(sample - out.median));
  out.spread = kNormal * of_sorted(sorted_copy(distances), 0.5);
  find_outliers(samples, out);
  find_drift(samples, out);
  return out;
}

bool within_noise(const Statistics& a, size_t a_count, const Statistics& b, size_t b_count) {
  if (a_count == 0 || b_count == 0) return true;
  // The median's standard error is that of the mean times sqrt(pi / 2).
  constexpr double kMedianError = 1.2533;
  const double error = kMedianError * std::sqrt(a.spread * a.spread / static_cast<double>(a_count) +
                                                b.spread * b.spread / static_cast<double>(b_count));
  return std::abs(a.median - b.median) <= 3 * error;
}

}  // namespace hipplan::bench
