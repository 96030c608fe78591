#include <algorithm>

#include "base/float_types.h"
#include "device/emulator/packed.h"

namespace hipplan::emulator {

using disassembly::Modifier;
using disassembly::Operand;
using disassembly::OperandKind;

uint64_t packed_constant(const Instruction& instruction, const Operand& operand) {
  const bool bfloat = instruction.mnemonic.find("bf16") != std::string::npos;
  if (bfloat) return float_to_bfloat16(static_cast<float>(operand.real));
  return operand.bits(16);
}

uint8_t list_bits(const Modifier& modifier) {
  unsigned bits = 0;
  for (size_t i = 0; i < modifier.values.size() && i < 8; ++i) {
    bits |= static_cast<unsigned>(modifier.values[i] & 1) << i;
  }
  return static_cast<uint8_t>(bits);
}

Result<void> packed_modifiers(const Instruction& instruction, bool with_clamp, Op& op) {
  for (const Modifier& modifier : instruction.modifiers) {
    if (modifier.name == "op_sel")
      op.packed.op_sel = list_bits(modifier);
    else if (modifier.name == "op_sel_hi")
      op.packed.op_sel_hi = list_bits(modifier);
    else if (modifier.name == "neg_lo")
      op.packed.neg_lo = list_bits(modifier);
    else if (modifier.name == "neg_hi")
      op.packed.neg_hi = list_bits(modifier);
    else if (modifier.name == "clamp" && with_clamp)
      op.clamp = true;
    else
      return modifier_error(instruction, modifier.name);
  }
  return {};
}

Result<void> raw_operands(const Instruction& instruction, const Lowering& lowering,
                          unsigned sources, bool halves, Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != sources + 1 && operands.size() != sources) {
    return operand_error(instruction, cat("expected ", sources + 1, " operands"));
  }
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::u32));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (unsigned i = 0; i < sources; ++i) {
    const Operand& operand = i + 1 < operands.size() ? operands[i + 1] : operands[0];
    // Signs are the handler's: they belong to halves, not to the register.
    Operand plain = operand;
    plain.negate = plain.absolute = false;
    HIPPLAN_TRY_ASSIGN(op.from[i], lowering.source(plain, Type::u32));
    if (halves && operand.kind == OperandKind::floating) {
      op.from[i].constant = packed_constant(instruction, operand);
    }
  }
  op.source_count = static_cast<uint8_t>(sources);
  return {};
}

}  // namespace hipplan::emulator
