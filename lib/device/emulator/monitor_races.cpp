#include "device/emulator/monitor_races.h"

#include <algorithm>

namespace hipplan::emulator {
namespace {

// Bits from low to high: bytes 4, kind 2, wave 5, op 16, epoch 17, group 20.
constexpr unsigned kKindAt = 4, kWaveAt = 6, kOpAt = 11, kEpochAt = 27, kGroupAt = 44;

bool conflict(const RaceAccess& a, const RaceAccess& b) {
  if ((a.bytes & b.bytes) == 0) return false;
  if (a.kind != AccessKind::write && b.kind != AccessKind::write) return false;
  if (a.group != b.group) return true;
  return a.wave != b.wave && a.epoch == b.epoch;
}

/// True when remembering `later` makes remembering `earlier` needless.
bool covers(const RaceAccess& later, const RaceAccess& earlier) {
  const bool same_wave = later.group == earlier.group && later.wave == earlier.wave;
  const bool as_strong = later.kind == earlier.kind || later.kind == AccessKind::write;
  return same_wave && as_strong && (earlier.bytes & ~later.bytes) == 0;
}

}  // namespace

uint64_t RaceAccess::pack() const {
  return uint64_t{bytes} | static_cast<uint64_t>(kind) << kKindAt | uint64_t{wave} << kWaveAt |
         std::min(op, kOps - 1) << kOpAt | epoch % kEpochs << kEpochAt |
         group % kGroups << kGroupAt;
}

RaceAccess RaceAccess::unpack(uint64_t bits) {
  RaceAccess access;
  access.bytes = static_cast<uint32_t>(bits & 15u);
  access.kind = static_cast<AccessKind>((bits >> kKindAt) & 3u);
  access.wave = static_cast<uint32_t>((bits >> kWaveAt) & 31u);
  access.op = (bits >> kOpAt) & (kOps - 1);
  access.epoch = (bits >> kEpochAt) & (kEpochs - 1);
  access.group = bits >> kGroupAt;
  return access;
}

std::optional<RaceAccess> note_access(Shadow::Accesses& slots, const RaceAccess& access,
                                      const std::function<bool(const RaceAccess&)>& before) {
  uint64_t* place = nullptr;
  uint64_t* stale = nullptr;
  const RaceAccess now = RaceAccess::unpack(access.pack());
  for (uint64_t& slot : slots) {
    if (slot == 0) {
      if (place == nullptr) place = &slot;
      continue;
    }
    const RaceAccess earlier = RaceAccess::unpack(slot);
    if (conflict(earlier, now)) {
      if (!before(earlier)) return earlier;
      place = &slot;  // whoever comes next and does not know of this one races with it too
      continue;
    }
    if (covers(now, earlier)) place = &slot;
    if (stale == nullptr && earlier.group == now.group && earlier.epoch != now.epoch) stale = &slot;
  }
  if (place == nullptr) place = stale != nullptr ? stale : &slots[now.op % slots.size()];
  *place = access.pack();
  return std::nullopt;
}

}  // namespace hipplan::emulator
