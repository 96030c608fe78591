// The data half of memory instructions: between host addresses and vector registers.
#pragma once

#include "device/emulator/access.h"

namespace hipplan::emulator {

/// What one lane of a memory instruction moves. Space does not change the data half; it only keeps
/// an entry's lowering apart.
struct Transfer {
  Space space = Space::none;
  uint8_t bytes = 4;
  bool sign_extend = false;
  Part part = Part::dword;  ///< d16 forms: the half of the register
  bool pair = false;        ///< compare-and-swap: data is a new value and a comparand

  [[nodiscard]] constexpr unsigned words() const { return bytes < 4 ? 1u : bytes / 4u; }
  [[nodiscard]] constexpr int64_t pack() const {
    return static_cast<int64_t>(space) | static_cast<int64_t>(bytes) << 8 |
           static_cast<int64_t>(pair) << 16;
  }
  static constexpr Transfer from(int64_t packed) {
    Transfer transfer;
    transfer.space = static_cast<Space>(packed & 0xff);
    transfer.bytes = static_cast<uint8_t>(packed >> 8 & 0xff);
    transfer.pair = (packed >> 16 & 1) != 0;
    return transfer;
  }
};

inline uint64_t moved_bytes(const Places& places, unsigned bytes) {
  return static_cast<uint64_t>(std::popcount(places.mask)) * bytes;
}
/// Counts what went to or came from memory. LDS is none.
inline void count_read(Wave& wave, const Op& op, uint64_t bytes) {
  if (op.space != Space::lds) wave.counters.bytes_read += bytes;
}
inline void count_written(Wave& wave, const Op& op, uint64_t bytes) {
  if (op.space != Space::lds) wave.counters.bytes_written += bytes;
}

/// A small value as its register sees it.
template <Transfer T>
inline uint32_t widen_small(const std::byte* from) {
  if constexpr (T.bytes == 1) {
    const auto value = static_cast<uint8_t>(*from);
    return T.sign_extend ? static_cast<uint32_t>(static_cast<int8_t>(value)) : value;
  } else {
    uint16_t value;
    std::memcpy(&value, from, 2);
    return T.sign_extend ? static_cast<uint32_t>(static_cast<int16_t>(value)) : value;
  }
}

template <Transfer T>
inline void load_small_lanes(const Places& places, uint32_t* row) {
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t value = places.at[lane] == nullptr ? 0u : widen_small<T>(places.at[lane]);
    if constexpr (T.part == Part::word0)
      row[lane] = (row[lane] & 0xffff0000u) | (value & 0xffffu);
    else if constexpr (T.part == Part::word1)
      row[lane] = (row[lane] & 0xffffu) | value << 16;
    else
      row[lane] = value;
  }
}

/// Loads `words` dwords per lane into consecutive rows.
template <unsigned Words>
inline void load_word_lanes(const Places& places, Row* rows) {
  if (places.dense) {
    const std::byte* from = places.at[0];
    if constexpr (Words == 1) {
      std::memcpy(rows[0].lane, from, 4 * places.lanes);
      return;
    }
    for (unsigned i = 0; i < places.lanes; ++i) {
      uint32_t value[Words];
      std::memcpy(value, from + 4 * Words * i, 4 * Words);
      for (unsigned w = 0; w < Words; ++w) rows[w].lane[i] = value[w];
    }
    return;
  }
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint32_t value[Words] = {};
    if (places.at[lane] != nullptr) std::memcpy(value, places.at[lane], 4 * Words);
    for (unsigned w = 0; w < Words; ++w) rows[w].lane[lane] = value[w];
  }
}

template <Transfer T>
void load_lanes(Wave& wave, const Op& op) {
  Places places;
  if (!find_places(wave, op, false, 0, places)) return;
  Row* rows = wave.rows + op.to.index;
  if constexpr (T.bytes < 4)
    load_small_lanes<T>(places, rows[0].lane);
  else
    load_word_lanes<T.bytes / 4>(places, rows);
  count_read(wave, op, moved_bytes(places, T.bytes));
}

/// Stores what the data rows hold.
template <Transfer T>
inline void store_rows(const Places& places, const Row* rows) {
  if (T.bytes == 4 && places.dense) {
    std::memcpy(places.at[0], rows[0].lane, 4 * places.lanes);
    return;
  }
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (places.at[lane] == nullptr) continue;
    if constexpr (T.bytes < 4) {
      const uint32_t value = T.part == Part::word1 ? rows[0].lane[lane] >> 16 : rows[0].lane[lane];
      std::memcpy(places.at[lane], &value, T.bytes);
    } else {
      uint32_t value[T.bytes / 4];
      for (unsigned w = 0; w < T.bytes / 4u; ++w) value[w] = rows[w].lane[lane];
      std::memcpy(places.at[lane], value, T.bytes);
    }
  }
}

template <Transfer T>
void store_lanes(Wave& wave, const Op& op) {
  Places places;
  if (!find_places(wave, op, true, 0, places)) return;
  store_rows<T>(places, wave.rows + op.from[kData].index);
  count_written(wave, op, moved_bytes(places, T.bytes));
}

/// Moves a dword per lane from or to the places that `Find(wave, op, whether it writes, places)`
/// finds, and nothing where that is false, after a fault.
template <auto Find>
void load_dwords(Wave& wave, const Op& op) {
  Places places;
  if (!Find(wave, op, false, places)) return;
  load_word_lanes<1>(places, wave.rows + op.to.index);
  count_read(wave, op, moved_bytes(places, 4));
}
template <auto Find>
void store_dwords(Wave& wave, const Op& op) {
  Places places;
  if (!Find(wave, op, true, places)) return;
  store_rows<Transfer{Space::global, 4}>(places, wave.rows + op.from[kData].index);
  count_written(wave, op, moved_bytes(places, 4));
}

// Parts of lowerings -----------------------------------------------------------------------------

/// Operand `which`, a vector register that is written, into op.to.
Result<void> lower_result(const Instruction& instruction, size_t which, unsigned words,
                          const Lowering& lowering, Op& op);
/// Operand `which`, a vector register that is stored, into op.from[kData].
Result<void> lower_data(const Instruction& instruction, size_t which, unsigned words,
                        const Lowering& lowering, Op& op);
/// A DS instruction of one operand and an offset.
Result<void> lower_lds_offset(const Instruction& instruction, Op& op);
/// Cache and coherence hints, and how the address is made. Comes before the parts below.
Result<void> lower_hints(const Instruction& instruction, Op& op);
/// The address that operands from `at` on say, the scalar base of global and scratch
/// accesses at `base`.
Result<void> lower_place(const Instruction& instruction, size_t at, size_t base,
                         const Lowering& lowering, Op& op);
/// Operand `base`: a scalar base or "off". There is no address register.
Result<void> lower_base(const Instruction& instruction, size_t base, const Lowering& lowering,
                        Op& op);
/// Of an instruction whose entry does not say how many registers are loaded.
Result<void> lower_load_of(const Instruction& instruction, const Transfer& transfer,
                           const Lowering& lowering, Op& op);
/// Loads with the modifier "lds": their data go to LDS.
Result<void> lower_lds_modifier(const Instruction& instruction, Space space,
                                const Lowering& lowering, Op& op);
Result<void> lower_vector_load(const Instruction& instruction, Lowering& lowering, Op& op);
Result<void> lower_vector_store(const Instruction& instruction, Lowering& lowering, Op& op);
Result<void> lower_vector_atomic(const Instruction& instruction, Lowering& lowering, Op& op);

}  // namespace hipplan::emulator
