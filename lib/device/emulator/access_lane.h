// One lane's access, checked: the parts of find_places.
#pragma once

#include "device/emulator/access.h"

namespace hipplan::emulator {

// Host addresses; null after a fault, which the wave then holds.
std::byte* reach_lds(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write);
std::byte* reach_scratch(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write);
/// Of a global or flat access.
std::byte* reach_lane(Wave& wave, const Op& op, uint64_t address, bool write, int lane);

/// Raw and structured buffers: address and bounds from the four-dword resource. Lanes beyond
/// num_records get no place.
bool buffer_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places);

}  // namespace hipplan::emulator
