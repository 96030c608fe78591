// Instructions that look across lanes, or at a lane's number. ISA documents,
// "VOP1/VOP3 Instructions", V_READLANE_B32 and following.
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

/// First active lane; lane 0 when none is.
unsigned first_lane(const Wave& wave) {
  const uint64_t exec = wave.exec();
  return exec == 0 ? 0u : static_cast<unsigned>(std::countr_zero(exec));
}

void read_first_lane(Wave& wave, const Op& op) {
  Buffer<uint32_t> scratch;
  write_scalar(wave, op.to, fetch(wave, op, 0, scratch.lane)[first_lane(wave)]);
}
void read_lane(Wave& wave, const Op& op) {
  Buffer<uint32_t> scratch;
  const uint64_t lane = read_scalar(wave, op.from[1]) % wave.lanes;
  write_scalar(wave, op.to, fetch(wave, op, 0, scratch.lane)[lane]);
}
void write_lane(Wave& wave, const Op& op) {
  const uint64_t lane = read_scalar(wave, op.from[1]) % wave.lanes;
  wave.rows[op.to.index].lane[lane] = static_cast<uint32_t>(read_scalar(wave, op.from[0]));
}
Result<void> lower_read_lane(const Instruction& instruction, Lowering& lowering, Op& op) {
  const bool first = lowering.entry().parameter == 1;
  if (instruction.operands.size() != (first ? 2u : 3u))
    return operand_error(instruction, "unexpected operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u32));
  op.source_count = 1;
  if (op.to.place != Place::sgpr) return operand_error(instruction, "the result must be scalar");
  if (first) return {};
  HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(instruction.operands[2], Type::u32));
  if (op.from[1].place == Place::vgpr)
    return operand_error(instruction, "the lane number must be scalar");
  return {};
}
Result<void> lower_write_lane(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() < 3) return operand_error(instruction, "expected 3 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(instruction.operands[2], Type::u32));
  if (op.to.place != Place::vgpr || op.from[0].place == Place::vgpr ||
      op.from[1].place == Place::vgpr)
    return operand_error(instruction, "a scalar goes into a vector register");
  return {};
}

/// Bits of a mask below the own lane, counted from lane `First` on, plus S1.
template <unsigned First>
void masked_count(Wave& wave, const Op& op) {
  Buffer<uint32_t> mask, sum, out;
  const uint32_t* bits = fetch(wave, op, 0, mask.lane);
  const uint32_t* add = fetch(wave, op, 1, sum.lane);
  for (unsigned i = 0; i < wave.lanes; ++i) {
    const unsigned below = i <= First ? 0 : (i - First > 32 ? 32 : i - First);
    const auto field = static_cast<uint32_t>((1ull << below) - 1);
    out.lane[i] = static_cast<uint32_t>(std::popcount(bits[i] & field)) + add[i];
  }
  store(wave, op, op.to, out.lane, active_lanes(wave, op));
}

/// Exchanges two registers in the active lanes.
void swap_registers(Wave& wave, const Op& op) {
  const Row first = wave.rows[op.to.index], second = wave.rows[op.from[0].index];
  copy_lanes(wave.rows[op.to.index].lane, second.lane, wave.exec());
  copy_lanes(wave.rows[op.from[0].index].lane, first.lane, wave.exec());
}
/// Swaps the odd blocks of `Width` lanes of the first register with the even ones of the second.
template <unsigned Width>
void swap_blocks(Wave& wave, const Op& op) {
  Row first = wave.rows[op.to.index], second = wave.rows[op.from[0].index];
  for (unsigned i = 0; i < wave.lanes; ++i)
    if ((i & Width) == 0) std::swap(first.lane[i + Width], second.lane[i]);
  copy_lanes(wave.rows[op.to.index].lane, first.lane, wave.exec());
  copy_lanes(wave.rows[op.from[0].index].lane, second.lane, wave.exec());
}
Result<void> lower_swap(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u32));
  if (op.to.place != Place::vgpr || op.from[0].place != Place::vgpr)
    return operand_error(instruction, "expected vector registers");
  return {};
}

constexpr Shape kTwoToOne{.to = Type::u32, .from = {Type::u32, Type::u32}, .sources = 2};

constexpr Semantics kLaneTable[] = {
    isa::all("VOP1"),
    {.mnemonic = "v_nop", .run = do_nothing, .flags = kVector, .lower = lower_nothing},
    {.mnemonic = "v_readfirstlane_b32",
     .run = read_first_lane,
     .flags = kVector,
     .lower = lower_read_lane,
     .parameter = 1},
    {.mnemonic = "v_swap_b32", .run = swap_registers, .flags = kVector, .lower = lower_swap},

    isa::rdna("VOP1"),
    {.mnemonic = "v_pipeflush", .run = do_nothing, .flags = kVector, .lower = lower_nothing},

    isa::cdna("VOP1"),
    {.mnemonic = "v_clrexcp", .run = do_nothing, .flags = kVector, .lower = lower_nothing},
    {.mnemonic = "v_permlane16_swap_b32",
     .run = swap_blocks<16>,
     .flags = kVector,
     .lower = lower_swap},
    {.mnemonic = "v_permlane32_swap_b32",
     .run = swap_blocks<32>,
     .flags = kVector,
     .lower = lower_swap},

    isa::all("VOP3"),
    {.mnemonic = "v_readlane_b32", .run = read_lane, .flags = kVector, .lower = lower_read_lane},
    {.mnemonic = "v_writelane_b32", .run = write_lane, .flags = kVector, .lower = lower_write_lane},
    {.mnemonic = "v_mbcnt_lo_u32_b32",
     .run = masked_count<0>,
     .shape = kTwoToOne,
     .flags = kVector},
    {.mnemonic = "v_mbcnt_hi_u32_b32",
     .run = masked_count<32>,
     .shape = kTwoToOne,
     .flags = kVector},
};

}  // namespace

std::span<const Semantics> lane_semantics() {
  return kLaneTable;
}

}  // namespace hipplan::emulator
