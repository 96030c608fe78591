// Single-precision arithmetic. ISA documents, "VOP1/VOP2/VOP3 Instructions".
#include "device/emulator/float_math.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

using u32 = uint32_t;

u32 bits(float x) {
  return std::bit_cast<u32>(x);
}
int exponent(float x) {
  return static_cast<int>(bits(x) >> 23 & 255u);
}
bool subnormal(float x) {
  return exponent(x) == 0 && x != 0.0f;
}

/// Scaling before a division, so that neither the reciprocal nor the quotient leaves the normal
/// range. s0 is the denominator s1 or the numerator s2; `post` asks v_div_fmas to undo it.
float division_scale(float s0, float s1, float s2, bool& post) {
  post = false;
  if (s1 == 0.0f || s2 == 0.0f) return NAN;
  const bool denominator = bits(s0) == bits(s1);
  const bool tiny_reciprocal = subnormal(1.0f / s1), tiny_quotient = subnormal(s2 / s1);
  if (exponent(s2) - exponent(s1) >= 96) {
    post = true;
    return denominator ? scale_float(s0, 64) : s0;
  }
  if (subnormal(s1)) return scale_float(s0, 64);
  if (tiny_reciprocal && tiny_quotient) {  // down, though the manuals print 64: up would overflow
    post = true;
    return denominator ? scale_float(s0, -64) : s0;
  }
  if (tiny_reciprocal) return scale_float(s0, -64);
  if (tiny_quotient) {
    post = true;
    return bits(s0) == bits(s2) ? scale_float(s0, 64) : s0;
  }
  return exponent(s2) <= 23 ? scale_float(s0, 64) : s0;
}
/// The last step of a division. A scaled quotient above 1 was made small, one below was made large;
/// the manuals print one factor, which cannot undo both.
float division_fma(float a, float b, float c, bool post) {
  const float plain = std::fma(a, b, c);
  const double exact =
      std::fma(static_cast<double>(a), static_cast<double>(b), static_cast<double>(c));
  const auto scaled = static_cast<float>(exact * (exponent(c) > 127 ? 0x1p64 : 0x1p-64));
  return post ? scaled : plain;
}
float quiet(float x) {
  return std::bit_cast<float>(bits(x) | 0x400000u);
}
float division_fixup(float quotient, float denominator, float numerator) {
  const u32 sign = (bits(denominator) ^ bits(numerator)) & 0x80000000u;
  const auto with_sign = [&](float x) {
    return std::bit_cast<float>((bits(x) & 0x7fffffffu) | sign);
  };
  if (numerator != numerator) return quiet(numerator);
  if (denominator != denominator) return quiet(denominator);
  if (denominator == 0.0f && numerator == 0.0f) return std::bit_cast<float>(0xffc00000u);
  if (std::isinf(denominator) && std::isinf(numerator)) return std::bit_cast<float>(0xffc00000u);
  if (denominator == 0.0f || std::isinf(numerator)) return with_sign(INFINITY);
  if (std::isinf(denominator) || numerator == 0.0f) return with_sign(0.0f);
  // Beyond these the steps before have lost the quotient; the answer is known from the exponents.
  if (exponent(numerator) - exponent(denominator) >= 129) return with_sign(INFINITY);
  if (exponent(numerator) - exponent(denominator) < -150) return with_sign(0.0f);
  return with_sign(quotient);
}

float mantissa(float x) {
  if (!(std::fabs(x) <= 0x1.fffffep127f) || x == 0.0f) return x;
  int e = 0;
  return std::frexp(x, &e);
}
int32_t exponent_of(float x) {
  if (!(std::fabs(x) <= 0x1.fffffep127f) || x == 0.0f) return 0;
  int e = 0;
  (void)std::frexp(x, &e);
  return e;
}
/// 0 times anything is 0.
float multiply_zero_wins(float a, float b) {
  return a == 0.0f || b == 0.0f ? 0.0f : a * b;
}
float fused_zero_wins(float a, float b, float c) {
  return a == 0.0f || b == 0.0f ? c : std::fma(a, b, c);
}
/// Specular term: a * b where b is above -greatest and c positive.
float multiply_lit(float a, float b, float c) {
  constexpr float kGreatest = 0x1.fffffep127f;
  return b > -kGreatest && c > 0.0f ? a * b : -kGreatest;
}

/// The axis of a direction that is longest: z before y before x among equals.
enum class Axis : uint8_t { x, y, z };
Axis longest(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  return az >= ax && az >= ay ? Axis::z : ay >= ax ? Axis::y : Axis::x;
}
float cube_face(float x, float y, float z) {
  const Axis axis = longest(x, y, z);
  const float along = axis == Axis::x ? x : axis == Axis::y ? y : z;
  return 2.0f * static_cast<float>(static_cast<int>(axis)) + (along < 0.0f ? 1.0f : 0.0f);
}
float cube_s(float x, float y, float z) {
  const Axis axis = longest(x, y, z);
  if (axis == Axis::z) return z < 0.0f ? -x : x;
  return axis == Axis::y ? x : x < 0.0f ? z : -z;
}
float cube_t(float x, float y, float z) {
  if (longest(x, y, z) != Axis::y) return -y;
  return y < 0.0f ? -z : z;
}
float cube_axis(float x, float y, float z) {
  const Axis axis = longest(x, y, z);
  return 2.0f * (axis == Axis::x ? x : axis == Axis::y ? y : z);
}

// clang-format off
constexpr Semantics kFloatTable[] = {
    isa::all("VOP2"),
    lanes<[](float a, float b) { return a + b; }>("v_add_f32"),
    lanes<[](float a, float b) { return a - b; }>("v_sub_f32"),
    lanes<[](float a, float b) { return b - a; }>("v_subrev_f32"),
    lanes<[](float a, float b) { return a * b; }>("v_mul_f32"),
    lanes<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fmac_f32"),
    lanes<[](float a, float k, float c) { return std::fma(a, k, c); }>("v_fmamk_f32"),
    lanes<[](float a, float b, float k) { return std::fma(a, b, k); }>("v_fmaak_f32"),

    isa::each("VOP2", "VOP2", ""),
    lanes<[](float a, float b) { return smaller(a, b); }>("v_min_f32"),
    lanes<[](float a, float b) { return larger(a, b); }>("v_max_f32"),

    isa::cdna("VOP2"),
    lanes<[](float a, float b, float c) { const float product = a * b; return product + c; }>("v_mac_f32"),
    lanes<[](float a, float k, float c) { const float product = a * k; return product + c; }>("v_madmk_f32"),
    lanes<[](float a, float b, float k) { const float product = a * b; return product + k; }>("v_madak_f32"),

    isa::all("VOP1"),
    lanes<[](float a) { return std::floor(a); }>("v_floor_f32"),
    lanes<[](float a) { return std::ceil(a); }>("v_ceil_f32"),
    lanes<[](float a) { return std::trunc(a); }>("v_trunc_f32"),
    lanes<[](float a) { return std::nearbyint(a); }>("v_rndne_f32"),
    lanes<[](float a) { return fraction(a); }>("v_fract_f32"),
    lanes<[](float a) { return 1.0f / a; }>("v_rcp_f32"),
    lanes<[](float a) { return 1.0f / a; }>("v_rcp_iflag_f32"),
    lanes<[](float a) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a))); }>("v_rsq_f32"),
    lanes<[](float a) { return std::sqrt(a); }>("v_sqrt_f32"),
    lanes<[](float a) { return exp2_float(a); }>("v_exp_f32"),
    lanes<[](float a) { return log2_float(a); }>("v_log_f32"),
    lanes<[](float a) { return sine_float(a); }>("v_sin_f32"),
    lanes<[](float a) { return cosine_float(a); }>("v_cos_f32"),
    lanes<[](float a) { return mantissa(a); }>("v_frexp_mant_f32"),
    lanes<[](float a) { return exponent_of(a); }>("v_frexp_exp_i32_f32"),

    isa::each("VOP3", "VOP2", "VOP2"),
    lanes<[](float a, float b) { return multiply_zero_wins(a, b); }>("v_mul_legacy_f32"),

    isa::all("VOP3"),
    lanes<[](float a, float b, float c) { return std::fma(a, b, c); }>("v_fma_f32"),
    lanes<[](float a, int32_t b) { return scale_float(a, b); }>("v_ldexp_f32"),
    lanes<[](float a, float b, float c, bool& post) { return division_scale(a, b, c, post); }>("v_div_scale_f32"),
    lanes<[](float a, float b, float c, bool post) { return division_fma(a, b, c, post); }>("v_div_fmas_f32", kReadsVcc),
    lanes<[](float a, float b, float c) { return division_fixup(a, b, c); }>("v_div_fixup_f32"),
    lanes<[](float x, float y, float z) { return cube_face(x, y, z); }>("v_cubeid_f32"),
    lanes<[](float x, float y, float z) { return cube_s(x, y, z); }>("v_cubesc_f32"),
    lanes<[](float x, float y, float z) { return cube_t(x, y, z); }>("v_cubetc_f32"),
    lanes<[](float x, float y, float z) { return cube_axis(x, y, z); }>("v_cubema_f32"),

    isa::each("VOP3", "VOP3", ""),
    lanes<[](float a, float b, float c) { return smaller(smaller(a, b), c); }>("v_min3_f32"),
    lanes<[](float a, float b, float c) { return larger(larger(a, b), c); }>("v_max3_f32"),
    lanes<[](float a, float b, float c) { return median(a, b, c); }>("v_med3_f32"),

    isa::rdna("VOP3"),
    lanes<[](float a, float b, float c) { return fused_zero_wins(a, b, c); }>("v_fma_dx9_zero_f32"),
    lanes<[](float a, float b, float c) { return multiply_lit(a, b, c); }>("v_mullit_f32"),

    isa::rdna3("VOP2"),
    lanes<[](float a, float b, float c) { return fused_zero_wins(a, b, c); }>("v_fmac_dx9_zero_f32"),

    isa::cdna("VOP3"),
    lanes<[](float a, float b, float c) { const float product = multiply_zero_wins(a, b); return product + c; }>("v_mad_legacy_f32"),
    lanes<[](float a, float b, float c) { const float product = a * b; return product + c; }>("v_mad_f32"),
};
// clang-format on

}  // namespace

std::span<const Semantics> float_semantics() {
  return kFloatTable;
}

}  // namespace hipplan::emulator
