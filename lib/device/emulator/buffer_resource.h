// The four dwords that describe a buffer, and the addresses that follow from them. ISA documents,
// "Buffer Resource Descriptor" and "Buffer Addressing".
#pragma once

#include <cstdint>

namespace hipplan::emulator {

struct BufferResource {
  uint64_t base = 0, stride = 0, records = 0;
  uint32_t index_stride = 0;  ///< elements of so many indices lie together; 0: not swizzled
  uint32_t element = 4;       ///< bytes that stay together in a swizzled buffer
  bool add_lane = false;      ///< the lane's number is added to the index

  BufferResource(const uint32_t* words, bool gfx9) {
    base = words[0] | static_cast<uint64_t>(words[1] & 0xffffu) << 32;
    stride = (words[1] >> 16) & 0x3fffu;
    records = words[2];
    add_lane = (words[3] >> 23 & 1u) != 0;
    // gfx9 keeps the stride's upper bits where the data format is else.
    if (gfx9 && add_lane) stride |= static_cast<uint64_t>(words[3] >> 15 & 15u) << 14;
    const uint32_t swizzle = gfx9 ? words[1] >> 31 : words[1] >> 30;
    if (swizzle == 0) return;
    index_stride = 8u << (words[3] >> 21 & 3u);
    if (!gfx9) element = 2u << swizzle;
  }

  [[nodiscard]] bool outside(uint64_t index, uint64_t offset, unsigned bytes, bool indexed) const {
    return stride != 0 && (indexed || add_lane) ? index >= records || offset + bytes > stride
                                                : offset + bytes > records;
  }
  [[nodiscard]] uint64_t address(uint64_t index, uint64_t offset) const {
    if (index_stride == 0) return base + offset + index * stride;
    const uint64_t block = index / index_stride * stride + offset / element * element;
    return base + block * index_stride + index % index_stride * element + offset % element;
  }
};

}  // namespace hipplan::emulator
