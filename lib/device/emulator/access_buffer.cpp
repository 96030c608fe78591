// Addresses of buffer instructions. ISA documents, "Buffer Addressing".
#include "device/emulator/access_lane.h"
#include "device/emulator/buffer_resource.h"

namespace hipplan::emulator {
namespace {

/// Private memory through the resource that the launch puts into s[0:3] where scratch instructions
/// do not exist. The scalar offset counts bytes of the whole wavefront.
bool private_buffer_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  const bool offen = (op.immediate & kOffsetRegister) != 0;
  const uint64_t fixed = (read_scalar(wave, op.from[kScalarOffset]) & 0xffffffffull) / wave.lanes;
  const uint32_t* row = wave.rows[op.from[kAddress].index].lane;
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((places.mask >> lane) & 1u) == 0) continue;
    const uint64_t offset =
        fixed + (offen ? row[lane] : 0u) + static_cast<uint64_t>(op.offset + extra);
    places.at[lane] = reach_scratch(wave, offset, op.bytes, lane, write);
    if (places.at[lane] == nullptr) return false;
  }
  return true;
}

}  // namespace

bool buffer_places(Wave& wave, const Op& op, bool write, int64_t extra, Places& places) {
  const BufferResource resource(wave.scalars + op.from[kScalar].index,
                                (op.immediate & kGfx9Buffer) != 0);
  if (resource.base >> 32 == kPrivateResource >> 32)
    return private_buffer_places(wave, op, write, extra, places);
  const uint64_t fixed = read_scalar(wave, op.from[kScalarOffset]) & 0xffffffffull;
  const bool offen = (op.immediate & kOffsetRegister) != 0;
  const bool idxen = (op.immediate & kIndexRegister) != 0;
  const Row* rows = wave.rows + op.from[kAddress].index;
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((places.mask >> lane) & 1u) == 0) continue;
    const uint64_t index =
        (idxen ? rows[0].lane[lane] : 0) + (resource.add_lane ? static_cast<uint64_t>(lane) : 0);
    const uint64_t moved =
        (offen ? rows[idxen ? 1 : 0].lane[lane] : 0) + static_cast<uint64_t>(op.offset + extra);
    if (resource.outside(index, moved, op.bytes, idxen)) continue;
    if (!resource.in_one_element(moved, op.bytes)) {
      wave.fail({.reason = "buffer-resource",
                 .what = cat("an access of ", int{op.bytes}, " bytes at offset ", moved,
                             " of a record leaves its element of a swizzled buffer"),
                 .expected = cat("inside an element of ", resource.element, " bytes"),
                 .lane = lane});
      return false;
    }
    places.at[lane] = reach_lane(wave, op, resource.address(index, moved) + fixed, write, lane);
    if (places.at[lane] == nullptr) return false;
  }
  return true;
}

}  // namespace hipplan::emulator
