// Arithmetic that the instruction tables of several families name.
#pragma once

#include <cmath>

#include "device/emulator/float_math.h"
#include "device/emulator/numbers.h"

namespace hipplan::emulator {

/// The IEEE 754-2019 minimum and maximum: a NaN wins, the first of two.
inline float smaller_or_nan(float a, float b) {
  return a != a ? a : b != b ? b : smaller(a, b);
}
inline float larger_or_nan(float a, float b) {
  return a != a ? a : b != b ? b : larger(a, b);
}

/// Towards zero; finite values never become infinite.
inline uint32_t half_toward_zero(float value) {
  const Half nearest = narrow_half(value);
  const bool away = std::fabs(widen(nearest)) > std::fabs(value);
  return away ? nearest.bits - 1u : nearest.bits;
}

/// Bit 0 becomes bit 31.
constexpr uint32_t reverse_bits(uint32_t value) {
  value = (value >> 1 & 0x55555555u) | (value & 0x55555555u) << 1;
  value = (value >> 2 & 0x33333333u) | (value & 0x33333333u) << 2;
  value = (value >> 4 & 0x0f0f0f0fu) | (value & 0x0f0f0f0fu) << 4;
  value = (value >> 8 & 0x00ff00ffu) | (value & 0x00ff00ffu) << 8;
  return value >> 16 | value << 16;
}

/// An operation on floats as one on halves: one rounding, at its end.
template <auto F>
inline constexpr auto kHalf2 = [](Half a, Half b) { return HalfOf<float>{F(widen(a), widen(b))}; };

inline constexpr auto kAdd = [](float a, float b) { return a + b; };
inline constexpr auto kMul = [](float a, float b) { return a * b; };
inline constexpr auto kSmaller = [](float a, float b) { return smaller(a, b); };
inline constexpr auto kLarger = [](float a, float b) { return larger(a, b); };

}  // namespace hipplan::emulator
