// Which accesses of other wavefronts have happened before: release and acquire through atomics.
//
// A wavefront releases with an atomic, or a coherent store, that follows a release fence of at
// least device scope (what compilers put before it); it acquires with an atomic or coherent load
// that an acquire fence follows. What a release covers: all accesses of its wavefront, and those of
// the others of its workgroup from before the last barrier. A barrier hands what one wavefront has
// acquired to all of its workgroup. Times are barriers, so that an access soon after a release
// counts as before it: a race can stay unseen, none is made up.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "device/emulator/monitor_races.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

/// Belongs to the one worker that runs a launch with race checks.
class AtomicOrder {
 public:
  /// A workgroup starts: its wavefronts have acquired nothing.
  void start_group(uint32_t waves);
  /// Takes barriers that the workgroup has passed into account. Call before the other functions.
  void pass_barriers(const Wave& wave);
  /// The wavefront executes a fence.
  void release_fence(const Wave& wave);
  void acquire_fence(const Wave& wave);
  /// An atomic or coherent access to a dword; `reads` and `writes` say which.
  void synchronize(const Wave& wave, uint64_t address, bool reads, bool writes);
  /// True when `earlier` happened before what the wavefront does now.
  [[nodiscard]] bool before(const RaceAccess& earlier, const Wave& wave) const;

 private:
  /// Releases by wavefront: barriers that its workgroup had passed. The key is group * 32 + wave.
  using Clock = std::unordered_map<uint64_t, uint32_t>;
  struct WaveOrder {
    bool released = false;                ///< a release fence came after the start
    Clock acquired;                       ///< since the last barrier
    std::unordered_set<uint64_t> loaded;  ///< atomics since the last acquire fence
  };
  static void join(Clock& into, const Clock& from);

  std::vector<WaveOrder> waves_;
  Clock group_;  ///< what the workgroup had acquired at its last barrier
  uint32_t barriers_ = 0;
  std::unordered_map<uint64_t, Clock> released_;  ///< by address of the dword
};

}  // namespace hipplan::emulator
