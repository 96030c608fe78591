// Looks on while wavefronts run: race and initialisation checks, counters, traces. A wavefront
// without a monitor pays one test per memory access for it.
#pragma once

#include "device/emulator/access.h"
#include "device/emulator/dispatch.h"
#include "device/emulator/monitor_order.h"
#include "device/emulator/monitor_profile.h"
#include "device/emulator/monitor_races.h"
#include "device/emulator/monitor_registers.h"
#include "device/emulator/monitor_trace.h"

namespace hipplan::emulator {

/// What a device was opened for.
struct MonitorSettings {
  bool races = false, uninitialized = false, profile = false;
  device::Trace trace{};

  [[nodiscard]] bool any() const { return races || uninitialized || profile || trace.line; }
  /// Races and traces are told in one order, so one worker must run all workgroups.
  [[nodiscard]] bool one_worker() const { return races || trace.line; }
};

/// A lane's bytes, told by where they lie.
struct Touched {
  enum class Kind : uint8_t { lds, scratch, global } kind = Kind::global;
  const Allocation* allocation = nullptr;  ///< global only
  uint64_t offset = 0;                     ///< into LDS, scratch or the allocation
};

/// Belongs to one worker thread.
class Monitor {
 public:
  Monitor(const MonitorSettings& settings, const Dispatch& dispatch, const AddressSpace& memory);

  void start_group(const Workgroup& group);
  /// A wavefront is about to start; its registers are set up.
  void start_wave(const Wave& wave);
  void before(Wave& wave, const Op& op);
  void after(Wave& wave, const Op& op);
  /// One memory operation's lanes, before their data moves. False after a fault, which the wave
  /// then holds.
  bool access(Wave& wave, const Op& op, bool write, const Places& places);
  /// A scalar load from `at`, or a store or an atomic there; false after a fault.
  bool scalar_access(Wave& wave, const Allocation& at, uint64_t address, uint64_t bytes,
                     bool write);

  [[nodiscard]] const ProfileCounts& counts() const { return counts_; }
  /// Gets the shadows of all allocations ready for a launch.
  static void start_launch(const MonitorSettings& settings, const AddressSpace& memory);
  /// Bytes of the cache lines that the launch touched.
  static uint64_t footprint(const AddressSpace& memory);

 private:
  [[nodiscard]] Touched find(const Wave& wave, const Op& op, const std::byte* at) const;
  [[nodiscard]] const ProgramLine& line_of(const Op& op) const {
    return dispatch_.program->lines[op.line];
  }
  bool check_race(Wave& wave, const Op& op, const Touched& at, unsigned bytes, AccessKind kind,
                  int lane);
  bool check_written(Wave& wave, const Touched& at, unsigned bytes, bool reads, bool writes,
                     int lane);
  /// Both checks on one lane.
  bool check(Wave& wave, const Op& op, const Touched& at, bool write, int lane);
  struct Lanes {
    uint64_t mask = 0;
    uint64_t address[kMaxLanes];
  };
  void count(const Op& op, bool write, const Lanes& lds, const Lanes& global, uint64_t scratch);

  MonitorSettings settings_;
  const Dispatch& dispatch_;
  const AddressSpace& memory_;
  std::vector<uint8_t> lds_written_;
  std::vector<Shadow::Accesses> lds_accesses_;
  AtomicOrder order_;
  RegisterCheck registers_;
  ProfileCounts counts_;
  Tracer tracer_;
};

}  // namespace hipplan::emulator
