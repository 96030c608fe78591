#include "commands/timing.h"

#include <algorithm>

namespace hipplan::commands {
namespace {

/// Tensors and workspace of one execution, once for each copy.
using Sets = std::vector<std::unique_ptr<DeviceTensors>>;

uint64_t bytes_of(const run::Buffers& buffers) {
  uint64_t sum = 0;
  for (const auto& [uid, bytes] : buffers) sum += bytes.size();
  return sum;
}

/// As many copies of the buffers as the cache that was asked for needs.
void plan_copies(const device::Device& device, uint64_t workspace_bytes, TimedPlan& out) {
  const uint64_t cache =
      std::max(device.description().last_level_cache_bytes, out.facts.last_level_cache_bytes);
  const uint64_t bytes = out.bytes + workspace_bytes;
  out.copies = bench::copies(out.cache, bytes, cache, out.facts.free_memory_bytes);
  out.stays_cold = bench::stays_cold(out.copies, bytes, cache);
}

Result<Sets> make_sets(device::Device& device, const restore::Executable& executable,
                       const run::Buffers& inputs, const run::Buffers& poisoned, unsigned copies,
                       Io& io) {
  Sets out;
  for (unsigned i = 0; i < copies; ++i) {
    HIPPLAN_TRY(io.check_interrupted());
    io.progress("copying tensors", i, copies);
    out.push_back(std::make_unique<DeviceTensors>(device));
    HIPPLAN_TRY(add_tensors(*out.back(), executable, inputs, poisoned));
  }
  io.progress("copying tensors", copies, copies);
  return out;
}

Result<bench::Measurement> time_sets(device::Device& device, const restore::Executable& executable,
                                     const Sets& sets, const TimingRequest& request, Io& io) {
  bench::Protocol protocol;
  if (request.samples != 0) protocol.samples = request.samples;
  protocol.check = [&io] { return io.check_interrupted(); };
  bench::Work work;
  std::vector<std::unique_ptr<device::Replay>> replays;
  if (request.replay) {
    for (const auto& set : sets) {
      HIPPLAN_TRY_ASSIGN(auto replay,
                         executable.record(device, set->addresses(), set->workspace()));
      replays.push_back(std::move(replay));
    }
    // A graph that has not run yet may be made ready by its first start.
    for (const auto& replay : replays) HIPPLAN_TRY(replay->start());
    HIPPLAN_TRY(device.synchronize());
    work.start = [&](uint64_t n) { return replays[n % replays.size()]->start(); };
  } else {
    work.launches = static_cast<unsigned>(executable.prepared().launches.size());
    work.start = [&](uint64_t n) {
      const auto& set = *sets[n % sets.size()];
      return executable.execute(device, set.addresses(), set.workspace());
    };
  }
  return bench::measure(device, work, protocol);
}

/// The outputs of a timed copy must be those of the execution that was judged.
Result<void> check_outputs(const DeviceTensors& set, const run::Buffers& expected) {
  for (const auto& [uid, first] : expected) {
    HIPPLAN_TRY_ASSIGN(const auto again, set.read(uid));
    if (again == first) continue;
    return Error{.code = Code::negative,
                 .reason = "unstable-result",
                 .where = cat("tensor uid ", uid),
                 .what = "the timed executions give another result than the first one"};
  }
  return {};
}

void warn(const bench::Measurement& measured, Io& io) {
  if (measured.statistics.drifts)
    io.warn(cat("the device's clock was not steady: the samples drift by ",
                measured.statistics.drift * 100, " %"));
  if (!measured.starts_hidden)
    io.warn("the times hold the cost of starting: " + measured.not_hidden);
}

}  // namespace

Result<TimedPlan> time_plan(device::Device& device, const restore::Executable& executable,
                            const graph::Graph& graph, const run::Buffers& inputs,
                            const TimingRequest& request, Io& io) {
  TimedPlan out;
  HIPPLAN_TRY_ASSIGN(out.facts, device.facts());
  HIPPLAN_TRY_ASSIGN(const auto poisoned, run::poisoned_outputs(graph, run::kSecondPoison));
  out.cache = request.cache;
  out.replayed = request.replay;
  out.bytes = bytes_of(inputs) + bytes_of(poisoned);
  plan_copies(device, executable.prepared().workspace_bytes, out);
  HIPPLAN_TRY_ASSIGN(const auto sets,
                     make_sets(device, executable, inputs, poisoned, out.copies, io));
  HIPPLAN_TRY_ASSIGN(out.measured, time_sets(device, executable, sets, request, io));
  if (request.expected != nullptr) HIPPLAN_TRY(check_outputs(*sets.front(), *request.expected));
  warn(out.measured, io);
  return out;
}

Result<bench::Cache> read_cache(const std::string& text) {
  if (text.empty() || text == "cold") return bench::Cache::cold;
  if (text == "warm") return bench::Cache::warm;
  return usage_error({.where = "--cache " + text.substr(0, 40), .what = "is not cold or warm"});
}

void write_device(json::Writer& out, const device::Facts& facts) {
  out.begin_object().member("name", facts.name).member("arch", facts.arch.text());
  out.member("driver_version", facts.driver_version);
  out.member("runtime_version", facts.runtime_version);
  out.member("bus_id", facts.bus_id).end_object();
}

void write_samples(json::Writer& out, const bench::Measurement& measured) {
  const auto& s = measured.statistics;
  out.member("executions_per_sample", measured.executions_per_sample);
  out.member("starts_hidden", measured.starts_hidden).key("samples_us").begin_array();
  for (const double sample : measured.microseconds) out.value(sample);
  out.end_array().member("median_us", s.median).member("mean_us", s.mean);
  out.member("robust_mean_us", s.robust_mean).member("spread_us", s.spread);
  out.member("minimum_us", s.minimum).member("maximum_us", s.maximum);
  out.member("percentile_10_us", s.percentile_10).member("percentile_90_us", s.percentile_90);
  out.key("outliers").begin_array();
  for (const size_t place : s.outliers) out.value(static_cast<uint64_t>(place));
  out.end_array().member("drift", s.drift).member("drifts", s.drifts);
}

}  // namespace hipplan::commands
