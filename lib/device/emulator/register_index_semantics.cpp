// Registers whose number M0 adds to: v_movrel*, v_swaprel, s_movrel*. ISA documents, "VGPR
// Indexing" and "SOP1 Instructions".
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

constexpr unsigned kScalarRegisters = 106;

uint32_t* moved_row(Wave& wave, unsigned index, uint32_t by) {
  const uint64_t moved = uint64_t{index} + by;
  if (moved < wave.vector_limit) return wave.rows[moved].lane;
  wave.fail({.reason = "register-index",
             .what = "an indexed register is not the kernel's",
             .expected = cat("below v", wave.vector_limit),
             .found = cat("v", moved)});
  return nullptr;
}
uint32_t* moved_scalar(Wave& wave, unsigned index, uint32_t by, unsigned words) {
  const uint64_t moved = uint64_t{index} + by;
  if (moved + words <= kScalarRegisters) return wave.scalars + moved;
  wave.fail({.reason = "register-index",
             .what = "an indexed scalar register does not exist",
             .expected = cat("below s", kScalarRegisters),
             .found = cat("s", moved)});
  return nullptr;
}

/// What is added to the source's and to the destination's number.
struct Moves {
  uint32_t source = 0, destination = 0;
};
template <bool Source, bool Destination, bool Split>
Moves moves_of(const Wave& wave) {
  const uint32_t m0 = wave.scalars[scalar::kM0];
  if (Split) return {m0 & 0x3ffu, (m0 >> 16) & 0x3ffu};
  return {Source ? m0 : 0, Destination ? m0 : 0};
}

template <bool Source, bool Destination, bool Split = false>
void move_row(Wave& wave, const Op& op) {
  const Moves moves = moves_of<Source, Destination, Split>(wave);
  uint32_t* to = moved_row(wave, op.to.index, moves.destination);
  if (to == nullptr) return;
  if (op.from[0].place != Place::vgpr) {
    Buffer<uint32_t> scratch;
    copy_lanes(to, fetch(wave, op, 0, scratch.lane), wave.exec());
    return;
  }
  const uint32_t* from = moved_row(wave, op.from[0].index, moves.source);
  if (from != nullptr) copy_lanes(to, from, wave.exec());
}
void swap_rows(Wave& wave, const Op& op) {
  const Moves moves = moves_of<true, true, true>(wave);
  uint32_t* to = moved_row(wave, op.to.index, moves.destination);
  uint32_t* from = to == nullptr ? nullptr : moved_row(wave, op.from[0].index, moves.source);
  if (from == nullptr) return;
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::swap(to[lane], from[lane]);
  }
}
template <bool Source, bool Destination, unsigned Words, bool Split = false>
void move_scalar(Wave& wave, const Op& op) {
  const Moves moves = moves_of<Source, Destination, Split>(wave);
  uint64_t value = read_scalar(wave, op.from[0]);
  if (Source) {
    const uint32_t* from = moved_scalar(wave, op.from[0].index, moves.source, Words);
    if (from == nullptr) return;
    std::memcpy(&value, from, 4 * Words);
  }
  uint32_t* to = moved_scalar(wave, op.to.index, moves.destination, Words);
  if (to != nullptr) std::memcpy(to, &value, 4 * Words);
}

Result<void> lower_move(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto parameter = lowering.entry().parameter;  // words, and 4 when the source is indexed
  const Type type = (parameter & 3) == 2 ? Type::u64 : Type::u32;
  const bool vector = (lowering.entry().flags & kVector) != 0;
  if (instruction.operands.size() != 2 || !instruction.modifiers.empty())
    return operand_error(instruction, "expected 2 operands without modifiers");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], type));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], type));
  const Place place = vector ? Place::vgpr : Place::sgpr;
  const bool indexed = (parameter & 4) != 0;
  if (op.to.place != place || (indexed && op.from[0].place != place) ||
      (!vector && op.from[0].place == Place::vgpr))
    return operand_error(instruction, "unexpected kind of register");
  return {};
}

// clang-format off
constexpr Semantics vector(std::string_view name, Handler run, int64_t indexed) {
  return {.mnemonic = name, .run = run, .flags = kVector, .lower = lower_move, .parameter = 1 | indexed};
}
constexpr Semantics scalar_move(std::string_view name, Handler run, int64_t parameter) {
  return {.mnemonic = name, .run = run, .lower = lower_move, .parameter = parameter};
}
constexpr Semantics kRegisterIndexTable[] = {
    isa::all("SOP1"),
    scalar_move("s_movrels_b32", move_scalar<true, false, 1>, 1 | 4), scalar_move("s_movreld_b32", move_scalar<false, true, 1>, 1),
    scalar_move("s_movrels_b64", move_scalar<true, false, 2>, 2 | 4), scalar_move("s_movreld_b64", move_scalar<false, true, 2>, 2),

    isa::rdna("SOP1"),
    scalar_move("s_movrelsd_2_b32", move_scalar<true, true, 1, true>, 1 | 4),

    isa::rdna("VOP1"),
    vector("v_movrels_b32", move_row<true, false>, 4), vector("v_movreld_b32", move_row<false, true>, 0),
    vector("v_movrelsd_b32", move_row<true, true>, 4), vector("v_movrelsd_2_b32", move_row<true, true, true>, 4),
    vector("v_swaprel_b32", swap_rows, 4),
};
// clang-format on

}  // namespace

std::span<const Semantics> register_index_semantics() {
  return kRegisterIndexTable;
}

}  // namespace hipplan::emulator
