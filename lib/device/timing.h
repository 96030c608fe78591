// What a device offers to time its work, and what its driver tells about it. Every part is
// optional: a device that lacks one answers "not-supported".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "target/target.h"

namespace hipplan::device {

/// A mark in the device's order of work (hipEvent_t, CUevent). Not thread-safe; belongs to the
/// device that made it and must go before it.
class Event {
 public:
  virtual ~Event() = default;
  /// Puts the mark behind everything started so far. A mark may be put again.
  virtual Result<void> record() = 0;
  /// Waits until the device has come by both marks, then gives the device's own time from `earlier`
  /// to this one in microseconds. Not for a device behind a closed gate: it would wait for ever.
  virtual Result<double> microseconds_since(const Event& earlier) = 0;
};

/// Holds up everything that is started after it until it opens, so that the host runs ahead and the
/// device then works without waiting for the host: the time between two events behind a gate holds
/// no cost of starting. (A stream that waits for a value, a blocking host function, or a kernel
/// that polls.) While it is closed only launch(), Event::record() and Replay::start() may be
/// called, at most kMaxGatedCalls times, with kernels and replays that have run before: anything
/// else may wait for the gate. Opens when destroyed, and by itself when it has held up work for 10
/// seconds, so that a host that hangs does not hang the GPU. Any thread may open it, one at a time;
/// must go before its device.
class Gate {
 public:
  virtual ~Gate() = default;
  /// Opens it; harmless when it is open. Fails with machine, reason gate-expired, when it had
  /// opened by itself: what was started behind it may not have been held up.
  virtual Result<void> open() = 0;
};

/// Fewer than any driver queues before a launch waits for an earlier one to end.
inline constexpr unsigned kMaxGatedCalls = 256;

/// Launches that were recorded once and start with one call (hipGraphExec_t, CUgraphExec).
/// Arguments are copied when it is made. Any thread; must go before its device and its modules.
class Replay {
 public:
  virtual ~Replay() = default;
  /// Starts all launches, in order, in the device's order of work.
  virtual Result<void> start() = 0;
};

/// What a driver says about one of its devices. Zero and empty where it does not tell.
struct Facts {
  std::string name;             ///< marketing name
  target::Arch arch;            ///< with its features, "gfx942:sramecc+:xnack-"
  std::string driver_version;   ///< "HIP 60342131", "CUDA 13.0": interface and the driver's number
  std::string runtime_version;  ///< the same of the runtime library, which may differ
  std::string bus_id;           ///< "0000:c1:00.0"; tells one of several equal devices
  uint64_t memory_bytes = 0, free_memory_bytes = 0;
  uint64_t last_level_cache_bytes = 0;  ///< the largest cache that the driver tells of
  uint32_t wavefront_size = 0;
  uint32_t compute_units = 0;
  uint32_t max_workgroup_size = 0;
  uint32_t lds_bytes_per_workgroup = 0;  ///< the most that a kernel can ask for
  uint32_t registers_per_workgroup = 0;
  uint32_t clock_khz = 0;
  uint32_t memory_clock_khz = 0, memory_bus_bits = 0;
};

/// `known` with what a driver knows better: name, architecture, memory, sizes and clock as far as
/// it tells them. Bandwidth and rates stay: a driver's memory clock does not say how often a tick
/// moves data. A driver may tell of one die's cache only, so the larger of the two figures stands.
[[nodiscard]] target::Description with_facts(target::Description known, const Facts& facts);

/// The answer of a device that lacks a part of this.
[[nodiscard]] inline Error not_supported(std::string device, std::string_view what,
                                         std::string why) {
  return {.code = Code::unusable,
          .reason = "not-supported",
          .where = std::move(device),
          .what = std::string(what) + " is not supported by this device",
          .found = std::move(why)};
}

}  // namespace hipplan::device
