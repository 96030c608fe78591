// Counts of one worker thread for device::Profile.
#pragma once

#include "device/emulator/access.h"
#include "device/emulator/dispatch.h"

namespace hipplan::emulator {

struct ProfileCounts {
  std::array<uint64_t, device::kInstructionClasses> instructions{};
  uint64_t active_lanes = 0, lane_slots = 0;
  uint64_t lds_accesses = 0, lds_conflict_cycles = 0;
  uint64_t global_accesses = 0, global_transactions = 0;
  uint64_t global_bytes[2] = {}, lds_bytes[2] = {}, private_bytes[2] = {};  ///< read, written
  uint64_t scalar_bytes = 0;
  std::map<std::string_view, uint64_t> operations;

  void add(const ProfileCounts& other);
};

/// Bytes of a cache line, as transactions are counted.
inline constexpr uint64_t kLineBytes = 128;

/// Cycles that an LDS access takes beyond one per 128 bytes: in each pass of 128 / bytes lanes, the
/// most different dwords that lie in one of 32 banks, less one. `offsets` holds `mask`'s lanes.
uint64_t bank_conflicts(const uint64_t* offsets, uint64_t mask, unsigned bytes);
/// Different cache lines among the lanes' addresses.
uint64_t lines_of(const uint64_t* addresses, uint64_t mask, unsigned bytes);

/// The launch's profile without its footprint.
device::Profile make_profile(const Dispatch& dispatch, const ProfileCounts& counts,
                             const target::Description& device);

}  // namespace hipplan::emulator
