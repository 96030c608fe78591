// Loads and stores that M0 or the lane's number take part in: blocks of up to 32 registers, and
// dwords in lane order. RDNA3 and RDNA4 ISA, "FLAT, Scratch and Global Instructions".
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Bit i of M0: register i and the dword 4 * i bytes behind the address.
template <bool Store>
void move_block(Wave& wave, const Op& op) {
  for (uint32_t left = wave.scalars[scalar::kM0]; left != 0; left &= left - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(left));
    Op one = op;
    (Store ? one.from[kData].index : one.to.index) += static_cast<uint16_t>(word);
    Places places;
    if (!find_places(wave, one, Store, 4 * static_cast<int64_t>(word), places)) return;
    if constexpr (Store) {
      store_rows<Transfer{Space::global, 4}>(places, wave.rows + one.from[kData].index);
      wave.counters.bytes_written += moved_bytes(places, 4);
    } else {
      load_word_lanes<1>(places, wave.rows + one.to.index);
      wave.counters.bytes_read += moved_bytes(places, 4);
    }
  }
}
template <bool Store>
Result<void> lower_block(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(Store ? lower_vector_store(instruction, lowering, op)
                    : lower_vector_load(instruction, lowering, op));
  op.bytes = 4;
  return {};
}

void load_in_order(Wave& wave, const Op& op) {
  Places places;
  if (!find_places_in_order(wave, op, false, places)) return;
  load_word_lanes<1>(places, wave.rows + op.to.index);
  wave.counters.bytes_read += moved_bytes(places, 4);
}
void store_in_order(Wave& wave, const Op& op) {
  Places places;
  if (!find_places_in_order(wave, op, true, places)) return;
  store_rows<Transfer{Space::global, 4}>(places, wave.rows + op.from[kData].index);
  wave.counters.bytes_written += moved_bytes(places, 4);
}
template <bool Store>
Result<void> lower_in_order(const Instruction& instruction, Lowering& lowering, Op& op) {
  op.space = Space::global;
  op.bytes = 4;
  HIPPLAN_TRY(lower_hints(instruction, op));
  HIPPLAN_TRY(Store ? lower_data(instruction, 0, 1, lowering, op)
                    : lower_result(instruction, 0, 1, lowering, op));
  return lower_base(instruction, 1, lowering, op);
}

template <bool Store>
constexpr Semantics block(std::string_view name, Space space) {
  return {.mnemonic = name,
          .run = move_block<Store>,
          .flags = kVector,
          .lower = lower_block<Store>,
          .parameter = Transfer{space, 128}.pack()};
}

constexpr Semantics kBlockTable[] = {
    isa::rdna4("VGLOBAL"),
    block<false>("global_load_block", Space::global),
    block<true>("global_store_block", Space::global),

    isa::rdna4("VSCRATCH"),
    block<false>("scratch_load_block", Space::scratch),
    block<true>("scratch_store_block", Space::scratch),

    isa::each("", "GLOBAL", "VGLOBAL"),
    {.mnemonic = "global_load_addtid_b32",
     .run = load_in_order,
     .flags = kVector,
     .lower = lower_in_order<false>},
    {.mnemonic = "global_store_addtid_b32",
     .run = store_in_order,
     .flags = kVector,
     .lower = lower_in_order<true>},
};

}  // namespace

std::span<const Semantics> block_semantics() {
  return kBlockTable;
}

}  // namespace hipplan::emulator
