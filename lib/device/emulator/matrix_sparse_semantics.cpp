// SMFMAC and SWMMAC: D = A B + D, where A has two of each four k and an index says which. CDNA3
// ISA, "Sparse Matrix Arithmetic"; RDNA4 ISA, "SWMMAC".
#include <algorithm>

#include "device/emulator/matrix_table.h"

namespace hipplan::emulator {
namespace {

constexpr unsigned kMostDenseRegisters = 8;

/// Op::immediate is the shape's place in its table, Op::offset where a lane's index fields start.
void smfmac(Wave& wave, const Op& op) {
  const MatrixShape& shape = smfmac_shapes()[op.immediate];
  Row dense[kMostDenseRegisters];
  spread_sparse(element_bits(shape.a), mfma_registers(shape).a, wave.rows + op.from[0].index,
                wave.rows[op.from[2].index], static_cast<unsigned>(op.offset), dense);
  MfmaOperands operands;
  operands.a = dense;
  operands.b = rows_of(wave, op.from[1]);
  operands.c = wave.rows + op.to.index;
  operands.d = wave.rows + op.to.index;
  operands.fp8 = static_cast<Fp8Format>(op.bytes);
  run_mfma(shape, operands);
  wave.counters.matrix_flops += shape.flops() / 2;
}

void swmmac(Wave& wave, const Op& op) {
  const MatrixShape& shape = swmmac_shapes()[op.immediate];
  Row dense[kMostDenseRegisters];
  spread_sparse(element_bits(shape.a), 2u * op.from[0].words, wave.rows + op.from[0].index,
                wave.rows[op.from[2].index], static_cast<unsigned>(op.offset), dense);
  WmmaOperands operands;
  operands.a = dense;
  operands.b = rows_of(wave, op.from[1]);
  operands.c = wave.rows + op.to.index;
  operands.d = wave.rows + op.to.index;
  operands.layout = static_cast<WmmaLayout>(op.bytes);
  operands.clamp = op.clamp;
  operands.sparse = true;
  operands.neg_lo = op.packed.neg_lo & 3u;
  operands.neg_hi = op.packed.neg_hi & 3u;
  run_wmma(shape, operands);
  wave.counters.matrix_flops += shape.flops() / 2;
}

/// D, A, B and the index.
Result<void> sparse_operands(const Instruction& instruction, const Lowering& lowering,
                             const RegisterCounts& counts, Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != 4) return operand_error(instruction, "expected 4 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::wide, counts.c));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(operands[1], Type::wide, counts.a));
  HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(operands[2], Type::wide, counts.b));
  HIPPLAN_TRY_ASSIGN(op.from[2], lowering.source(operands[3], Type::u32));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (unsigned i = 0; i < 3; ++i) HIPPLAN_TRY(matrix_vector_only(instruction, op.from[i]));
  op.source_count = 3;
  op.plain = false;
  return {};
}

/// A lane's index register holds one or more sets of `fields` bits.
Result<void> choose_set(const Instruction& instruction, unsigned set, unsigned fields, Op& op) {
  if ((set + 1) * fields > 32)
    return operand_error(instruction, "names a set of index fields that is not there");
  op.offset = set * fields;
  return {};
}

/// abid chooses one of the sets of index fields in a lane's register when cbsz is 0, else the
/// first.
Result<void> lower_smfmac(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const MatrixShape& shape = smfmac_shapes()[index];
  const RegisterCounts counts = mfma_registers(shape);
  HIPPLAN_TRY(sparse_operands(instruction, lowering, {counts.a / 2, counts.b, counts.c}, op));
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "cbsz" && modifier.name != "abid")
      return modifier_error(instruction, modifier.name);
  const unsigned fields = counts.a * 32 / element_bits(shape.a);  // bits: two for each packed item
  const auto set =
      instruction.value("cbsz") != 0 ? 0u : static_cast<unsigned>(instruction.value("abid") & 15);
  HIPPLAN_TRY(choose_set(instruction, set, fields, op));
  op.immediate = index;
  op.bytes =
      static_cast<uint8_t>(lowering.settings().arch == "gfx950" ? Fp8Format::ocp : Fp8Format::fnuz);
  return {};
}

Result<void> lower_swmmac(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const MatrixShape& shape = swmmac_shapes()[index];
  const WmmaLayout layout = wmma_layout(lowering);
  const bool integer = shape.c == Accumulator::i32;
  RegisterCounts counts = wmma_registers(shape, layout);
  const unsigned stored = shape.k / 2u * element_bits(shape.a);  // bits of a row of A
  const unsigned groups = wmma_split(layout, stored);
  counts.a = std::max(1u, stored / 32 / groups);
  HIPPLAN_TRY(sparse_operands(instruction, lowering, counts, op));
  for (const auto& modifier : instruction.modifiers) {
    if (modifier.name == "neg_lo")
      op.packed.neg_lo = list_bits(modifier);
    else if (modifier.name == "neg_hi" && !integer)
      op.packed.neg_hi = list_bits(modifier);
    else if (modifier.name == "clamp" && integer)
      op.clamp = true;
    else if (modifier.name != "index_key")
      return modifier_error(instruction, modifier.name);
  }
  const auto key = static_cast<unsigned>(instruction.value("index_key") & 15);
  HIPPLAN_TRY(choose_set(instruction, key, shape.k / groups, op));
  op.immediate = index;
  op.bytes = static_cast<uint8_t>(layout);
  return {};
}

}  // namespace

void add_sparse_entries(std::vector<Semantics>& table) {
  table.push_back(isa::cdna("VOP3P"));
  add_matrix_entries(smfmac_shapes(), smfmac, lower_smfmac, table);
  table.push_back(isa::rdna4("VOP3P"));
  add_matrix_entries(swmmac_shapes(), swmmac, lower_swmmac, table);
}

}  // namespace hipplan::emulator
