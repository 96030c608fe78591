// Loads that transpose a matrix among the lanes on its way into registers.
#pragma once

#include "device/emulator/transfer.h"

namespace hipplan::emulator {

/// Item `item` of `bits` bits in consecutive dwords.
inline uint32_t packed_item(const uint32_t* words, unsigned item, unsigned bits) {
  const unsigned at = item * bits, shift = at % 32;
  uint64_t pair = words[at / 32];
  if (shift + bits > 32) pair |= static_cast<uint64_t>(words[at / 32 + 1]) << 32;
  return static_cast<uint32_t>(pair >> shift) & ((1u << bits) - 1u);
}
inline void set_packed_item(uint32_t* words, unsigned item, unsigned bits, uint32_t value) {
  const unsigned at = item * bits, shift = at % 32;
  words[at / 32] |= value << shift;
  if (shift + bits > 32) words[at / 32 + 1] |= value >> (32 - shift);
}

/// What the lanes of an access have loaded, `Words` dwords each; 0 where they are off.
template <unsigned Words>
struct LoadedWords {
  uint32_t lane[kMaxLanes][Words] = {};
  explicit LoadedWords(const Places& places) {
    for (uint64_t left = places.mask; left != 0; left &= left - 1) {
      const int i = std::countr_zero(left);
      if (places.at[i] != nullptr) std::memcpy(lane[i], places.at[i], 4 * Words);
    }
  }
};

/// `Group` lanes load a matrix of Group rows, column after column: with n items a lane, Group / n
/// neighbours have a column. Each lane gets its row: item k of lane t comes from lane
/// k * Group / n + t / n, item t % n.
template <unsigned Bits, unsigned Words, unsigned Group>
void transpose_lane(const LoadedWords<Words>& loaded, unsigned lane, uint32_t* out) {
  constexpr unsigned kItems = Words * 32 / Bits;
  const unsigned first = lane / Group * Group, row = lane % Group;
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned from = first + k * (Group / kItems) + row / kItems;
    set_packed_item(out, k, Bits, packed_item(loaded.lane[from], row % kItems, Bits));
  }
}

template <unsigned Bits, unsigned Words, unsigned Group>
void load_transposed(Wave& wave, const Op& op) {
  Places places;
  if (!find_places(wave, op, false, 0, places)) return;
  const LoadedWords<Words> loaded(places);
  Row* rows = wave.rows + op.to.index;
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint32_t out[Words] = {};
    transpose_lane<Bits, Words, Group>(loaded, lane, out);
    for (unsigned w = 0; w < Words; ++w) rows[w].lane[lane] = out[w];
  }
  count_read(wave, op, moved_bytes(places, op.bytes));
}

/// Waves of 64: lanes 0 to 31 load for all. Rows are 16 lanes apart there and hold half as much:
/// lane l gets half l / 16 % 2 of what lane l % 16 + 16 * (l / 32) of a wave of 32 would.
template <unsigned Bits, unsigned Words, unsigned Group>
void load_transposed_wide(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  Places places;
  if (!find_places(wave, op, false, 0, places, exec & 0xffffffffull)) return;
  const LoadedWords<Words> loaded(places);
  Row* rows = wave.rows + op.to.index;
  for (uint64_t left = exec; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    uint32_t out[Words] = {};
    transpose_lane<Bits, Words, Group>(loaded, lane % 16 + lane / 32 * 16, out);
    const unsigned half = lane / 16 % 2 * (Words / 2);
    for (unsigned w = 0; w < Words / 2; ++w) rows[w].lane[lane] = out[half + w];
  }
  count_read(wave, op, moved_bytes(places, op.bytes));
}

}  // namespace hipplan::emulator
