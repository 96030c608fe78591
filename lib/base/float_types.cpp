#include "base/float_types.h"

#include <bit>
#include <cmath>

namespace hipplan {
namespace {

/// Describes a format with a sign, `exponent_bits` and `mantissa_bits`.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< false: E4M3's rule, all-ones is NaN only with a full mantissa
};

constexpr Format kHalf{5, 10, true};
constexpr Format kBfloat16{8, 7, true};
constexpr Format kE4m3{4, 3, false};
constexpr Format kE5m2{5, 2, true};

/// Rounds `value` to the format, nearest even, from the full double.
uint32_t encode(double value, const Format& f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0u;
  const uint32_t exponent_ones = ((1u << f.exponent_bits) - 1u) << f.mantissa_bits;
  const uint32_t mantissa_ones = (1u << f.mantissa_bits) - 1u;
  if (std::isnan(value))
    return sign | exponent_ones | (f.has_infinity ? 1u << (f.mantissa_bits - 1) : mantissa_ones);
  const uint32_t overflow =
      sign | (f.has_infinity ? exponent_ones : (exponent_ones | (mantissa_ones - 1u)));
  if (std::isinf(value)) return overflow;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < 1 - bias) exponent = 1 - bias;
  // magnitude = scaled * 2^(exponent - mantissa_bits), scaled in [0, 2^(mantissa_bits+1)).
  double scaled = std::nearbyint(std::ldexp(magnitude, f.mantissa_bits - exponent));
  if (scaled >= std::ldexp(1.0, f.mantissa_bits + 1)) {
    scaled /= 2;
    ++exponent;
  }
  const auto integer = static_cast<uint32_t>(scaled);
  if (integer < (1u << f.mantissa_bits)) return sign | integer;  // subnormal or zero
  const uint32_t bits =
      (static_cast<uint32_t>(exponent + bias) << f.mantissa_bits) | (integer & mantissa_ones);
  const uint32_t largest =
      f.has_infinity ? exponent_ones - 1u : (exponent_ones | (mantissa_ones - 1u));
  return bits > largest ? overflow : (sign | bits);
}

float decode(uint32_t bits, const Format& f) {
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const bool negative = (bits >> (f.exponent_bits + f.mantissa_bits)) & 1u;
  const uint32_t exponent = (bits >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1u);
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1u);
  const bool all_ones = exponent == (1u << f.exponent_bits) - 1u;
  float out;
  if (all_ones && f.has_infinity) {
    out = mantissa != 0 ? NAN : INFINITY;
  } else if (all_ones && mantissa == (1u << f.mantissa_bits) - 1u) {
    out = NAN;
  } else if (exponent == 0) {
    out = std::ldexp(static_cast<float>(mantissa), 1 - bias - f.mantissa_bits);
  } else {
    out = std::ldexp(static_cast<float>(mantissa | (1u << f.mantissa_bits)),
                     static_cast<int>(exponent) - bias - f.mantissa_bits);
  }
  return negative ? -out : out;
}

}  // namespace

float half_to_float(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t magnitude = bits & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | ((magnitude + 0x1c000u) << 13));
  const float small = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(small) | sign);
}
uint16_t float_to_half(float value) {
  return static_cast<uint16_t>(encode(value, kHalf));
}
uint16_t double_to_half(double value) {
  return static_cast<uint16_t>(encode(value, kHalf));
}

float bfloat16_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}
uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
uint16_t double_to_bfloat16(double value) {
  return static_cast<uint16_t>(encode(value, kBfloat16));
}

float fp8_e4m3_to_float(uint8_t bits) {
  return decode(bits, kE4m3);
}
uint8_t float_to_fp8_e4m3(float value) {
  return static_cast<uint8_t>(encode(value, kE4m3));
}
float fp8_e5m2_to_float(uint8_t bits) {
  return decode(bits, kE5m2);
}
uint8_t float_to_fp8_e5m2(float value) {
  return static_cast<uint8_t>(encode(value, kE5m2));
}
float fp8_e8m0_to_float(uint8_t bits) {
  return bits == 0xff ? NAN : std::ldexp(1.0f, static_cast<int>(bits) - 127);
}

}  // namespace hipplan
