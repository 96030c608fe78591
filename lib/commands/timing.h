// Timing one restored plan on a device: hipplan-run --bench and hipplan-build --benchmark.
#pragma once

#include <string>

#include "bench/protocol.h"
#include "bench/rotation.h"
#include "commands/execution.h"
#include "commands/io.h"

namespace hipplan::commands {

/// How a plan is timed.
struct TimingRequest {
  bench::Cache cache = bench::Cache::cold;
  unsigned samples = 0;  ///< 0: the protocol's
  bool replay = false;   ///< start the launches as one recorded graph
  /// Outputs of an execution that was judged: those of a timed one must be the same bytes. Null:
  /// not looked at.
  const run::Buffers* expected = nullptr;
};

/// A measurement and how it was made.
struct TimedPlan {
  bench::Measurement measured{};
  unsigned copies = 1;      ///< of the buffers, taking turns
  bool stays_cold = false;  ///< the copies push each other out of the last level cache
  bool replayed = false;
  bench::Cache cache = bench::Cache::cold;
  uint64_t bytes = 0;  ///< of the plan's tensors
  device::Facts facts{};
};

/// Times executions with these inputs over poisoned outputs. Warns through `io` about a clock that
/// drifts and about starts that could not be hidden. Fails with not-supported on a device without a
/// driver, and with negative, reason "unstable-result", when outputs differ from `expected`.
Result<TimedPlan> time_plan(device::Device& device, const restore::Executable& executable,
                            const graph::Graph& graph, const run::Buffers& inputs,
                            const TimingRequest& request, Io& io);

/// "cold", "warm" or empty (cold). Fails with bad_input, reason "usage".
Result<bench::Cache> read_cache(const std::string& text);

/// {"name":…, "arch":…, "driver_version":…, "runtime_version":…, "bus_id":…}
void write_device(json::Writer& out, const device::Facts& facts);
/// Members of the current object: the samples and what they say.
void write_samples(json::Writer& out, const bench::Measurement& measured);

}  // namespace hipplan::commands
