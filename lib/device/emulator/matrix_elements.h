// Taking rows of matrix elements out of vector registers. A "line" is `count` neighbouring lanes of
// one register position: element `item` of each lane, as the accumulator's working type.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "device/emulator/matrix_shapes.h"
#include "device/emulator/numbers.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

/// How fp8 and bf8 are encoded.
enum class Fp8Format : uint8_t { fnuz, ocp };

/// One byte as a number; E4M3 (mantissa 3) or E5M2 (mantissa 2).
float widen_fp8(uint8_t bits, Element element, Fp8Format format);
/// A code of fp6, bf6 or fp4 as a number; they have neither infinities nor NaN.
float widen_small(unsigned code, Element element);
/// All codes of fp8, bf8, fp6, bf6 or fp4 as numbers.
std::span<const float, 256> small_float_table(Element element, Fp8Format format);
/// f32 rounded to xf32's 10 significand bits, to nearest even.
inline float round_xf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

/// Where elements lie and how they are read.
struct ElementReader {
  const Row* rows = nullptr;  ///< first register of the operand
  Element element{};
  Fp8Format fp8 = Fp8Format::ocp;
  bool is_signed = true;  ///< i8, i4

  /// Element `item` of lanes [lane, lane + count) into out.
  void line(unsigned item, unsigned lane, unsigned count, float* out) const;
  void line(unsigned item, unsigned lane, unsigned count, double* out) const;
  void line(unsigned item, unsigned lane, unsigned count, int32_t* out) const;
};

}  // namespace hipplan::emulator
