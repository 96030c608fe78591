// Runs the workgroups of one dispatch over worker threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/emulator/monitor.h"

namespace hipplan::emulator {

/// Registers, LDS and private memory that one worker thread reuses from workgroup to workgroup.
class Worker;

/// How workgroups are run.
struct Schedule {
  unsigned jobs = 0;  ///< worker threads, 0: one per hardware thread
  uint64_t instruction_budget = 0;
  uint64_t seed = 0;  ///< not 0: an order drawn from it, on one thread
  std::function<bool()> interrupted{};
};

/// Keeps workers between launches. Not thread-safe; one launch at a time.
class Scheduler {
 public:
  Scheduler(Schedule schedule, MonitorSettings monitor);
  ~Scheduler();
  /// Runs all workgroups, each on one thread. In a workgroup each wavefront runs to a barrier, its
  /// end, or the end of its turn, then the next. Fails with machine and the fault's reason;
  /// counters hold what was done, `profile` too when the settings ask for it.
  Result<void> run(const Dispatch& dispatch, const AddressSpace& memory, WaveCounters& counters,
                   ProfileCounts& profile);

 private:
  Schedule schedule_;
  MonitorSettings monitor_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace hipplan::emulator
