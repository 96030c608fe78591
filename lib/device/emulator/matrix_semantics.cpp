// Matrix instructions as table entries: operands and modifiers into matrix.h's functions.
// CDNA ISA documents, "Matrix Arithmetic Instructions"; RDNA, "Wave Matrix Multiply Accumulate".
#include "base/float_types.h"
#include "device/emulator/lanes.h"
#include "device/emulator/matrix_table.h"

namespace hipplan::emulator {
namespace {

using disassembly::Modifier;
using disassembly::Operand;
using disassembly::OperandKind;

// Op::immediate is the shape's place in its table, Op::bytes the fp8 format or the WMMA layout.
void mfma(Wave& wave, const Op& op) {
  const MatrixShape& shape = mfma_shapes()[op.immediate];
  MfmaOperands operands;
  operands.a = rows_of(wave, op.from[0]);
  operands.b = rows_of(wave, op.from[1]);
  operands.c = rows_of(wave, op.from[2]);
  operands.constant = op.from[2].constant;
  operands.d = wave.rows + op.to.index;
  operands.fp8 = static_cast<Fp8Format>(op.bytes);
  operands.cbsz = op.packed.cbsz;
  operands.abid = op.packed.abid;
  operands.blgp = op.packed.blgp;
  run_mfma(shape, operands);
  wave.counters.matrix_flops += shape.flops();
}

void wmma(Wave& wave, const Op& op) {
  const MatrixShape& shape = wmma_shapes()[op.immediate];
  WmmaOperands operands;
  operands.a = rows_of(wave, op.from[0]);
  operands.b = rows_of(wave, op.from[1]);
  operands.c = rows_of(wave, op.from[2]);
  operands.constant = op.from[2].constant;
  operands.d = wave.rows + op.to.index;
  operands.layout = static_cast<WmmaLayout>(op.bytes);
  operands.high_half = (op.packed.op_sel & 4) != 0;
  operands.clamp = op.clamp;
  operands.neg_lo = op.packed.neg_lo;
  operands.neg_hi = op.packed.neg_hi;
  run_wmma(shape, operands);
  wave.counters.matrix_flops += shape.flops();
}

Type sum_type(Accumulator c) {
  switch (c) {
    case Accumulator::f64:
      return Type::f64;
    case Accumulator::f16:
    case Accumulator::bf16:
      return Type::f16;
    case Accumulator::i32:
      return Type::u32;
    default:
      return Type::f32;
  }
}

Result<void> mfma_modifiers(const Instruction& instruction, const MatrixShape& shape, Op& op) {
  for (const Modifier& modifier : instruction.modifiers) {
    const auto value = static_cast<uint8_t>(instruction.value(modifier.name) & 15);
    if (modifier.name == "cbsz")
      op.packed.cbsz = value;
    else if (modifier.name == "abid")
      op.packed.abid = value;
    else if (modifier.name == "blgp")
      op.packed.blgp = value;
    else if (modifier.name == "neg" && shape.c == Accumulator::f64)
      op.packed.blgp = list_bits(modifier);
    else
      return modifier_error(instruction, modifier.name);
  }
  const unsigned group = 1u << op.packed.cbsz;
  if (op.packed.cbsz != 0 && (group > shape.blocks || op.packed.abid >= group)) {
    return operand_error(instruction, "cbsz and abid name a block that is not there");
  }
  if (op.packed.blgp > 7) return modifier_error(instruction, "blgp");
  return {};
}

Result<void> lower_mfma(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const MatrixShape& shape = mfma_shapes()[index];
  if (instruction.operands.size() != 4) return operand_error(instruction, "expected 4 operands");
  HIPPLAN_TRY(matrix_operands(instruction, lowering, shape, mfma_registers(shape), op));
  HIPPLAN_TRY(mfma_modifiers(instruction, shape, op));
  if (lowering.settings().lanes != 64)
    return operand_error(instruction, "needs a wave of 64 lanes");
  op.immediate = index;
  const bool ocp = lowering.settings().arch == "gfx950";
  op.bytes = static_cast<uint8_t>(ocp ? Fp8Format::ocp : Fp8Format::fnuz);
  return {};
}

Result<void> lower_wmma(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const MatrixShape& shape = wmma_shapes()[index];
  const WmmaLayout layout = wmma_layout(lowering);
  HIPPLAN_TRY(matrix_operands(instruction, lowering, shape, wmma_registers(shape, layout), op));
  for (const Modifier& modifier : instruction.modifiers) {
    const bool integer = shape.c == Accumulator::i32;
    if (modifier.name == "op_sel")
      op.packed.op_sel = list_bits(modifier);
    else if (modifier.name == "neg_lo")
      op.packed.neg_lo = list_bits(modifier);
    else if (modifier.name == "neg_hi" && !integer)
      op.packed.neg_hi = list_bits(modifier);
    else if (modifier.name == "clamp" && integer)
      op.clamp = true;
    else if (modifier.name != "op_sel_hi")
      return modifier_error(instruction, modifier.name);
  }
  op.immediate = index;
  op.bytes = static_cast<uint8_t>(layout);
  return {};
}

/// The shapes of RDNA3, which RDNA4 has too, come first.
void add_wmma_entries(std::vector<Semantics>& table) {
  constexpr std::string_view kFirstOfRdna4 = "v_wmma_i32_16x16x32_iu4";
  table.push_back(isa::rdna("VOP3P"));
  std::vector<Semantics> entries;
  add_matrix_entries(wmma_shapes(), wmma, lower_wmma, entries);
  for (const Semantics& entry : entries) {
    if (entry.mnemonic == kFirstOfRdna4) table.push_back(isa::rdna4("VOP3P"));
    table.push_back(entry);
  }
}

std::vector<Semantics> make_table() {
  std::vector<Semantics> table;
  table.push_back(isa::cdna("VOP3P"));
  add_matrix_entries(mfma_shapes(), mfma, lower_mfma, table);
  add_wmma_entries(table);
  add_sparse_entries(table);
  add_f8f6f4_entries(table);
  return table;
}

}  // namespace

Result<void> matrix_vector_only(const Instruction& instruction, const Source& source) {
  if (source.place == Place::vgpr) return {};
  return operand_error(instruction, "A and B must be vector registers");
}

Result<void> matrix_operands(const Instruction& instruction, const Lowering& lowering,
                             const MatrixShape& shape, const RegisterCounts& counts, Op& op) {
  if (instruction.operands.size() < 4) return operand_error(instruction, "expected 4 operands");
  const auto& operands = instruction.operands;
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::wide, counts.c));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(operands[1], Type::wide, counts.a));
  HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(operands[2], Type::wide, counts.b));
  HIPPLAN_TRY(matrix_vector_only(instruction, op.from[0]));
  HIPPLAN_TRY(matrix_vector_only(instruction, op.from[1]));
  HIPPLAN_TRY_ASSIGN(op.from[2], lowering.source(operands[3], sum_type(shape.c), counts.c));
  if (op.from[2].place != Place::vgpr && op.from[2].place != Place::constant) {
    return operand_error(instruction, "C must be a vector register or a constant");
  }
  if (shape.c == Accumulator::bf16 && operands[3].kind == OperandKind::floating) {
    op.from[2].constant = float_to_bfloat16(static_cast<float>(operands[3].real));
  }
  op.source_count = 3;
  op.plain = false;
  return {};
}

WmmaLayout wmma_layout(const Lowering& lowering) {
  const bool wave64 = lowering.settings().lanes == 64;
  if (lowering.settings().arch.rfind("gfx12", 0) == 0)
    return wave64 ? WmmaLayout::gfx12_wave64 : WmmaLayout::gfx12_wave32;
  return wave64 ? WmmaLayout::gfx11_wave64 : WmmaLayout::gfx11_wave32;
}

void add_matrix_entries(std::span<const MatrixShape> shapes, Handler run, Lower lower,
                        std::vector<Semantics>& table) {
  for (size_t i = 0; i < shapes.size(); ++i) {
    Semantics entry;
    entry.run = run;
    entry.lower = lower;
    entry.flags = kVector | kAnyModifier;
    entry.parameter = static_cast<int64_t>(i);
    for (const std::string_view name : {shapes[i].name, shapes[i].second_name}) {
      if (name.empty()) continue;
      entry.mnemonic = name;
      table.push_back(entry);
    }
  }
}

std::span<const Semantics> matrix_semantics() {
  static const std::vector<Semantics> table = make_table();
  return table;
}

}  // namespace hipplan::emulator
