// Checked memory access: from a memory instruction's operands to host addresses, lane by lane.
#pragma once

#include "device/emulator/lanes.h"

namespace hipplan::emulator {

/// Operands of memory operations: from[0] vector address, from[1] data, from[2] scalar address or
/// buffer resource, from[3] scalar offset.
enum : unsigned { kAddress = 0, kData = 1, kScalar = 2, kScalarOffset = 3, kData2 = 4 };

/// Op::immediate of buffer operations: an offset in a register, an index in one, a resource as gfx9
/// lays it out.
enum : uint64_t { kOffsetRegister = 1, kIndexRegister = 2, kGfx9Buffer = 4 };

/// Host addresses of the active lanes. Null for lanes that are off, and for lanes of a buffer
/// access beyond the buffer's size, which read 0 and write nothing.
struct Places {
  Places() {}
  uint64_t mask = 0;   ///< lanes that take part
  bool dense = false;  ///< all lanes on, lane i at at[0] + i * bytes
  unsigned lanes = kMaxLanes;
  alignas(64) std::byte* at[kMaxLanes];
};

/// Fills `places` for an access of op.bytes bytes in each lane of `mask`, `extra` bytes behind the
/// operation's address. False after a fault, which the wave then holds.
bool find_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places,
                 uint64_t mask);
inline bool find_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  return find_places(wave, op, write, extra, places, wave.exec());
}
/// The active lanes' dwords in lane order behind the scalar base, which is 0 when there is none.
bool find_places_in_order(Wave& wave, const Op& op, bool write, Places& places);
/// LDS accesses that do not go through an address register: lane i's bytes are at offset[i].
bool find_lds_places(Wave& wave, const Op& op, bool write, uint64_t mask, const uint64_t* offset,
                     Places& places);
/// Byte of LDS that M0 and the instruction's offset name.
inline uint64_t m0_place(const Wave& wave, const Op& op) {
  return (wave.scalars[scalar::kM0] & 0xffffu) + static_cast<uint64_t>(op.offset);
}

/// Atomics must be aligned to their size. False after a fault.
bool check_alignment(Wave& wave, uint64_t address, unsigned bytes, int lane);

/// Host address of a scalar access, or null after a fault.
const std::byte* reach_scalar(Wave& wave, const Op& op, uint64_t address, uint64_t bytes);
/// The same for one that writes.
std::byte* reach_scalar_write(Wave& wave, const Op& op, uint64_t address, uint64_t bytes);

}  // namespace hipplan::emulator
