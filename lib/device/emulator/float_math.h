// Single-precision building blocks: branch-free where the loops over lanes should vectorise.
// Errors: rcp, sqrt are correctly rounded; rsq, exp2, log2, sin and cos are computed in double with
// an error below 2^-40 before the one rounding to float, so at most 0.5001 ulp (hardware: 1 ulp).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hipplan::emulator {

/// 2^n as a double for n in [-1022, 1023].
inline double power_of_two(int64_t n) {
  return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52);
}

/// 2^x in double for |x| <= 1000: series of 2^f = e^(f ln 2) for f in [-0.5, 0.5].
inline double exp2_double(double x) {
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  const double moved = x + kRound;
  const double whole = moved - kRound;
  const double t = (x - whole) * 0.69314718055994530942;
  double r = 1.0 / 479001600;
  r = r * t + 1.0 / 39916800;
  r = r * t + 1.0 / 3628800;
  r = r * t + 1.0 / 362880;
  r = r * t + 1.0 / 40320;
  r = r * t + 1.0 / 5040;
  r = r * t + 1.0 / 720;
  r = r * t + 1.0 / 120;
  r = r * t + 1.0 / 24;
  r = r * t + 1.0 / 6;
  r = r * t + 0.5;
  r = r * t + 1.0;
  r = r * t + 1.0;
  const uint64_t bits = std::bit_cast<uint64_t>(moved) + 1023;  // low bits: integer plus bias
  return r * std::bit_cast<double>(bits << 52);
}
inline float exp2_float(float x) {
  double clamped = x;
  clamped = clamped > 200.0 ? 200.0 : clamped;
  clamped = clamped < -200.0 ? -200.0 : clamped;
  const auto result = static_cast<float>(exp2_double(clamped));
  return x != x ? x + x : result;
}

/// log2 of a positive finite normal double: 2/ln 2 * atanh((m - 1) / (m + 1)).
inline double log2_double(double x) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  const uint64_t centred = bits - 0x3fe6a09e667f3bcdull;  // 1/sqrt(2): the fraction ends near 1
  const int32_t exponent = static_cast<int32_t>(static_cast<uint32_t>(centred >> 32)) >> 20;
  const double m =
      std::bit_cast<double>(bits - (static_cast<uint64_t>(static_cast<int64_t>(exponent)) << 52));
  const double s = (m - 1) / (m + 1), z = s * s;
  double r = 1.0 / 19;
  r = r * z + 1.0 / 17;
  r = r * z + 1.0 / 15;
  r = r * z + 1.0 / 13;
  r = r * z + 1.0 / 11;
  r = r * z + 1.0 / 9;
  r = r * z + 1.0 / 7;
  r = r * z + 1.0 / 5;
  r = r * z + 1.0 / 3;
  r = r * z + 1.0;
  return static_cast<double>(exponent) + r * s * 2.8853900817779268147;
}
inline float log2_float(float x) {
  auto result = static_cast<float>(log2_double(static_cast<double>(x)));
  result = x == INFINITY ? INFINITY : result;
  result = x == 0.0f ? -INFINITY : result;
  return x >= 0.0f ? result
                   : std::bit_cast<float>(0xffc00000u | (x != x ? std::bit_cast<uint32_t>(x) : 0u));
}

/// sin(2 pi x) for a reduced x in [-0.25, 0.25].
inline double sine_turn(double x) {
  const double t = x * 6.28318530717958647692, z = t * t;
  double r = 1.0 / 355687428096000.0;
  r = r * z - 1.0 / 1307674368000.0;
  r = r * z + 1.0 / 6227020800.0;
  r = r * z - 1.0 / 39916800.0;
  r = r * z + 1.0 / 362880.0;
  r = r * z - 1.0 / 5040.0;
  r = r * z + 1.0 / 120.0;
  r = r * z - 1.0 / 6.0;
  r = r * z + 1.0;
  return r * t;
}
/// sin(2 pi x): the angle is in turns.
inline double sine(double x) {
  constexpr double kRound = 0x1.8p52;
  const double f = x - (x + kRound - kRound);
  const double folded = f > 0.25 ? 0.5 - f : (f < -0.25 ? -0.5 - f : f);
  return sine_turn(folded);
}
inline double cosine(double x) {
  constexpr double kRound = 0x1.8p52;
  const double f = std::fabs(x - (x + kRound - kRound));  // in [0, 0.5]
  return sine_turn(0.25 - f);
}
/// Infinite angles give NaN; beyond 2^40 every float is a whole number of turns.
inline float sine_float(float x) {
  const double d = std::fabs(x) < 0x1p40f ? static_cast<double>(x) : 0.0;
  return std::fabs(x) <= 0x1p127f ? static_cast<float>(sine(d)) : (std::isinf(x) ? NAN : x - x);
}
inline float cosine_float(float x) {
  const double d = std::fabs(x) < 0x1p40f ? static_cast<double>(x) : 0.0;
  return std::fabs(x) <= 0x1p127f ? static_cast<float>(cosine(d)) : x - x;
}

inline float scale_float(float x, int32_t by) {
  const int32_t n = by < -500 ? -500 : (by > 500 ? 500 : by);
  return static_cast<float>(static_cast<double>(x) * power_of_two(n));
}

// IEEE 754 maxNum and minNum; the zeros are ordered -0 < +0.
inline float larger(float a, float b) {
  float r = a > b ? a : b;
  r = a == b ? std::bit_cast<float>(std::bit_cast<uint32_t>(a) & std::bit_cast<uint32_t>(b)) : r;
  r = a != a ? b : r;
  return b != b ? a : r;
}
inline float smaller(float a, float b) {
  float r = a < b ? a : b;
  r = a == b ? std::bit_cast<float>(std::bit_cast<uint32_t>(a) | std::bit_cast<uint32_t>(b)) : r;
  r = a != a ? b : r;
  return b != b ? a : r;
}
inline double larger(double a, double b) {
  double r = a > b ? a : b;
  r = a == b ? std::bit_cast<double>(std::bit_cast<uint64_t>(a) & std::bit_cast<uint64_t>(b)) : r;
  r = a != a ? b : r;
  return b != b ? a : r;
}
inline double smaller(double a, double b) {
  double r = a < b ? a : b;
  r = a == b ? std::bit_cast<double>(std::bit_cast<uint64_t>(a) | std::bit_cast<uint64_t>(b)) : r;
  r = a != a ? b : r;
  return b != b ? a : r;
}
/// The middle one; with a NaN among them the smallest.
inline float median(float a, float b, float c) {
  const float middle = larger(smaller(a, b), smaller(larger(a, b), c));
  const bool nan = a != a || b != b || c != c;
  return nan ? smaller(smaller(a, b), c) : middle;
}
/// x - floor(x), below 1.
inline float fraction(float x) {
  const float f = x - std::floor(x);
  return f >= 1.0f ? 0x1.fffffep-1f : f;
}

}  // namespace hipplan::emulator
