// VOPD: two vector operations in one instruction. Both read their sources before either writes.
// RDNA3 ISA, "Dual Issue VALU" and "VOPD Instructions".
#include "device/emulator/lanes.h"
#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

using disassembly::Operand;
using disassembly::OperandKind;
using disassembly::Special;

/// AccVGPRs do not exist on RDNA; the last of their rows holds a result that must wait.
constexpr uint16_t kWaitingRow = kVectorRows - 1;

/// "v_dual_fmac_f32" as the plain instruction "v_fmac_f32" with its operands complete.
Instruction plain_half(const Instruction& half, const Lowering& lowering) {
  constexpr std::string_view kPrefix = "v_dual_";
  Instruction out = half;
  out.second.clear();
  out.mnemonic = "v_" + half.mnemonic.substr(kPrefix.size());
  if (out.mnemonic == "v_cndmask_b32" && out.operands.size() == 3) {
    Operand vcc;
    vcc.kind = OperandKind::special;
    const bool wave64 = lowering.settings().lanes == 64;
    vcc.special = wave64 ? Special::vcc : Special::vcc_lo;
    vcc.count = wave64 ? 2 : 1;
    vcc.text = wave64 ? "vcc" : "vcc_lo";
    out.operands.push_back(std::move(vcc));
  }
  return out;
}

Result<void> lower_half(const Instruction& half, Lowering& lowering, Op& op) {
  if (half.mnemonic.rfind("v_dual_", 0) != 0) return operand_error(half, "is no half of a pair");
  const Instruction plain = plain_half(half, lowering);
  const Semantics* entry = find_semantics(plain.mnemonic);
  if (entry == nullptr) return operand_error(half, "the emulator does not know this half");
  op = Op{};
  op.run = entry->run;
  op.directed = entry->directed;
  op.vector = true;
  HIPPLAN_TRY(entry->lower != nullptr ? entry->lower(plain, lowering, op)
                                      : lowering.by_shape(plain, *entry, op));
  if (op.to.place != Place::vgpr || op.to.words != 1) {
    return operand_error(half, "the result must be one vector register");
  }
  return {};
}

bool reads(const Op& op, const Destination& to) {
  for (unsigned i = 0; i < op.source_count; ++i) {
    const Source& source = op.from[i];
    if (source.place == Place::vgpr && to.index >= source.index &&
        to.index < source.index + source.words) {
      return true;
    }
  }
  return false;
}

Op copy_from_waiting_row(const Destination& to) {
  constexpr auto kCopy = [](uint32_t value) { return value; };
  Op op;
  op.run = lane_handler<kCopy>;
  op.vector = true;
  op.to = to;
  op.from[0].place = Place::vgpr;
  op.from[0].type = Type::u32;
  op.from[0].index = kWaitingRow;
  op.from[0].simple = true;
  op.source_count = 1;
  return op;
}

}  // namespace

Result<void> lower_vopd(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.second.size() != 1) return operand_error(instruction, "expected a pair");
  Op first, second;
  HIPPLAN_TRY(lower_half(instruction, lowering, first));
  HIPPLAN_TRY(lower_half(instruction.second[0], lowering, second));
  if (!reads(second, first.to)) {
    lowering.push(first);
    op = second;
  } else if (!reads(first, second.to)) {
    lowering.push(second);
    op = first;
  } else {
    const Destination to = first.to;
    first.to.index = kWaitingRow;
    lowering.push(first);
    lowering.push(second);
    op = copy_from_waiting_row(to);
  }
  return {};
}

}  // namespace hipplan::emulator
