// Products of gfx950 whose operands have a format of 8, 6 or 4 bits each, with a scale for each 32
// elements. CDNA4 ISA, "Matrix Arithmetic Instructions", V_MFMA_SCALE_F32_*_F8F6F4.
#include <array>
#include <cmath>
#include <limits>

#include "device/emulator/matrix.h"

namespace hipplan::emulator {
namespace {

constexpr unsigned kScaledLanes = 64, kElementsOfLane = 32;
constexpr unsigned kMostElements = kScaledLanes * kElementsOfLane;

/// `bits` bits from bit `first` of a lane's registers on; they may lie in two of them.
unsigned field(const Row* rows, unsigned lane, unsigned first, unsigned bits) {
  const uint64_t low = rows[first / 32].lane[lane];
  const uint64_t high = first % 32 + bits > 32 ? rows[first / 32 + 1].lane[lane] : 0;
  return static_cast<unsigned>((low | high << 32) >> (first % 32)) & ((1u << bits) - 1u);
}

double scale_of(const Row* scales, unsigned lane, unsigned byte) {
  if (scales == nullptr) return 1.0;
  const auto code = static_cast<int>((scales->lane[lane] >> (8 * byte)) & 255u);
  return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

/// Element (k, index) at k * size + index.
void gather_scaled(const Row* rows, Element element, unsigned size, const Row* scales,
                   unsigned byte, double* out) {
  const unsigned bits = element_bits(element), groups = kScaledLanes / size;
  const auto table = small_float_table(element, Fp8Format::ocp);
  std::array<double, kScaledLanes> scale;
  for (unsigned lane = 0; lane < kScaledLanes; ++lane) scale[lane] = scale_of(scales, lane, byte);
  for (unsigned lane = 0; lane < kScaledLanes; ++lane) {
    const unsigned group = lane / size, index = lane % size;
    for (unsigned item = 0; item < kElementsOfLane; ++item) {
      const unsigned k = bits == 8 ? 16 * group + item % 16 + 16 * groups * (item / 16)
                                   : kElementsOfLane * group + item;
      const double value = table[field(rows, lane, item * bits, bits)];
      out[k * size + index] = value * scale[index + size * (k / kElementsOfLane)];
    }
  }
}

}  // namespace

void run_f8f6f4(const MatrixShape& shape, const MfmaOperands& operands,
                const ScaledOperands& scaled) {
  std::array<double, kMostElements> a, b;
  gather_scaled(operands.a, scaled.a_element, shape.m, scaled.a_scale, scaled.a_byte, a.data());
  gather_scaled(operands.b, scaled.b_element, shape.n, scaled.b_scale, scaled.b_byte, b.data());
  multiply_gathered(shape, operands, a.data(), b.data());
}

}  // namespace hipplan::emulator
