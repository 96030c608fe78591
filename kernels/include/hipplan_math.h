// Functions of one float. Errors are bounds over the whole range, in units in the last place of the
// result unless another measure is named; polynomials are minimax fits made for this file, the
// number behind each is the fit's own relative error.
#pragma once

#include "hipplan_device.h"

namespace hipplan_device {

HP_DEVICE float absolute(float x) {
  return __builtin_fabsf(x);
}
HP_DEVICE float round_down(float x) {
  return __builtin_floorf(x);
}
HP_DEVICE float round_up(float x) {
  return __builtin_ceilf(x);
}
HP_DEVICE float round_nearest(float x) {
  return __builtin_rintf(x);
}
HP_DEVICE float fused(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
/// Correctly rounded.
HP_DEVICE float square_root(float x) {
  return __builtin_sqrtf(x);
}
#if !defined(HIPPLAN_CUDA)
// The compiler expands these two in place: 1 ulp, subnormal numbers included.
HP_DEVICE float exponential(float x) {
  return __builtin_expf(x);
}
HP_DEVICE float logarithm(float x) {
  return __builtin_logf(x);
}
#endif
/// A NaN gives way to the other operand.
HP_DEVICE float maximum(float a, float b) {
  return __builtin_fmaxf(a, b);
}
HP_DEVICE float minimum(float a, float b) {
  return __builtin_fminf(a, b);
}
#if defined(HIPPLAN_HOST)
HP_DEVICE float quick_exp2(float x) {
  return __builtin_exp2f(x);
}
#elif defined(HIPPLAN_CUDA)
/// The bare instruction: 2 ulp, results below 2^-126 are 0.
HP_DEVICE float quick_exp2(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}
#else
/// The bare instruction: 1 ulp, results below 2^-126 are 0.
HP_DEVICE float quick_exp2(float x) {
  return __builtin_amdgcn_exp2f(x);
}
#endif

#if defined(HIPPLAN_CUDA)
/// `x` times 2^n for -300 < n < 300, through subnormal numbers too.
HP_DEVICE float scale_by_power(float x, i32 n) {
  const i32 half_way = n / 2;
  const float first = bits_as<float>(static_cast<u32>(half_way + 127) << 23);
  const float second = bits_as<float>(static_cast<u32>(n - half_way + 127) << 23);
  return x * first * second;
}
/// 2 ulp: exp(x) = 2^n * exp(r), |r| <= log(2) / 2, and six terms of exp(r)'s series.
HP_DEVICE float exponential(float x) {
  const float n = round_nearest(minimum(maximum(x, -110.0f), 90.0f) * 1.44269504f);
  float r = fused(n, -0.693359375f, minimum(maximum(x, -110.0f), 90.0f));
  r = fused(n, 2.12194440e-4f, r);
  float p = 1.98412698e-4f;
  p = fused(p, r, 1.38888889e-3f);
  p = fused(p, r, 8.33333333e-3f);
  p = fused(p, r, 4.16666667e-2f);
  p = fused(p, r, 1.66666667e-1f);
  p = fused(p, r, 0.5f);
  p = fused(r * r, p, r) + 1.0f;
  const float value = scale_by_power(p, static_cast<i32>(n));
  return x != x ? x : value;
}
/// 2 ulp: log(2^n * (1 + f)), 2/3 <= 1 + f < 4/3, by the series of s = f / (2 + f).
HP_DEVICE float logarithm(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const u32 word = bits_as<u32>(tiny ? x * 8388608.0f : x);
  const i32 up = static_cast<i32>(word - 0x3f2aaaabu) >> 23;
  const float f = bits_as<float>(word - (static_cast<u32>(up) << 23)) - 1.0f;
  const float n = static_cast<float>(up - (tiny ? 23 : 0));
  const float s = f / (2.0f + f), u = s * s;
  float p = 1.81818182e-1f;
  p = fused(p, u, 2.22222222e-1f);
  p = fused(p, u, 2.85714286e-1f);
  p = fused(p, u, 0.4f);
  p = fused(p, u, 6.66666667e-1f);
  const float square = 0.5f * f * f;
  const float low = fused(n, -2.12194440e-4f, s * fused(u, p, square));
  const float value = fused(n, 0.693359375f, f - (square - low));
  if (x == 0.0f) return -bits_as<float>(0x7f800000u);
  if (!(x > 0.0f)) return bits_as<float>(0x7fc00000u);
  return x < bits_as<float>(0x7f800000u) ? value : x;
}
#endif

HP_DEVICE float infinity() {
  return bits_as<float>(0x7f800000u);
}
HP_DEVICE float not_a_number() {
  return bits_as<float>(0x7fc00000u);
}
HP_DEVICE float copy_sign(float magnitude, float sign) {
  return bits_as<float>((bits_as<u32>(magnitude) & 0x7fffffffu) |
                        (bits_as<u32>(sign) & 0x80000000u));
}

/// 2 ulp. Subnormal operands count as the smallest normal number's neighbours do.
HP_DEVICE float reciprocal_root(float x) {
  return 1.0f / square_root(x);
}

/// 3 ulp.
HP_DEVICE float hyperbolic_tangent(float x) {
  const float a = absolute(x);
  if (a < 0.65f) {
    const float u = x * x;
    float p = -5.528634116e-03f;  // 6.4e-9
    p = fused(p, u, 2.048331659e-02f);
    p = fused(p, u, -5.369296822e-02f);
    p = fused(p, u, 1.333089976e-01f);
    p = fused(p, u, -3.333326288e-01f);
    return fused(x * u, p, x);
  }
  return copy_sign(1.0f - 2.0f / (exponential(2.0f * a) + 1.0f), x) + (x != x ? x : 0.0f);
}

/// exp(x) - 1 for x <= 0; 4 ulp.
HP_DEVICE float exponential_minus_1(float x) {
  const float t = hyperbolic_tangent(0.5f * x);
  return 2.0f * t / (1.0f - t);
}

/// log(1 + u) for 0 <= u <= 1; 3 ulp.
HP_DEVICE float logarithm_1_plus(float u) {
  const float w = 1.0f + u;
  const float step = w - 1.0f;
  return step == 0.0f ? u : logarithm(w) * (u / step);
}

/// exp(t*t) * erfc(t) for t >= 0; 3 ulp.
HP_DEVICE float scaled_complement(float t) {
  const float w = 1.0f / fused(0.5f, t, 1.0f);
  float p = -5.912433015e-02f;  // 4.4e-8
  p = fused(p, w, 2.848457458e-01f);
  p = fused(p, w, -4.877620183e-01f);
  p = fused(p, w, 2.787120485e-01f);
  p = fused(p, w, -2.707127814e-02f);
  p = fused(p, w, 2.028760429e-01f);
  p = fused(p, w, 2.430557770e-01f);
  p = fused(p, w, 2.823819306e-01f);
  p = fused(p, w, 2.820860387e-01f);
  return p * w;
}

/// exp(-scale * x * x) without the error of a rounded square; 3 ulp.
HP_DEVICE float negative_square_exponential(float x, float scale) {
  const float square = x * x;
  const float rest = square > 1e30f ? 0.0f : fused(x, x, -square);
  return exponential(-scale * square) * fused(-scale, rest, 1.0f);
}

/// 3 ulp.
HP_DEVICE float error_function(float x) {
  const float a = absolute(x);
  if (a < 1.0f) {
    const float u = x * x;
    float p = 7.889123304e-05f;  // 1.1e-9
    p = fused(p, u, -8.020842413e-04f);
    p = fused(p, u, 5.189535467e-03f);
    p = fused(p, u, -2.685444466e-02f);
    p = fused(p, u, 1.128360018e-01f);
    p = fused(p, u, -3.761262714e-01f);
    p = fused(p, u, 1.128379166e+00f);
    return x * p;
  }
  return copy_sign(1.0f - negative_square_exponential(a, 1.0f) * scaled_complement(a), x) +
         (x != x ? x : 0.0f);
}

/// The normal distribution's integral, 0.5 * erfc(-x / sqrt(2)), accurate in both tails; 6 ulp.
HP_DEVICE float normal_integral(float x) {
  const float a = absolute(x);
  const float tail =
      0.5f * negative_square_exponential(x, 0.5f) * scaled_complement(0.70710678118654752f * a);
  return x > 0.0f ? 1.0f - tail : tail;
}

/// 1 / (1 + exp(-x)); 3 ulp.
HP_DEVICE float logistic(float x) {
  return 1.0f / (1.0f + exponential(-x));
}

/// logistic(x) * (1 - logistic(x)), accurate in both tails; 4 ulp.
HP_DEVICE float logistic_slope(float x) {
  const float e = exponential(-absolute(x));
  const float d = 1.0f + e;
  return e / (d * d);
}

/// An angle brought into [-pi/4, pi/4] and the number of quarter turns taken off, modulo 4.
struct ReducedAngle {
  float angle;
  u32 quarter;
};

/// For |x| >= 2^14 and finite: 24 bits of x times 96 bits of 2/pi, in whole numbers.
HP_DEVICE ReducedAngle reduce_large_angle(float x) {
  // 2/pi, 32 bits a word after the binary point; the word before holds its whole part, 0.
  constexpr u32 kBits[8] = {0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                            0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
  const u32 word = bits_as<u32>(x);
  const i32 exponent =
      static_cast<i32>((word >> 23) & 0xffu) - 127 - 23;  // x = mantissa * 2^exponent
  const u32 mantissa = (word & 0x7fffffu) | 0x800000u;
  // The product is wanted modulo 4, that is, from the bit of weight 2 downwards.
  const u32 position = static_cast<u32>(exponent + 32 - 2);  // first wanted bit of kBits, x >= 2^14
  const u32 first = position >> 5, shift = position & 31u;
  u32 w[4] = {0, 0, 0, 0};
  for (u32 i = 0; i < 4; ++i) {
    for (u32 j = 0; j < 5; ++j) w[i] = first + i == i + j ? kBits[i + j] : w[i];
  }
  u32 b[3];
  for (u32 i = 0; i < 3; ++i)
    b[i] = shift == 0 ? w[i] : (w[i] << shift) | (w[i + 1] >> (32 - shift));
  // Top 64 bits of (b * mantissa) modulo 2^96.
  const u64 low = static_cast<u64>(b[2]) * mantissa;
  const u64 middle = static_cast<u64>(b[1]) * mantissa + (low >> 32);
  const u32 high = b[0] * mantissa + static_cast<u32>(middle >> 32);
  u64 turns =
      (static_cast<u64>(high) << 32) | static_cast<u32>(middle);  // 2 bits of quarters on top
  u32 quarter = static_cast<u32>(turns >> 62);
  u64 fraction = turns << 2;  // of a quarter turn
  const bool back = (fraction >> 63) != 0;
  if (back) {
    fraction = 0 - fraction;
    quarter += 1;
  }
  // fraction * 2^-64 * pi/2, from its top 64 bits as two floats.
  const float part = static_cast<float>(fraction) * 8.51530395021638e-20f;  // 2^-64 * pi/2
  const float angle = back ? -part : part;
  const bool negative = (word >> 31) != 0;
  return {negative ? -angle : angle, negative ? 0u - quarter : quarter};
}

HP_DEVICE ReducedAngle reduce_angle(float x) {
  if (absolute(x) < 16384.0f) {
    const float turns = round_nearest(x * 0.63661977236758134f);
    // pi/2 as the sum of three floats; the first difference is exact.
    float r = fused(turns, -1.57079625e+00f, x);
    r = fused(turns, -7.549790126e-08f, r);
    r = fused(turns, 1.715124499e-15f, r);
    return {r, static_cast<u32>(static_cast<i32>(turns))};
  }
  if (!(absolute(x) < infinity())) return {not_a_number(), 0};
  return reduce_large_angle(x);
}

/// 3 ulp, near multiples of pi an absolute error of 2^-24 of the next value.
HP_DEVICE float sine(float x) {
  const ReducedAngle r = reduce_angle(x);
  const float u = r.angle * r.angle;
  float s = -1.950123374e-04f;  // 4.4e-9
  s = fused(s, u, 8.332060417e-03f);
  s = fused(s, u, -1.666665310e-01f);
  s = fused(r.angle * u, s, r.angle);
  float c = 2.442042929e-05f;  // 1.3e-10
  c = fused(c, u, -1.388721237e-03f);
  c = fused(c, u, 4.166664376e-02f);
  c = fused(u * u, c, fused(-0.5f, u, 1.0f));
  const float value = (r.quarter & 1u) != 0 ? c : s;
  return (r.quarter & 2u) != 0 ? -value : value;
}

/// 4 ulp.
HP_DEVICE float tangent(float x) {
  const ReducedAngle r = reduce_angle(x);
  const float u = r.angle * r.angle;
  float p = 1.000130501e-02f;  // 3e-8
  p = fused(p, u, 2.052833705e-03f);
  p = fused(p, u, 2.511406057e-02f);
  p = fused(p, u, 5.321361183e-02f);
  p = fused(p, u, 1.334127296e-01f);
  p = fused(p, u, 3.333305730e-01f);
  const float t = fused(r.angle * u, p, r.angle);
  return (r.quarter & 1u) != 0 ? -1.0f / t : t;
}

}  // namespace hipplan_device
