// Matrix instructions as functions over vector registers; EXEC plays no part.
//
// Numbers: products of f16, bf16, xf32, fp8 and bf8 are exact; f32 products are kept exact in
// double. One output starts from C and adds its k products in rising k, rounding to f32 after each
// addition, so that its error is at most k * 2^-24 * (|C| + sum |a||b|). f64 does the same in
// double. Integers wrap, or saturate when clamped. f16 and bf16 outputs are rounded once, at the
// end.
#pragma once

#include <cstdint>

#include "device/emulator/matrix_elements.h"
#include "device/emulator/matrix_shapes.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

/// Registers and modifiers of one MFMA. Operands may overlap: all are read before D is written.
struct MfmaOperands {
  const Row* a = nullptr;
  const Row* b = nullptr;
  const Row* c = nullptr;  ///< null: every element is `constant`
  uint64_t constant = 0;   ///< bits as wide as the accumulator
  Row* d = nullptr;
  Fp8Format fp8 = Fp8Format::ocp;
  uint8_t cbsz = 0, abid = 0;  ///< groups of 2^cbsz blocks take A from block `abid` of the group
  uint8_t blgp = 0;            ///< lane pattern of B, 0..7; for f64 the signs of A, B, C
};

/// Layout (CDNA3 ISA, "Dense matrix layouts"), with h = 4 rows an item (1 for f64):
///   A[i,k,b]: lane i + m*(b + blocks*(k / per_lane)), item k % per_lane
///   B[k,j,b]: lane j + n*(b + blocks*(k / per_lane)), item k % per_lane
///   D[i,j,b]: lane j + n*((i/h) % row_groups + row_groups*(b % block_groups)),
///             item i%h + h*(i/(h*row_groups) + items*(b / block_groups))
void run_mfma(const MatrixShape& shape, const MfmaOperands& operands);

/// 32-bit registers a lane that A, B and C/D take.
struct RegisterCounts {
  unsigned a = 0, b = 0, c = 0;
};
RegisterCounts mfma_registers(const MatrixShape& shape);

/// Spreads the packed A of a SMFMAC over the dense shape's registers. Of the packed elements 2j and
/// 2j+1 in a lane, the index fields of two bits 2j and 2j+1 say where in its dense k 4j..4j+3 they
/// stand; the rest is 0. `first_bit` is where the lane's fields start in its index register.
/// `dense` holds the registers that mfma_registers(shape).a counts.
void spread_sparse(const MatrixShape& shape, const Row* packed, const Row& index,
                   unsigned first_bit, Row* dense);

enum class WmmaLayout : uint8_t { gfx11_wave32, gfx11_wave64, gfx12_wave32 };

struct WmmaOperands {
  const Row* a = nullptr;
  const Row* b = nullptr;
  const Row* c = nullptr;  ///< null: every element is `constant`
  uint64_t constant = 0;   ///< bits of one f32, i32, f16 or bf16
  Row* d = nullptr;
  WmmaLayout layout = WmmaLayout::gfx11_wave32;
  bool high_half = false;  ///< gfx11, 16-bit C and D: op_sel[2]
  bool clamp = false;
  uint8_t neg_lo = 0, neg_hi = 0;  ///< integers: neg_lo says which of A and B are signed
};

/// Layouts. A and B: the row of A (column of B) is lane % 16.
///   gfx11: a lane holds all k in order; only lanes 0-15 are read, the others must repeat them.
///   gfx12: lanes 0-15 hold the lower half of k, lanes 16-31 the upper half.
/// C and D, element (i, j): j = lane % 16, and
///   gfx11 wave32: register i/2, lanes 16*(i%2)...; wave64: register i/4, lanes 16*(i%4)...
///   gfx12 wave32: register i%8, lanes 16*(i/8)...; 16-bit elements two a register.
void run_wmma(const MatrixShape& shape, const WmmaOperands& operands);
RegisterCounts wmma_registers(const MatrixShape& shape, WmmaLayout layout);

}  // namespace hipplan::emulator
