// Lowering shared by the VOP3P families.
#pragma once

#include "device/emulator/semantics.h"

namespace hipplan::emulator {

/// Bits of a list modifier such as op_sel:[0,1].
uint8_t list_bits(const disassembly::Modifier& modifier);
/// op_sel, op_sel_hi, neg_lo, neg_hi and, when allowed, clamp.
Result<void> packed_modifiers(const Instruction& instruction, bool with_clamp, Op& op);
/// Destination and `sources` raw 32-bit sources; a last source that is not printed is the
/// destination. With `halves`, float constants stand in the low half as 16-bit floats.
Result<void> raw_operands(const Instruction& instruction, const Lowering& lowering,
                          unsigned sources, bool halves, Op& op);

/// A float constant as a 16-bit element of the instruction: bfloat16 where its name says so.
uint64_t packed_constant(const Instruction& instruction, const disassembly::Operand& operand);

/// The table of packed_dots.cpp, part of packed_semantics().
std::span<const Semantics> packed_dot_semantics();
/// The table of packed_gfx950.cpp, part of packed_semantics().
std::span<const Semantics> packed_gfx950_semantics();
/// The table of packed_scaled.cpp, part of packed_semantics().
std::span<const Semantics> packed_scaled_semantics();

}  // namespace hipplan::emulator
