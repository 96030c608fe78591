#include "bench/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace hipplan::bench {
namespace {

/// Events around the executions of one sample, and the gate before them where there is one.
class Sampler {
 public:
  Sampler(device::Device& device, const Work& work, std::unique_ptr<device::Event> before,
          std::unique_ptr<device::Event> after)
      : device_(device), work_(work), before_(std::move(before)), after_(std::move(after)) {}

  /// Microseconds of `executions` executions, together.
  Result<double> take(unsigned executions) {
    std::unique_ptr<device::Gate> gate;
    if (not_hidden.empty()) {
      auto closed = device_.close_gate();
      if (closed)
        gate = std::move(closed).value();
      else if (closed.error().reason == "not-supported")
        not_hidden = closed.error().text();
      else
        return closed.error();
    }
    HIPPLAN_TRY(before_->record());
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned i = 0; i < executions; ++i) HIPPLAN_TRY(work_.start(next++));
    const std::chrono::duration<double, std::micro> host = std::chrono::steady_clock::now() - begin;
    HIPPLAN_TRY(after_->record());
    if (gate) {
      host_microseconds.push_back(host.count() / executions);
      HIPPLAN_TRY(gate->open());
    }
    return after_->microseconds_since(*before_);
  }

  uint64_t next = 0;
  std::string not_hidden;
  std::vector<double> host_microseconds;

 private:
  device::Device& device_;
  const Work& work_;
  std::unique_ptr<device::Event> before_, after_;
};

Result<void> checked(const Protocol& protocol) {
  return protocol.check ? protocol.check() : Result<void>{};
}

/// What a gate holds up beside the marks before and behind a sample.
constexpr unsigned kMostLaunches = device::kMaxGatedCalls - 2;

/// Executions that make a sample long enough, within what may be queued behind a gate.
unsigned executions_for(double one, const Work& work, const Protocol& protocol) {
  const unsigned queued = std::max(1u, kMostLaunches / std::max(1u, work.launches));
  const double wanted = one > 0 ? std::ceil(protocol.sample_microseconds / one) : queued;
  return static_cast<unsigned>(std::clamp(wanted, 1.0, static_cast<double>(queued)));
}

Result<void> take_samples(Sampler& sampler, const Work& work, const Protocol& protocol,
                          Measurement& out) {
  if (work.launches > kMostLaunches)
    sampler.not_hidden = cat("one execution makes ", work.launches, " launches, and at most ",
                             kMostLaunches, " can be held up at once");
  HIPPLAN_TRY_ASSIGN(const double one, sampler.take(1));
  out.executions_per_sample = executions_for(one, work, protocol);
  sampler.host_microseconds.clear();
  for (unsigned i = 0; i < protocol.samples; ++i) {
    HIPPLAN_TRY(checked(protocol));
    HIPPLAN_TRY_ASSIGN(const double together, sampler.take(out.executions_per_sample));
    out.microseconds.push_back(together / out.executions_per_sample);
  }
  out.statistics = summarize(out.microseconds);
  out.host_microseconds = percentile(sampler.host_microseconds, 0.5);
  out.not_hidden = sampler.not_hidden;
  out.starts_hidden = sampler.not_hidden.empty();
  return {};
}

}  // namespace

device::Counters difference(const device::Counters& a, const device::Counters& b) {
  return {a.launches - b.launches,
          a.instructions - b.instructions,
          a.lane_instructions - b.lane_instructions,
          a.memory_bytes_read - b.memory_bytes_read,
          a.memory_bytes_written - b.memory_bytes_written,
          a.matrix_flops - b.matrix_flops};
}

const char* clock_name(Clock clock) {
  return clock == Clock::device_events ? "device-events" : "counters";
}

Result<Measurement> measure(device::Device& device, const Work& work, const Protocol& protocol) {
  Measurement out;
  auto before = device.make_event();
  if (!before && before.error().reason != "not-supported") return before.error();
  const bool timed = before.ok();
  uint64_t next = 0;
  // An emulated device has nothing to warm up: it counts the same every time.
  for (unsigned i = 0; i < protocol.warm_ups && timed; ++i) {
    HIPPLAN_TRY(checked(protocol));
    HIPPLAN_TRY(work.start(next++));
    HIPPLAN_TRY(device.synchronize());
  }
  HIPPLAN_TRY(checked(protocol));
  const auto counted = device.counters();
  HIPPLAN_TRY(work.start(next++));
  HIPPLAN_TRY(device.synchronize());
  out.counters = difference(device.counters(), counted);
  if (!timed) return out;
  out.clock = Clock::device_events;
  HIPPLAN_TRY_ASSIGN(auto after, device.make_event());
  Sampler sampler(device, work, std::move(before).value(), std::move(after));
  sampler.next = next;
  HIPPLAN_TRY(take_samples(sampler, work, protocol, out));
  return out;
}

std::string text_of(const Measurement& measurement) {
  const Statistics& s = measurement.statistics;
  std::string out = cat(s.median, " us (median of ", measurement.microseconds.size(), ", spread ",
                        s.spread, " us)");
  if (!s.outliers.empty())
    out += cat(", ", s.outliers.size(), s.outliers.size() == 1 ? " outlier" : " outliers");
  if (s.drifts) out += cat(", drifting by ", s.drift * 100, " %");
  if (!measurement.starts_hidden) out += ", with the cost of starting";
  return out;
}

}  // namespace hipplan::bench
