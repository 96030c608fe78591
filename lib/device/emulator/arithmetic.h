// Arithmetic that the instruction tables of several families name.
#pragma once

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

/// An operation on floats as one on halves: one rounding, at its end.
template <auto F>
inline constexpr auto kHalf2 = [](Half a, Half b) { return HalfOf<float>{F(widen(a), widen(b))}; };

inline constexpr auto kAdd = [](float a, float b) { return a + b; };
inline constexpr auto kMul = [](float a, float b) { return a * b; };
inline constexpr auto kSmaller = [](float a, float b) { return smaller(a, b); };
inline constexpr auto kLarger = [](float a, float b) { return larger(a, b); };

}  // namespace hipplan::emulator
