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

/// Scalar base + offset + 4 * lane. False after a fault.
bool ordered_places(Wave& wave, const Op& op, bool write, Places& places) {
  // The lane's share of the address stands where the address register would.
  Op numbered = op;
  Row saved = wave.rows[kVectorRows - 1];
  for (unsigned i = 0; i < kMaxLanes; ++i) wave.rows[kVectorRows - 1].lane[i] = 4 * i;
  numbered.from[kAddress].place = Place::vgpr;
  numbered.from[kAddress].index = kVectorRows - 1;
  const bool found = find_places(wave, numbered, write, 0, places);
  wave.rows[kVectorRows - 1] = saved;
  return found;
}
void load_in_order(Wave& wave, const Op& op) {
  Places places;
  if (!ordered_places(wave, op, false, places)) return;
  load_word_lanes<1>(places, wave.rows + op.to.index);
  wave.counters.bytes_read += moved_bytes(places, 4);
}
void store_in_order(Wave& wave, const Op& op) {
  Places places;
  if (!ordered_places(wave, op, true, places)) return;
  store_rows<Transfer{Space::global, 4}>(places, wave.rows + op.from[kData].index);
  wave.counters.bytes_written += moved_bytes(places, 4);
}
/// Data, then the scalar base or "off": the base is 0 then.
template <bool Store>
Result<void> lower_in_order(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  Instruction shown = instruction;
  disassembly::Operand none;
  shown.operands.insert(shown.operands.begin() + (Store ? 0 : 1), none);
  HIPPLAN_TRY(Store ? lower_vector_store(shown, lowering, op)
                    : lower_vector_load(shown, lowering, op));
  op.saddr = true;
  return {};
}

constexpr int64_t kWord = Transfer{Space::global, 4}.pack();
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
     .lower = lower_in_order<false>,
     .parameter = kWord},
    {.mnemonic = "global_store_addtid_b32",
     .run = store_in_order,
     .flags = kVector,
     .lower = lower_in_order<true>,
     .parameter = kWord},
};

}  // namespace

std::span<const Semantics> block_semantics() {
  return kBlockTable;
}

}  // namespace hipplan::emulator
