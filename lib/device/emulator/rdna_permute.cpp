// Moving values between lanes of rows of 16. RDNA3 ISA, "VOP3 Instructions", V_PERMLANE16_B32 and
// following.
#include "device/emulator/lanes.h"
#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

// Op::bytes: bit 0 takes the other row of the pair, bit 1 reads the selects lane by lane.
// Op::packed.op_sel: bit 0 reads inactive lanes, bit 1 makes inactive lanes 0.
constexpr unsigned kOtherRow = 1, kPerLane = 2;

void permute_rows(Wave& wave, const Op& op) {
  Buffer<uint32_t> values_scratch, low_scratch, high_scratch, out;
  const uint32_t* values = fetch(wave, op, 0, values_scratch.lane);
  const uint32_t* low = fetch(wave, op, 1, low_scratch.lane);
  const uint32_t* high = op.source_count > 2 ? fetch(wave, op, 2, high_scratch.lane) : low;
  const uint32_t* old = wave.rows[op.to.index].lane;
  const uint64_t exec = wave.exec();
  const bool fetch_inactive = (op.packed.op_sel & 1) != 0, zero = (op.packed.op_sel & 2) != 0;
  for (unsigned lane = 0; lane < wave.lanes; ++lane) {
    const unsigned place = lane % 16;
    const uint32_t picks = (op.bytes & kPerLane) != 0 ? low[lane]
                           : place < 8                ? low[0] >> (4 * place)
                                                      : high[0] >> (4 * (place - 8));
    const unsigned row = (lane & ~15u) ^ ((op.bytes & kOtherRow) != 0 ? 16u : 0u);
    const unsigned from = row + (picks & 15u);
    const bool readable = fetch_inactive || ((exec >> from) & 1) != 0;
    out.lane[lane] = readable ? values[from] : (zero ? 0 : old[lane]);
  }
  copy_lanes(wave.rows[op.to.index].lane, out.lane, exec);
}

/// Swaps the halves of a wave of 64; a wave of 32 keeps its values.
void permute_halves(Wave& wave, const Op& op) {
  if (wave.lanes == 32) return;
  Buffer<uint32_t> scratch, out;
  const uint32_t* values = fetch(wave, op, 0, scratch.lane);
  for (unsigned lane = 0; lane < 64; ++lane) out.lane[lane] = values[lane ^ 32];
  copy_lanes(wave.rows[op.to.index].lane, out.lane, wave.exec());
}

Result<void> lower_permlane(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto sources = static_cast<size_t>(instruction.operands.size() - 1);
  op.bytes = static_cast<uint8_t>(lowering.entry().parameter);
  const size_t expected = (op.bytes & kPerLane) != 0 ? 2 : 3;
  if (instruction.operands.size() != expected + 1) {
    return operand_error(instruction, cat("expected ", expected + 1, " operands"));
  }
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (size_t i = 0; i < sources; ++i) {
    HIPPLAN_TRY_ASSIGN(op.from[i], lowering.source(instruction.operands[i + 1], Type::u32));
  }
  op.source_count = static_cast<uint8_t>(sources);
  for (const auto& modifier : instruction.modifiers) {
    if (modifier.name != "op_sel") return modifier_error(instruction, modifier.name);
  }
  op.packed.op_sel = static_cast<uint8_t>(instruction.element("op_sel", 0, 0) |
                                          instruction.element("op_sel", 1, 0) << 1);
  return {};
}

constexpr Semantics permute(std::string_view mnemonic, int64_t parameter) {
  return {.mnemonic = mnemonic,
          .run = permute_rows,
          .shape = {},
          .flags = kVector | kAnyModifier,
          .lower = lower_permlane,
          .parameter = parameter};
}

constexpr Semantics kRdnaPermuteTable[] = {
    isa::rdna("VOP1"),
    {.mnemonic = "v_permlane64_b32",
     .run = permute_halves,
     .shape = {.to = Type::u32, .also = Type::none, .from = {Type::u32}, .sources = 1},
     .flags = kVector},

    isa::rdna("VOP3"),
    permute("v_permlane16_b32", 0),
    permute("v_permlanex16_b32", kOtherRow),

    isa::rdna4("VOP3"),
    permute("v_permlane16_var_b32", kPerLane),
    permute("v_permlanex16_var_b32", kPerLane | kOtherRow),
};

}  // namespace

std::span<const Semantics> rdna_permute_semantics() {
  return kRdnaPermuteTable;
}

}  // namespace hipplan::emulator
