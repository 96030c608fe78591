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

/// MFMA and its sparse forms exist in waves of 64.
inline constexpr unsigned kMatrixLanes = 64;

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

/// D = A B + C of one block with 16 or 32 columns, from elements that are gathered already: A's
/// (k, i) at k * m + i, B's (k, j) at k * n + j.
void multiply_gathered(const MatrixShape& shape, const MfmaOperands& operands, const double* a,
                       const double* b);

/// Formats and scales of a f8f6f4 product.
struct ScaledOperands {
  Element a_element{}, b_element{};
  const Row* a_scale = nullptr;  ///< null: A and B are not scaled
  const Row* b_scale = nullptr;
  unsigned a_byte = 0, b_byte = 0;  ///< which byte of its register is a lane's scale
};
/// Each lane holds 32 elements of a row of A or column of B. With g = lane / m and G = 64 / m, the
/// element `item` is k = 32 g + item for formats of 4 and 6 bits, and for those of 8 bits
/// k = 16 g + item % 16 + 16 G (item / 16). The 32 elements k = 32 s ... are multiplied by
/// 2^(scale - 127) with the scale of lane i + m s; 255 is NaN. Elements times scales and their
/// products are exact; sums round as matrix.h says for f32.
void run_f8f6f4(const MatrixShape& shape, const MfmaOperands& operands,
                const ScaledOperands& scaled);
/// 32-bit registers of 32 elements.
[[nodiscard]] constexpr unsigned f8f6f4_registers(Element element) {
  return element_bits(element);
}

/// Spreads a packed sparse A over `registers` dense ones, with elements of `bits`. Of the packed
/// elements 2j and 2j+1 in a lane, the index fields of two bits 2j and 2j+1 say where in its dense
/// k 4j..4j+3 they stand; the rest is 0. `first_bit` is where the lane's fields start in its index
/// register.
void spread_sparse(unsigned bits, unsigned registers, const Row* packed, const Row& index,
                   unsigned first_bit, Row* dense);

enum class WmmaLayout : uint8_t { gfx11_wave32, gfx11_wave64, gfx12_wave32, gfx12_wave64 };

struct WmmaOperands {
  const Row* a = nullptr;
  const Row* b = nullptr;
  const Row* c = nullptr;  ///< null: every element is `constant`
  uint64_t constant = 0;   ///< bits of one f32, i32, f16 or bf16
  Row* d = nullptr;
  WmmaLayout layout = WmmaLayout::gfx11_wave32;
  bool high_half = false;  ///< gfx11, 16-bit C and D: op_sel[2]
  bool clamp = false;
  bool sparse = false;             ///< A was spread from half as many elements in each lane
  uint8_t neg_lo = 0, neg_hi = 0;  ///< integers: neg_lo says which of A and B are signed
};

/// Layouts. A and B: the row of A (column of B) is lane % 16.
///   gfx11: a lane holds all k in order; only lanes 0-15 are read, the others must repeat them.
///   gfx12 wave32: lanes 0-15 hold the lower half of k, lanes 16-31 the upper half.
///   gfx12 wave64: lanes 0-15, 32-47, 16-31, 48-63 hold a quarter of k each, in this order; an
///   operand with less than a register's bits for a quarter lies in lanes 0-31 as in wave32.
/// C and D, element (i, j): j = lane % 16, and
///   gfx11 wave32: register i/2, lanes 16*(i%2)...; wave64: register i/4, lanes 16*(i%4)...
///   gfx12 wave32: register i%8, lanes 16*(i/8)...; 16-bit elements two a register.
///   gfx12 wave64: register i%4, lanes 16*(i/8) + 32*(i/4%2)...; 16-bit elements two a register.
void run_wmma(const MatrixShape& shape, const WmmaOperands& operands);
RegisterCounts wmma_registers(const MatrixShape& shape, WmmaLayout layout);
/// Groups of 16 lanes that a row of `bits` is spread over, on gfx12.
[[nodiscard]] constexpr unsigned wmma_split(WmmaLayout layout, unsigned bits) {
  return layout == WmmaLayout::gfx12_wave64 && bits >= 128 ? 4 : 2;
}

}  // namespace hipplan::emulator
