// Loads and stores that M0 or the lane's number take part in: blocks of up to 32 registers, and
// dwords in lane order. RDNA3 and RDNA4 ISA, "FLAT, Scratch and Global Instructions".
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Places of a block's dword Op::offset2 bytes behind the address.
bool find_places_behind(Wave& wave, const Op& op, bool write, Places& places) {
  return find_places(wave, op, write, op.offset2, places);
}

/// Bit i of M0: register i and the dword 4 * i bytes behind the address.
template <bool Store>
void move_block(Wave& wave, const Op& op) {
  for (uint32_t left = wave.scalars[scalar::kM0]; left != 0; left &= left - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(left));
    Op one = op;
    (Store ? one.from[kData].index : one.to.index) += static_cast<uint16_t>(word);
    one.offset2 = 4 * static_cast<int64_t>(word);
    (Store ? store_dwords<find_places_behind> : load_dwords<find_places_behind>)(wave, one);
    if (wave.state == State::faulted) return;
  }
}
template <bool Store>
Result<void> lower_block(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(Store ? lower_vector_store(instruction, lowering, op)
                    : lower_vector_load(instruction, lowering, op));
  op.bytes = 4;
  return {};
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
     .run = load_dwords<find_places_in_order>,
     .flags = kVector,
     .lower = lower_in_order<false>},
    {.mnemonic = "global_store_addtid_b32",
     .run = store_dwords<find_places_in_order>,
     .flags = kVector,
     .lower = lower_in_order<true>},
};

}  // namespace

std::span<const Semantics> block_semantics() {
  return kBlockTable;
}

}  // namespace hipplan::emulator
