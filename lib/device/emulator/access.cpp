#include "device/emulator/access.h"

#include "device/emulator/access_lane.h"
#include "device/emulator/monitor.h"

namespace hipplan::emulator {
namespace {

struct Range {
  uint64_t low = ~0ull, high = 0;
};

Range range_of(const uint64_t* address, uint64_t mask, unsigned lanes) {
  Range range;
  if (mask == ~0ull >> (kMaxLanes - lanes)) {
    for (unsigned i = 0; i < lanes; ++i) {
      range.low = address[i] < range.low ? address[i] : range.low;
      range.high = address[i] > range.high ? address[i] : range.high;
    }
    return range;
  }
  for (uint64_t left = mask; left != 0; left &= left - 1) {
    const uint64_t a = address[std::countr_zero(left)];
    range.low = a < range.low ? a : range.low;
    range.high = a > range.high ? a : range.high;
  }
  return range;
}

void global_fault(Wave& wave, uint64_t address, unsigned bytes, bool write, int lane,
                  const Allocation* found) {
  const char* verb = write ? "write" : "read";
  if (found != nullptr && found->holds(address, bytes)) {
    wave.fail({.reason = "read-only",
               .what = cat(verb, " of read-only memory at ", hex(address)),
               .found = wave.memory->nearest(address),
               .lane = lane});
    return;
  }
  wave.fail(
      {.reason = "bad-address",
       .what = cat(verb, " of ", bytes, " bytes at ", hex(address), " is outside every allocation"),
       .found = wave.memory->nearest(address),
       .lane = lane});
}

/// The allocation of [address, address + bytes), remembered per operation; null after a fault.
const Allocation* find_allocation(Wave& wave, const Op& op, uint64_t address, uint64_t bytes,
                                  bool write) {
  const Allocation* known = wave.last_allocation[op.self];
  if (known == nullptr || !known->holds(address, bytes)) {
    known = wave.memory->find(address);
    if (known == nullptr || !known->holds(address, bytes)) return nullptr;
    wave.last_allocation[op.self] = known;
  }
  return write && !known->writable ? nullptr : known;
}

bool is_dense(std::byte* const* at, unsigned lanes, unsigned bytes) {
  bool dense = true;
  for (unsigned i = 1; i < lanes; ++i) dense = dense & (at[i] == at[0] + i * bytes);
  return dense;
}

void lds_fault(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write) {
  wave.fail(
      {.reason = "bad-lds-address",
       .what = cat(write ? "write" : "read", " of ", bytes, " bytes at LDS offset ", hex(offset)),
       .expected = cat("inside the workgroup's ", wave.group->lds.size(), " bytes"),
       .lane = lane});
}

}  // namespace

std::byte* reach_lds(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write) {
  const uint64_t size = wave.group->lds.size();
  if (offset > size || bytes > size - offset) {
    lds_fault(wave, offset, bytes, lane, write);
    return nullptr;
  }
  return wave.group->lds.data() + offset;
}

std::byte* reach_scratch(Wave& wave, uint64_t offset, unsigned bytes, int lane, bool write) {
  const uint64_t size = wave.scratch_lane_bytes;
  if (offset > size || bytes > size - offset) {
    wave.fail({.reason = "bad-private-address",
               .what = cat(write ? "write" : "read", " of ", bytes, " bytes at private offset ",
                           hex(offset)),
               .expected = cat("inside ", size, " bytes"),
               .lane = lane});
    return nullptr;
  }
  return wave.scratch->data() + static_cast<uint64_t>(lane) * size + offset;
}

std::byte* reach_lane(Wave& wave, const Op& op, uint64_t address, bool write, int lane) {
  if (op.space == Space::flat) {
    const uint64_t aperture = address & kApertureMask, offset = address & ~kApertureMask;
    if (aperture == kSharedAperture) return reach_lds(wave, offset, op.bytes, lane, write);
    if (aperture == kPrivateAperture) return reach_scratch(wave, offset, op.bytes, lane, write);
  }
  const Allocation* found = find_allocation(wave, op, address, op.bytes, write);
  if (found == nullptr) {
    global_fault(wave, address, op.bytes, write, lane, wave.memory->find(address));
    return nullptr;
  }
  return found->host + (address - found->base);
}

namespace {

bool place_addresses(Wave& wave, const Op& op, const uint64_t* address, bool write,
                     Places& places) {
  if (places.mask == 0) return true;
  const Range range = range_of(address, places.mask, places.lanes);
  const Allocation* common =
      find_allocation(wave, op, range.low, range.high - range.low + op.bytes, write);
  if (common != nullptr) {
    std::byte* const host = common->host;
    const uint64_t base = common->base;
    for (unsigned i = 0; i < places.lanes; ++i)
      places.at[i] = ((places.mask >> i) & 1u) != 0 ? host + (address[i] - base) : nullptr;
    places.dense = places.mask == wave.all() &&
                   range.high - range.low == (places.lanes - 1ull) * op.bytes &&
                   is_dense(places.at, places.lanes, op.bytes);
    return true;
  }
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((places.mask >> lane) & 1u) == 0) continue;
    places.at[lane] = reach_lane(wave, op, address[lane], write, lane);
    if (places.at[lane] == nullptr) return false;
  }
  return true;
}

bool global_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  Buffer<uint64_t> address;
  const auto offset = static_cast<uint64_t>(op.offset + extra);
  const Row* rows = wave.rows + op.from[kAddress].index;
  if (op.saddr) {
    const uint64_t base = read_scalar(wave, op.from[kScalar]) + offset;
    const bool vector = op.from[kAddress].place == Place::vgpr;
    for (unsigned i = 0; i < places.lanes; ++i)
      address.lane[i] = base + (vector ? rows[0].lane[i] : 0u);
  } else {
    for (unsigned i = 0; i < places.lanes; ++i)
      address.lane[i] = (rows[0].lane[i] | static_cast<uint64_t>(rows[1].lane[i]) << 32) + offset;
  }
  return place_addresses(wave, op, address.lane, write, places);
}

bool scratch_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  const auto base = static_cast<uint32_t>(read_scalar(wave, op.from[kScalar])) +
                    static_cast<uint32_t>(op.offset + extra);
  const bool vector = op.from[kAddress].place == Place::vgpr;
  const Row* row = wave.rows + op.from[kAddress].index;
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((places.mask >> lane) & 1u) == 0) continue;
    const uint32_t offset = base + (vector ? row->lane[lane] : 0u);
    places.at[lane] = reach_scratch(wave, offset, op.bytes, lane, write);
    if (places.at[lane] == nullptr) return false;
  }
  return true;
}

/// Address plus offset wraps at 32 bits: compilers fold a negative index into the address.
bool lds_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  std::byte* const base = wave.group->lds.data();
  const uint64_t size = wave.group->lds.size();
  const uint32_t* row = wave.rows[op.from[kAddress].index].lane;
  const auto offset = static_cast<uint32_t>(op.offset + extra);
  if (places.mask == 0) {
    std::fill_n(places.at, places.lanes, nullptr);
    return true;
  }
  uint64_t highest = 0;
  for (unsigned i = 0; i < places.lanes; ++i)
    highest = std::max(highest, ((places.mask >> i) & 1u) * uint64_t{row[i] + offset});
  if (highest > size || op.bytes > size - highest) {
    for (int lane = 0; lane < wave.lanes; ++lane)
      if (((places.mask >> lane) & 1u) != 0 &&
          reach_lds(wave, uint64_t{row[lane] + offset}, op.bytes, lane, write) == nullptr)
        return false;
  }
  // Here every lane that is on lies inside; the others stand at the start.
  for (unsigned i = 0; i < places.lanes; ++i)
    places.at[i] = base + ((places.mask >> i) & 1u) * uint64_t{row[i] + offset};
  places.dense = places.mask == wave.all() && is_dense(places.at, places.lanes, op.bytes);
  return true;
}

}  // namespace

bool find_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places,
                 uint64_t mask) {
  places.mask = mask;
  places.dense = false;
  places.lanes = wave.lanes;
  bool found = false;
  switch (op.space) {
    case Space::global:
    case Space::flat:
      found = global_places(wave, op, write, extra, places);
      break;
    case Space::scratch:
      found = scratch_places(wave, op, write, extra, places);
      break;
    case Space::buffer:
      found = buffer_places(wave, op, write, extra, places);
      break;
    case Space::lds:
      found = lds_places(wave, op, write, extra, places);
      break;
    case Space::none:
      break;
  }
  if (wave.monitor != nullptr && found) [[unlikely]]
    return wave.monitor->access(wave, op, write, places);
  return found;
}

bool find_places_in_order(Wave& wave, const Op& op, bool write, Places& places) {
  places.mask = wave.exec();
  places.lanes = wave.lanes;
  Buffer<uint64_t> address;
  const uint64_t base = read_scalar(wave, op.from[kScalar]) + static_cast<uint64_t>(op.offset);
  for (unsigned i = 0; i < places.lanes; ++i) address.lane[i] = base + 4 * i;
  if (!place_addresses(wave, op, address.lane, write, places)) return false;
  return wave.monitor == nullptr || wave.monitor->access(wave, op, write, places);
}

bool find_lds_places(Wave& wave, const Op& op, bool write, uint64_t mask, const uint64_t* offset,
                     Places& places) {
  places.mask = mask;
  places.lanes = wave.lanes;
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((mask >> lane) & 1u) == 0) continue;
    places.at[lane] = reach_lds(wave, offset[lane], op.bytes, lane, write);
    if (places.at[lane] == nullptr) return false;
  }
  return wave.monitor == nullptr || wave.monitor->access(wave, op, write, places);
}

bool check_alignment(Wave& wave, uint64_t address, unsigned bytes, int lane) {
  if (address % bytes == 0) return true;
  wave.fail({.reason = "misaligned",
             .what = cat("an atomic of ", bytes, " bytes is not aligned"),
             .lane = lane});
  return false;
}

namespace {

std::byte* reach_scalar_as(Wave& wave, const Op& op, uint64_t address, uint64_t bytes, bool write) {
  const Allocation* found = find_allocation(wave, op, address, bytes, write);
  if (found == nullptr) {
    global_fault(wave, address, static_cast<unsigned>(bytes), write, -1,
                 wave.memory->find(address));
    return nullptr;
  }
  if (wave.monitor != nullptr && !wave.monitor->scalar_access(wave, *found, address, bytes, write))
      [[unlikely]]
    return nullptr;
  return found->host + (address - found->base);
}

}  // namespace

const std::byte* reach_scalar(Wave& wave, const Op& op, uint64_t address, uint64_t bytes) {
  return reach_scalar_as(wave, op, address, bytes, false);
}
std::byte* reach_scalar_write(Wave& wave, const Op& op, uint64_t address, uint64_t bytes) {
  return reach_scalar_as(wave, op, address, bytes, true);
}

}  // namespace hipplan::emulator
