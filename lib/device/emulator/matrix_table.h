// What the tables of matrix instructions share.
#pragma once

#include <vector>

#include "device/emulator/matrix.h"
#include "device/emulator/packed.h"
#include "device/emulator/semantics.h"

namespace hipplan::emulator {

/// First row of a vector operand; null for constants.
inline const Row* rows_of(const Wave& wave, const Source& source) {
  return source.place == Place::vgpr ? wave.rows + source.index : nullptr;
}
/// Fails unless the operand, one of A and B, is a vector register.
Result<void> matrix_vector_only(const Instruction& instruction, const Source& source);
/// The first four operands, D, A, B, C, with as many registers as `counts` says.
Result<void> matrix_operands(const Instruction& instruction, const Lowering& lowering,
                             const MatrixShape& shape, const RegisterCounts& counts, Op& op);
/// Layout of WMMA and SWMMAC for the kernel's architecture and wave size.
WmmaLayout wmma_layout(const Lowering& lowering);
/// Appends an entry for each name of each shape; its parameter is the shape's place in `shapes`.
void add_matrix_entries(std::span<const MatrixShape> shapes, Handler run, Lower lower,
                        std::vector<Semantics>& table);

// Parts of matrix_semantics().
void add_sparse_entries(std::vector<Semantics>& table);
void add_f8f6f4_entries(std::vector<Semantics>& table);

}  // namespace hipplan::emulator
