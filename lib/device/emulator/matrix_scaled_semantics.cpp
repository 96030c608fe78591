// V_MFMA_F32_*_F8F6F4 and V_MFMA_SCALE_*: operands and modifiers into run_f8f6f4. CDNA4 ISA.
#include "device/emulator/lanes.h"
#include "device/emulator/matrix_table.h"

namespace hipplan::emulator {
namespace {

/// Values of cbsz and blgp.
constexpr Element kFormats[] = {Element::fp8, Element::bf8, Element::fp6, Element::bf6,
                                Element::fp4};

/// Op::packed.cbsz and blgp are the formats; from[3] and from[4] the scales.
template <bool Scaled>
void f8f6f4(Wave& wave, const Op& op) {
  const MatrixShape& shape = f8f6f4_shapes()[op.immediate];
  MfmaOperands operands;
  operands.a = rows_of(wave, op.from[0]);
  operands.b = rows_of(wave, op.from[1]);
  operands.c = rows_of(wave, op.from[2]);
  operands.constant = op.from[2].constant;
  operands.d = wave.rows + op.to.index;
  ScaledOperands scaled;
  scaled.a_element = kFormats[op.packed.cbsz];
  scaled.b_element = kFormats[op.packed.blgp];
  if constexpr (Scaled) {
    scaled.a_scale = wave.rows + op.from[3].index;
    scaled.b_scale = wave.rows + op.from[4].index;
    const auto byte = [&](unsigned source) {
      return ((op.packed.op_sel >> source) & 1u) | ((op.packed.op_sel_hi >> source) & 1u) << 1;
    };
    scaled.a_byte = byte(0);
    scaled.b_byte = byte(1);
  }
  run_f8f6f4(shape, operands, scaled);
  wave.counters.matrix_flops += shape.flops();
}

Result<void> lower_f8f6f4(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const MatrixShape& shape = f8f6f4_shapes()[index];
  const bool scaled = lowering.entry().mnemonic.find("_scale_") != std::string_view::npos;
  if (instruction.operands.size() != (scaled ? 6u : 4u))
    return operand_error(instruction, "unexpected operands");
  op.packed.op_sel_hi = 0;
  for (const auto& modifier : instruction.modifiers) {
    const int64_t value = instruction.value(modifier.name);
    if (modifier.name == "cbsz" || modifier.name == "blgp") {
      if (value < 0 || value > 4) return modifier_error(instruction, modifier.name);
      (modifier.name == "cbsz" ? op.packed.cbsz : op.packed.blgp) = static_cast<uint8_t>(value);
    } else if (scaled && modifier.name == "op_sel") {
      op.packed.op_sel = list_bits(modifier);
    } else if (scaled && modifier.name == "op_sel_hi") {
      op.packed.op_sel_hi = list_bits(modifier);
    } else {
      return modifier_error(instruction, modifier.name);
    }
  }
  const RegisterCounts counts{f8f6f4_registers(kFormats[op.packed.cbsz]),
                              f8f6f4_registers(kFormats[op.packed.blgp]), mfma_registers(shape).c};
  HIPPLAN_TRY(matrix_operands(instruction, lowering, shape, counts, op));
  if (scaled) {
    for (unsigned i = 3; i < 5; ++i) {
      HIPPLAN_TRY_ASSIGN(op.from[i], lowering.source(instruction.operands[i + 1u], Type::u32));
      HIPPLAN_TRY(matrix_vector_only(instruction, op.from[i]));
    }
    op.run = f8f6f4<true>;
    op.source_count = 5;
  }
  op.immediate = index;
  return {};
}

}  // namespace

void add_f8f6f4_entries(std::vector<Semantics>& table) {
  table.push_back(isa::cdna("VOP3P"));
  add_matrix_entries(f8f6f4_shapes(), f8f6f4<false>, lower_f8f6f4, table);
}

}  // namespace hipplan::emulator
