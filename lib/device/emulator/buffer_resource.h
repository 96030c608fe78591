// The four dwords that describe a buffer, and the addresses that follow from them. ISA documents,
// "Buffer Resource Descriptor" and "Buffer Addressing".
#pragma once

#include <cstdint>

#include "device/emulator/buffer_format.h"

namespace hipplan::emulator {

struct BufferResource {
  uint32_t last = 0;  ///< the fourth dword
  bool gfx9 = false;
  uint64_t base = 0, stride = 0, records = 0;
  uint32_t index_stride = 0;  ///< elements of so many indices lie together; 0: not swizzled
  uint32_t element = 4;       ///< bytes that stay together in a swizzled buffer
  bool add_lane = false;      ///< the lane's number is added to the index

  BufferResource(const uint32_t* words, bool is_gfx9) : last(words[3]), gfx9(is_gfx9) {
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
  /// A single access must not be wider than what stays together.
  [[nodiscard]] bool in_one_element(uint64_t offset, unsigned bytes) const {
    return index_stride == 0 || offset % element + bytes <= element;
  }
  /// What scalar instructions compare with: they have no index.
  [[nodiscard]] uint64_t scalar_size() const { return records * (stride == 0 ? 1 : stride); }
  /// gfx9: where the stride's upper bits are, the format is not.
  [[nodiscard]] bool has_format() const { return !gfx9 || !add_lane; }
  [[nodiscard]] BufferFormat format() const {
    return gfx9 ? separate_format(last >> 15 & 15u, last >> 12 & 7u)
                : unified_format(last >> 12 & 63u);
  }
  /// Component that register `which` has: 0 and 1 are constants, 4 to 7 name X to W.
  [[nodiscard]] unsigned select(unsigned which) const { return last >> (3 * which) & 7u; }
  [[nodiscard]] uint64_t address(uint64_t index, uint64_t offset) const {
    if (index_stride == 0) return base + offset + index * stride;
    const uint64_t block = index / index_stride * stride + offset / element * element;
    return base + block * index_stride + index % index_stride * element + offset % element;
  }
};

}  // namespace hipplan::emulator
