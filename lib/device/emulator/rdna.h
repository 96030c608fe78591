// Parts of the RDNA semantics.
#pragma once

#include "device/emulator/semantics.h"

namespace hipplan::emulator {

/// Two halves of a VOPD pair as two operations (three when each reads what the other writes).
Result<void> lower_vopd(const Instruction& instruction, Lowering& lowering, Op& op);
/// SALU floating point of gfx11.5 and gfx12.
std::span<const Semantics> rdna_scalar_float_semantics();
/// v_permlane16 and its relatives.
std::span<const Semantics> rdna_permute_semantics();

/// 16-bit moves and logic, minmax and maxmin, NaN-propagating minimum and maximum.
std::span<const Semantics> rdna_vector_semantics();

}  // namespace hipplan::emulator
