// Vector instructions on parts of registers or on four of them. ISA documents, "VOP1 Instructions"
// and "VOP3 Instructions".
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

/// Sum of the distances of four bytes, where the mask's byte is not 0.
uint32_t masked_distances(uint32_t bytes, uint32_t mask, uint32_t sum) {
  for (unsigned i = 0; i < 32; i += 8) {
    const uint32_t a = bytes >> i & 255u, b = mask >> i & 255u;
    if (b != 0) sum += a > b ? a - b : b - a;
  }
  return sum;
}
/// D.dword[i] = distances of bytes i to i + 3 of S0 to S1, added to S2.dword[i].
void four_sums(Wave& wave, const Op& op) {
  Buffer<uint64_t> bytes_of;
  Buffer<uint32_t> mask_of;
  const uint64_t* bytes = fetch(wave, op, 0, bytes_of.lane);
  const uint32_t* mask = fetch(wave, op, 1, mask_of.lane);
  const Row* add = wave.rows + op.from[2].index;
  Row out[4];
  for (unsigned word = 0; word < 4; ++word)
    for (unsigned i = 0; i < wave.lanes; ++i)
      out[word].lane[i] = masked_distances(static_cast<uint32_t>(bytes[i] >> (8 * word)), mask[i],
                                           add[word].lane[i]);
  for (unsigned word = 0; word < 4; ++word)
    copy_lanes(wave.rows[op.to.index + word].lane, out[word].lane, wave.exec());
}
Result<void> lower_four_sums(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != 4) return operand_error(instruction, "expected 4 operands");
  if (!instruction.modifiers.empty())
    return modifier_error(instruction, instruction.modifiers.front().name);
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::wide, 4));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(operands[1], Type::u64));
  HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(operands[2], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[2], lowering.source(operands[3], Type::wide, 4));
  if (op.to.place != Place::vgpr || op.from[2].place != Place::vgpr)
    return operand_error(instruction, "expected vector registers");
  op.source_count = 3;
  return {};
}

uint32_t half_shift(Part part) {
  return part == Part::word1 ? 16 : 0;
}
/// Exchanges halves of two registers, or of one, in the active lanes.
void swap_halves(Wave& wave, const Op& op) {
  uint32_t* first = wave.rows[op.to.index].lane;
  uint32_t* second = wave.rows[op.from[0].index].lane;
  const uint32_t at = half_shift(op.to.part), from = half_shift(op.from[0].part);
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t a = first[lane] >> at & 0xffffu, b = second[lane] >> from & 0xffffu;
    first[lane] = (first[lane] & ~(0xffffu << at)) | b << at;
    second[lane] = (second[lane] & ~(0xffffu << from)) | a << from;
  }
}
Result<void> lower_swap_halves(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2 || !instruction.modifiers.empty())
    return operand_error(instruction, "expected 2 operands without modifiers");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u16));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u16));
  if (op.to.place != Place::vgpr || op.from[0].place != Place::vgpr)
    return operand_error(instruction, "expected vector registers");
  return {};
}

constexpr Semantics kWideVectorTable[] = {
    isa::all("VOP3"),
    {.mnemonic = "v_mqsad_u32_u8", .run = four_sums, .flags = kVector, .lower = lower_four_sums},

    isa::rdna("VOP1"),
    {.mnemonic = "v_swap_b16", .run = swap_halves, .flags = kVector, .lower = lower_swap_halves},
};

}  // namespace

std::span<const Semantics> wide_vector_semantics() {
  return kWideVectorTable;
}

}  // namespace hipplan::emulator
