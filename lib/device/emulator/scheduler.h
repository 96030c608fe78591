// Runs the workgroups of one dispatch over worker threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "device/emulator/dispatch.h"

namespace hipplan::emulator {

/// Registers, LDS and private memory that one worker thread reuses from workgroup to workgroup.
class Worker;

/// Keeps workers between launches. Not thread-safe; one launch at a time.
class Scheduler {
 public:
  Scheduler(unsigned jobs, uint64_t instruction_budget, std::function<bool()> interrupted);
  ~Scheduler();
  /// Runs all workgroups. A workgroup runs on one thread: each wavefront until a barrier or its
  /// end, then the next. Fails with machine and the fault's reason; counters hold what was done.
  Result<void> run(const Dispatch& dispatch, const AddressSpace& memory, WaveCounters& counters);

 private:
  unsigned jobs_;
  uint64_t budget_;
  std::function<bool()> interrupted_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace hipplan::emulator
