// What a series of measured times says. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hipplan::bench {

/// Robust figures of some samples, in the samples' unit. All zero without samples.
struct Statistics {
  double median = 0;
  double mean = 0;         ///< of all samples
  double robust_mean = 0;  ///< of the samples that are no outliers
  double minimum = 0, maximum = 0;
  double lower_quartile = 0, upper_quartile = 0;
  double percentile_10 = 0, percentile_90 = 0;
  /// Median distance from the median, times 1.4826: the standard deviation where samples are
  /// normal, whatever a few outliers do.
  double spread = 0;
  std::vector<size_t> outliers;  ///< positions of samples more than 5 spreads from the median
  /// Change over the whole series by the median of all pairwise slopes, as a part of the median:
  /// 0.1 says that the last sample is 10 percent slower than the first.
  double drift = 0;
  /// The samples rise or fall together (Mann-Kendall test, one percent) and by 2 percent or more:
  /// the clock was not steady, and the median means little.
  bool drifts = false;
};

[[nodiscard]] Statistics summarize(std::span<const double> samples);

/// The value below which `part` (0 to 1) of the samples lie, between neighbours linearly.
[[nodiscard]] double percentile(std::span<const double> samples, double part);

/// Whether the difference of two medians is within what their spreads make likely (three standard
/// errors of the difference).
[[nodiscard]] bool within_noise(const Statistics& a, size_t a_count, const Statistics& b,
                                size_t b_count);

}  // namespace hipplan::bench
