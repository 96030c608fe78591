// Timing work on a device: one way for every device and every command (docs/devices.md, "Timing").
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/statistics.h"
#include "device/device.h"

namespace hipplan::bench {

struct Protocol {
  unsigned warm_ups = 1;
  unsigned samples = 7;
  /// A sample holds as many executions as last this long, at least one, at most what a gate takes.
  double sample_microseconds = 500;
  /// Asked between samples; an error ends the measurement with it.
  std::function<Result<void>()> check{};
};

/// What is timed.
struct Work {
  /// Starts execution number n, counted from 0, and does not wait for it. It launches and does
  /// nothing else: it may be called behind a closed gate.
  std::function<Result<void>(uint64_t)> start;
  unsigned launches = 1;  ///< calls of Device::launch or Replay::start that one execution makes
};

/// What the figures of a measurement are.
enum class Clock {
  device_events,  ///< the device's own time
  counters        ///< no clock: counts of an emulated device, and no times
};
[[nodiscard]] const char* clock_name(Clock clock);

struct Measurement {
  Clock clock = Clock::counters;
  std::vector<double> microseconds{};  ///< of one execution, a value for each sample
  Statistics statistics{};             ///< of these
  unsigned executions_per_sample = 0;
  bool starts_hidden = false;  ///< the samples hold no cost of starting
  std::string not_hidden{};    ///< why they do
  /// Host time to start one execution while the device was held up; 0 where it cannot be told.
  double host_microseconds = 0;
  device::Counters counters{};  ///< of one execution
};

/// Warms up, then takes the samples, each between two events behind a closed gate. A device without
/// events is not timed: it counts one execution. Fails with what the device or `check` fails with.
Result<Measurement> measure(device::Device& device, const Work& work, const Protocol& protocol);

/// What was counted between two looks, `later` and `earlier`.
[[nodiscard]] device::Counters difference(const device::Counters& later,
                                          const device::Counters& earlier);

/// "12.3 us (median of 7, spread 0.1 us), 1 outlier": one line about a measurement with a clock.
[[nodiscard]] std::string text_of(const Measurement& measurement);

}  // namespace hipplan::bench
