// Jumps through registers and calls. Section "Program control" of the ISA documents.
#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

/// Goes on at an address; Op::offset2 is the kernel's CodeMap.
void jump(Wave& wave, const Op& op, uint64_t address) {
  const auto* map = reinterpret_cast<const CodeMap*>(static_cast<uintptr_t>(op.offset2));
  if (const auto target = map->find(address)) {
    wave.next = *target;
    return;
  }
  wave.fail({.reason = "call-target",
             .what = "a jump to where no instruction of the kernel or its functions starts",
             .found = hex(address)});
}
void set_pc(Wave& wave, const Op& op) {
  jump(wave, op, read_scalar(wave, op.from[0]));
}
/// Op::immediate is the address behind the instruction.
void swap_pc(Wave& wave, const Op& op) {
  const uint64_t address = read_scalar(wave, op.from[0]);
  write_scalar(wave, op.to, op.immediate);
  jump(wave, op, address);
}
void call(Wave& wave, const Op& op) {
  write_scalar(wave, op.to, op.immediate);
  wave.next = op.target;
}

uint64_t address_behind(const Instruction& instruction, const Lowering& lowering) {
  return instruction.address + instruction.size + lowering.settings().load_bias;
}
void use_map(Lowering& lowering, Op& op) {
  op.offset2 = static_cast<int64_t>(reinterpret_cast<uintptr_t>(lowering.jumps().get()));
}
Result<void> lower_set_pc(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[0], Type::u64));
  use_map(lowering, op);
  return {};
}
Result<void> lower_swap_pc(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u64));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u64));
  op.immediate = address_behind(instruction, lowering);
  use_map(lowering, op);
  return {};
}
Result<void> lower_call(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto target = instruction.branch_target();
  if (instruction.operands.size() != 2 || !target)
    return operand_error(instruction, "expected a register pair and a destination");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u64));
  op.immediate = address_behind(instruction, lowering);
  (void)lowering.jumps();  // the called function returns through a register
  lowering.branch_to(*target);
  return {};
}

constexpr Semantics kCallTable[] = {
    isa::all("SOP1"),
    {.mnemonic = "s_setpc_b64", .run = set_pc, .lower = lower_set_pc},
    {.mnemonic = "s_swappc_b64", .run = swap_pc, .lower = lower_swap_pc},

    isa::all("SOPK"),
    {.mnemonic = "s_call_b64", .run = call, .lower = lower_call},
};

}  // namespace

std::span<const Semantics> call_semantics() {
  return kCallTable;
}

}  // namespace hipplan::emulator
