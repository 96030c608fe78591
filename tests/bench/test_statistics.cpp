#include <doctest/doctest.h>

#include "bench/statistics.h"

using namespace hipplan::bench;

TEST_CASE("the figures of a steady series") {
  const std::vector<double> samples = {10, 11, 9, 10, 12, 8, 10};
  const auto s = summarize(samples);
  CHECK(s.median == 10);
  CHECK(s.mean == doctest::Approx(10));
  CHECK(s.robust_mean == doctest::Approx(10));
  CHECK(s.minimum == 8);
  CHECK(s.maximum == 12);
  CHECK(s.lower_quartile == doctest::Approx(9.5));
  CHECK(s.upper_quartile == doctest::Approx(10.5));
  CHECK(s.spread == doctest::Approx(1.4826));
  CHECK(s.outliers.empty());
  CHECK_FALSE(s.drifts);
}

TEST_CASE("no samples and one sample") {
  CHECK(summarize({}).median == 0);
  const std::vector<double> one = {5};
  const auto s = summarize(one);
  CHECK(s.median == 5);
  CHECK(s.robust_mean == 5);
  CHECK(s.spread == 0);
  CHECK(s.outliers.empty());
  CHECK_FALSE(s.drifts);
}

TEST_CASE("an outlier is told and does not move the robust figures") {
  const std::vector<double> samples = {10.0, 10.1, 9.9, 10.0, 50.0, 10.1, 9.9};
  const auto s = summarize(samples);
  CHECK(s.outliers == std::vector<size_t>{4});
  CHECK(s.median == 10.0);
  CHECK(s.robust_mean == doctest::Approx(10.0));
  CHECK(s.mean > 15);
  // Samples that differ by what a timer resolves are all good.
  const std::vector<double> steps = {1000, 1000, 1000, 1000, 1001, 1000, 1000};
  CHECK(summarize(steps).outliers.empty());
}

TEST_CASE("a drift is a trend that is sure and not small") {
  std::vector<double> rising, falling, slight, jitter;
  for (int i = 0; i < 9; ++i) {
    rising.push_back(100 + 2 * i);
    falling.push_back(100 - 2 * i);
    slight.push_back(100 + 0.1 * i);
    jitter.push_back(100 + (i % 2 == 0 ? 3 : -3));
  }
  CHECK(summarize(rising).drifts);
  CHECK(summarize(rising).drift == doctest::Approx(16.0 / 108));
  CHECK(summarize(falling).drifts);
  CHECK(summarize(falling).drift < 0);
  CHECK_FALSE(summarize(slight).drifts);
  CHECK_FALSE(summarize(jitter).drifts);
  const std::vector<double> seven = {100, 102, 104, 106, 108, 110, 112};
  CHECK(summarize(seven).drifts);
  const std::vector<double> few = {100, 110, 120, 130};
  CHECK_FALSE(summarize(few).drifts);
}

TEST_CASE("percentiles lie between neighbours") {
  const std::vector<double> samples = {4, 1, 3, 2};
  CHECK(percentile(samples, 0) == 1);
  CHECK(percentile(samples, 1) == 4);
  CHECK(percentile(samples, 0.5) == 2.5);
  CHECK(percentile(samples, 2) == 4);
  CHECK(percentile({}, 0.5) == 0);
}

TEST_CASE("two medians differ only by more than their noise") {
  Statistics a, b;
  a.median = 100, a.spread = 2;
  b.median = 102, b.spread = 2;
  CHECK(within_noise(a, 7, b, 7));
  b.median = 110;
  CHECK_FALSE(within_noise(a, 7, b, 7));
  b.median = 102;
  CHECK_FALSE(within_noise(a, 700, b, 700));
  CHECK(within_noise(a, 0, b, 7));
}
