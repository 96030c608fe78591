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

/// Fills `places` for an access of op.bytes bytes per lane, `extra` bytes behind the operation's
/// address. False after a fault, which the wave then holds.
bool find_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places);

/// Host address of a scalar access, or null after a fault.
const std::byte* reach_scalar(Wave& wave, const Op& op, uint64_t address, uint64_t bytes);
/// The same for one that writes.
std::byte* reach_scalar_write(Wave& wave, const Op& op, uint64_t address, uint64_t bytes);

/// Lanes of LDS accesses that do not go through an address register.
std::byte* reach_lds(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write);

}  // namespace hipplan::emulator
