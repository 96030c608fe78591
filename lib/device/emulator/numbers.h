// Small-float conversions and integer helpers written so that loops over lanes vectorise.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace hipplan::emulator {

/// binary16 and bfloat16 as lane types; arithmetic goes through float or double.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

/// Exact. NaN payloads keep their upper bits and become quiet.
inline float widen(Half h) {
  const uint32_t magnitude = static_cast<uint32_t>(h.bits & 0x7fffu) << 13;
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;  // rebias; subnormals come right
  const uint32_t finite = std::bit_cast<uint32_t>(scaled);
  const uint32_t quiet = (h.bits & 0x3ffu) != 0 ? 0x400000u : 0u;
  const uint32_t special = 0x7f800000u | magnitude | quiet;
  return std::bit_cast<float>(sign | ((h.bits & 0x7c00u) == 0x7c00u ? special : finite));
}
inline float widen(BFloat b) {
  return std::bit_cast<float>(static_cast<uint32_t>(b.bits) << 16);
}

/// Round to nearest even; overflow gives infinity.
inline Half narrow_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - 0x38000000u) >> 13;
  // Adding 0.5 puts the last place of a subnormal half at the end of the float's significand.
  const uint32_t tiny =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < 0x38800000u ? tiny : normal;
  result = magnitude >= 0x47800000u ? 0x7c00u : result;  // 65536 and up; 65520 rounds up by itself
  result = magnitude > 0x7f800000u ? nan : result;
  return {static_cast<uint16_t>(result | ((bits >> 16) & 0x8000u))};
}
inline BFloat narrow_bfloat(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return {static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

/// Float of a double, rounded to odd: a second rounding to fewer than 22 bits is then exact.
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const double back = static_cast<double>(nearest);
  const bool even = (bits & 1u) == 0;
  const bool away = std::fabs(back) > std::fabs(value);
  const uint32_t odd = away ? bits - 1u : bits + 1u;
  const bool inexact = back != value && value == value && even;
  return inexact ? std::bit_cast<float>(odd) : nearest;
}
inline Half narrow_half(double value) {
  return narrow_half(round_to_odd(value));
}

/// Rounded the way that the host's rounding direction says; `value` may have been rounded in that
/// direction before.
inline Half narrow_half_directed(double value) {
  const int direction = std::fegetround();
  Half near = narrow_half(value);
  if (direction == FE_TONEAREST || value != value) return near;
  const auto back = static_cast<double>(widen(near));
  const bool negative = std::signbit(value);
  const bool up = direction == FE_UPWARD || (direction == FE_TOWARDZERO && negative);
  // One step away from zero, or towards it, when the neighbour lies on the wrong side.
  if (up ? back < value : back > value)
    near.bits = static_cast<uint16_t>(near.bits + (up != negative ? 1 : -1));
  return near;
}

/// A half that is not rounded yet: handlers do that, by MODE's direction where it is another one
/// than to nearest even.
template <class T>
struct HalfOf {
  T value;
};

/// a * b + c in double, to be rounded once more: the product is exact, an inexact sum is made odd.
inline double fused_double(float a, float b, float c) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  const double addend = static_cast<double>(c);
  const double sum = product + addend;
  const double part = sum - product;
  const double lost = (product - (sum - part)) + (addend - part);
  uint64_t bits = std::bit_cast<uint64_t>(sum);
  const bool fix = lost != 0.0 && lost == lost && (bits & 1u) == 0 && std::fabs(sum) < 0x1p1000;
  bits = fix ? ((lost > 0.0) == (sum > 0.0) ? bits + 1u : bits - 1u) : bits;
  return std::bit_cast<double>(bits);
}
/// a * b + c with one rounding.
inline Half fused_half(float a, float b, float c) {
  return narrow_half(fused_double(a, b, c));
}

}  // namespace hipplan::emulator
