// Double-precision arithmetic. ISA documents, "VOP1 Instructions" and "VOP3 Instructions".
#include "device/emulator/float_math.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

using u64 = uint64_t;

u64 bits(double x) {
  return std::bit_cast<u64>(x);
}
int exponent(double x) {
  return static_cast<int>(bits(x) >> 52 & 2047u);
}
bool subnormal(double x) {
  return exponent(x) == 0 && x != 0.0;
}

double division_scale(double s0, double s1, double s2, bool& post) {
  post = false;
  if (s1 == 0.0 || s2 == 0.0) return NAN;
  const bool denominator = bits(s0) == bits(s1);
  const bool tiny_reciprocal = subnormal(1.0 / s1), tiny_quotient = subnormal(s2 / s1);
  if (exponent(s2) - exponent(s1) >= 768) {
    post = true;
    return denominator ? s0 * 0x1p128 : s0;
  }
  if (subnormal(s1)) return s0 * 0x1p128;
  if (tiny_reciprocal && tiny_quotient) {
    post = true;
    return denominator ? s0 * 0x1p-128 : s0;
  }
  if (tiny_reciprocal) return s0 * 0x1p-128;
  if (tiny_quotient) {
    post = true;
    return bits(s0) == bits(s2) ? s0 * 0x1p128 : s0;
  }
  return exponent(s2) <= 53 ? s0 * 0x1p128 : s0;
}
double division_fma(double a, double b, double c, bool post) {
  const double plain = std::fma(a, b, c);
  return post ? plain * (exponent(c) > 1023 ? 0x1p128 : 0x1p-128) : plain;
}
double quiet(double x) {
  return std::bit_cast<double>(bits(x) | 0x8000000000000ull);
}
double division_fixup(double quotient, double denominator, double numerator) {
  const u64 sign = (bits(denominator) ^ bits(numerator)) & 0x8000000000000000ull;
  const auto with_sign = [&](double x) {
    return std::bit_cast<double>((bits(x) & 0x7fffffffffffffffull) | sign);
  };
  if (numerator != numerator) return quiet(numerator);
  if (denominator != denominator) return quiet(denominator);
  const bool none = (denominator == 0.0 && numerator == 0.0) ||
                    (std::isinf(denominator) && std::isinf(numerator));
  if (none) return std::bit_cast<double>(0xfff8000000000000ull);
  if (denominator == 0.0 || std::isinf(numerator)) return with_sign(INFINITY);
  if (std::isinf(denominator) || numerator == 0.0) return with_sign(0.0);
  if (exponent(numerator) - exponent(denominator) >= 1025) return with_sign(INFINITY);
  if (exponent(numerator) - exponent(denominator) < -1075) return with_sign(0.0);
  return with_sign(quotient);
}
double mantissa(double x) {
  if (!std::isfinite(x) || x == 0.0) return x;
  int e = 0;
  return std::frexp(x, &e);
}
int32_t exponent_of(double x) {
  if (!std::isfinite(x) || x == 0.0) return 0;
  int e = 0;
  (void)std::frexp(x, &e);
  return e;
}
double fraction_of(double x) {
  const double f = x - std::floor(x);
  return f >= 1.0 ? 0x1.fffffffffffffp-1 : f;
}

/// The fraction of 2/pi, 1201 bits from the first one behind the point.
constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b0000ull};
/// The n-th piece of 53 bits of 2/pi for the reduction of a large angle, scaled to its place.
double two_over_pi_piece(double angle, uint32_t n) {
  const auto exponent = static_cast<int>(std::bit_cast<uint64_t>(angle) >> 52 & 0x7ffu);
  const int shift = static_cast<int>(n & 31u) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
  const auto word = [](int i) { return i < 19 ? kTwoOverPi[i] : 0ull; };
  const int first = shift / 64, within = shift % 64;
  const uint64_t high = word(first) << within;
  const uint64_t low = within == 0 ? 0 : word(first + 1) >> (64 - within);
  const int scale = -53 - shift + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(static_cast<double>((high | low) >> 11), scale);
}

// clang-format off
constexpr Semantics kDoubleTable[] = {
    isa::cdna("VOP2"),
    lanes<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fmac_f64"),

    isa::all("VOP1"),
    lanes<[](double a) { return std::floor(a); }>("v_floor_f64"),
    lanes<[](double a) { return std::ceil(a); }>("v_ceil_f64"),
    lanes<[](double a) { return std::trunc(a); }>("v_trunc_f64"),
    lanes<[](double a) { return std::nearbyint(a); }>("v_rndne_f64"),
    lanes<[](double a) { return fraction_of(a); }>("v_fract_f64"),
    lanes<[](double a) { return 1.0 / a; }>("v_rcp_f64"),
    lanes<[](double a) { return 1.0 / std::sqrt(a); }>("v_rsq_f64"),
    lanes<[](double a) { return std::sqrt(a); }>("v_sqrt_f64"),
    lanes<[](double a) { return mantissa(a); }>("v_frexp_mant_f64"),
    lanes<[](double a) { return exponent_of(a); }>("v_frexp_exp_i32_f64"),

    isa::each("VOP3", "VOP3", "VOP2"),
    lanes<[](double a, double b) { return a + b; }>("v_add_f64"),
    lanes<[](double a, double b) { return a * b; }>("v_mul_f64"),

    isa::all("VOP3"),
    lanes<[](double a, double b, double c) { return std::fma(a, b, c); }>("v_fma_f64"),
    lanes<[](double a, uint32_t n) { return two_over_pi_piece(a, n); }>("v_trig_preop_f64"),
    lanes<[](double a, int32_t b) { return std::ldexp(a, b); }>("v_ldexp_f64"),
    lanes<[](double a, double b, double c, bool& post) { return division_scale(a, b, c, post); }>("v_div_scale_f64"),
    lanes<[](double a, double b, double c, bool post) { return division_fma(a, b, c, post); }>("v_div_fmas_f64", kReadsVcc),
    lanes<[](double a, double b, double c) { return division_fixup(a, b, c); }>("v_div_fixup_f64"),

    isa::each("VOP3", "VOP3", ""),
    lanes<[](double a, double b) { return smaller(a, b); }>("v_min_f64"),
    lanes<[](double a, double b) { return larger(a, b); }>("v_max_f64"),

    isa::rdna4("VOP3"),
    lanes<[](double a, double b) { return a != a ? a : b != b ? b : smaller(a, b); }>("v_minimum_f64"),
    lanes<[](double a, double b) { return a != a ? a : b != b ? b : larger(a, b); }>("v_maximum_f64"),
};
// clang-format on

}  // namespace

std::span<const Semantics> double_semantics() {
  return kDoubleTable;
}

}  // namespace hipplan::emulator
