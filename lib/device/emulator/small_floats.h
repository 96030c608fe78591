// Floats of 8, 6 and 4 bits: from a number to a code. The other way is in matrix_elements.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "device/emulator/matrix_elements.h"

namespace hipplan::emulator {

/// A format's numbers: mantissa bits, exponent bias, code of the greatest value, of infinity, NaN.
struct SmallFormat {
  int mantissa = 0, bias = 0;
  uint32_t greatest = 0, infinity = 0, nan = 0, sign = 0x80;
  bool signed_zero = true;
  bool saturates = false;  ///< neither infinity nor NaN: both become the greatest value
};
constexpr SmallFormat small_format(Element element, Fp8Format kind) {
  switch (element) {
    case Element::fp6:
      return {3, 1, 0x1f, 0, 0, 0x20, true, true};
    case Element::bf6:
      return {2, 3, 0x1f, 0, 0, 0x20, true, true};
    case Element::fp4:
      return {1, 1, 0x7, 0, 0, 0x8, true, true};
    case Element::fp8:
      if (kind == Fp8Format::ocp) return {3, 7, 0x7e, 0x7f, 0x7f};
      return {3, 8, 0x7f, 0x80, 0x80, 0x80, false};
    default:
      if (kind == Fp8Format::ocp) return {2, 15, 0x7b, 0x7c, 0x7f};
      return {2, 16, 0x7f, 0x80, 0x80, 0x80, false};
  }
}

/// The code of a value, rounded by `round`, which maps a number of steps to a whole one.
template <class Round>
uint32_t narrow_small(double value, const SmallFormat& format, Round&& round) {
  const uint32_t sign = std::signbit(value) ? format.sign : 0u;
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return (format.saturates ? format.greatest : format.nan) | sign;
  const bool finite = !std::isinf(value);
  int exponent = magnitude == 0 || !finite ? -5000 : std::ilogb(magnitude);
  exponent = std::max(exponent, 1 - format.bias);
  const double steps = round(std::ldexp(magnitude, format.mantissa - exponent));
  // A rounded-up 2^(mantissa + 1) carries into the exponent by itself.
  const double code = steps + (exponent + format.bias - 1) * (1 << format.mantissa);
  if (!finite || code > format.greatest) {
    if (format.saturates) return format.greatest | sign;
    return format.infinity == 0x80 ? 0x80u : format.infinity | sign;
  }
  const auto bits = static_cast<uint32_t>(code);
  return bits == 0 && !format.signed_zero ? 0u : bits | sign;
}
/// To nearest even.
inline uint32_t narrow_small(double value, const SmallFormat& format) {
  return narrow_small(value, format, [](double steps) { return std::nearbyint(steps); });
}
/// Up with the probability of the part that is cut off: `random` is uniform over 32 bits.
inline uint32_t narrow_small_stochastic(double value, uint32_t random, const SmallFormat& format) {
  return narrow_small(value, format,
                      [=](double steps) { return std::floor(steps + random * 0x1p-32); });
}

}  // namespace hipplan::emulator
