#include "device/emulator/monitor_order.h"

#include <algorithm>

namespace hipplan::emulator {
namespace {

constexpr uint64_t kWavesOfGroup = 32;
/// Dwords that a wavefront remembers until its acquire fence.
constexpr size_t kMostLoaded = 4096;

uint64_t order_key(uint64_t group, uint64_t wave) {
  return group % RaceAccess::kGroups * kWavesOfGroup + wave % kWavesOfGroup;
}

}  // namespace

void AtomicOrder::start_group(uint32_t waves) {
  waves_.assign(waves, {});
  group_.clear();
  barriers_ = 0;
}

void AtomicOrder::join(Clock& into, const Clock& from) {
  for (const auto& [key, barriers] : from) {
    uint32_t& known = into[key];
    known = std::max(known, barriers);
  }
}

void AtomicOrder::pass_barriers(const Wave& wave) {
  if (wave.barriers == barriers_) return;
  barriers_ = wave.barriers;
  for (WaveOrder& one : waves_) {
    join(group_, one.acquired);
    one.acquired.clear();
  }
}

void AtomicOrder::release_fence(const Wave& wave) {
  waves_[wave.index].released = true;
}

void AtomicOrder::acquire_fence(const Wave& wave) {
  WaveOrder& own = waves_[wave.index];
  for (const uint64_t address : own.loaded) {
    const auto found = released_.find(address);
    if (found != released_.end()) join(own.acquired, found->second);
  }
  own.loaded.clear();
}

void AtomicOrder::synchronize(const Wave& wave, uint64_t address, bool reads, bool writes) {
  WaveOrder& own = waves_[wave.index];
  const uint64_t dword = address & ~uint64_t{3};
  if (reads && own.loaded.size() < kMostLoaded) own.loaded.insert(dword);
  if (!writes || !own.released) return;
  Clock& clock = released_[dword];
  // One entry is enough to know that this wavefront has been here since the barrier.
  const auto [mine, fresh] = clock.try_emplace(order_key(wave.group->number, wave.index), 0);
  const bool known = !fresh && mine->second == wave.barriers + 1;
  mine->second = wave.barriers + 1;
  if (known && own.acquired.empty()) return;
  join(clock, group_);
  join(clock, own.acquired);
}

bool AtomicOrder::before(const RaceAccess& earlier, const Wave& wave) const {
  const auto covers = [&](const Clock& clock) {
    if (clock.empty()) return false;
    for (uint64_t by = 0; by < kWavesOfGroup; ++by) {
      const auto found = clock.find(order_key(earlier.group, by));
      if (found == clock.end()) continue;
      // The count is one more than the barriers that the releasing wavefront had passed.
      if (earlier.wave == by ? earlier.epoch < found->second : earlier.epoch + 1 < found->second)
        return true;
    }
    return false;
  };
  return covers(waves_[wave.index].acquired) || covers(group_);
}

}  // namespace hipplan::emulator
