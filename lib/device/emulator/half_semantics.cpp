// Half-precision arithmetic. Sums, products and roots are made in float and rounded once more,
// which is exact for binary16; fused operations round once through numbers.h. ISA documents,
// "VOP1/VOP2/VOP3 Instructions".
#include "device/emulator/float_math.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

HalfOf<double> fused(Half a, Half b, Half c) {
  return {fused_double(widen(a), widen(b), widen(c))};
}
HalfOf<float> rounded(float x) {
  return {x};
}
/// v_mad_f16 and its like round the product too.
HalfOf<float> multiply_add(Half a, Half b, Half c) {
  return {widen(narrow_half(widen(a) * widen(b))) + widen(c)};
}
HalfOf<float> multiply_add_directed(Half a, Half b, Half c) {
  return {widen(narrow_half_directed(double{widen(a) * widen(b)})) + widen(c)};
}
float fractional(Half a) {
  const float f = widen(a) - std::floor(widen(a));
  return f >= 1.0f ? 0x1.ffcp-1f : f;
}
Half mantissa(Half a) {
  const float x = widen(a);
  int e = 0;
  return std::isfinite(x) && x != 0.0f ? narrow_half(std::frexp(x, &e)) : a;
}
int16_t exponent_of(Half a) {
  const float x = widen(a);
  int e = 0;
  if (std::isfinite(x) && x != 0.0f) (void)std::frexp(x, &e);
  return static_cast<int16_t>(e);
}
Half division_fixup(Half quotient, Half denominator, Half numerator) {
  const float d = widen(denominator), n = widen(numerator);
  const auto sign = static_cast<uint16_t>((denominator.bits ^ numerator.bits) & 0x8000u);
  const auto with_sign = [&](unsigned magnitude) {
    return Half{static_cast<uint16_t>((magnitude & 0x7fffu) | sign)};
  };
  if (n != n) return Half{static_cast<uint16_t>(numerator.bits | 0x200u)};
  if (d != d) return Half{static_cast<uint16_t>(denominator.bits | 0x200u)};
  if ((d == 0.0f && n == 0.0f) || (std::isinf(d) && std::isinf(n))) return Half{0xfe00};
  if (d == 0.0f || std::isinf(n)) return with_sign(0x7c00);
  if (std::isinf(d) || n == 0.0f) return with_sign(0);
  return with_sign(quotient.bits);
}

/// c + a0*b0 + a1*b1, rounded after each of the two steps.
Half dot_halves(uint32_t a, uint32_t b, Half c) {
  const auto part = [](uint32_t v, unsigned at) { return Half{static_cast<uint16_t>(v >> at)}; };
  const auto step = [&](unsigned at, Half sum) {
    return fused_half(widen(part(a, at)), widen(part(b, at)), widen(sum));
  };
  return step(16, step(0, c));
}
BFloat dot_bfloats(uint32_t a, uint32_t b, BFloat c) {
  const auto part = [](uint32_t v, unsigned at) {
    return static_cast<double>(widen(BFloat{static_cast<uint16_t>(v >> at)}));
  };
  const auto step = [&](unsigned at, BFloat sum) {
    return narrow_bfloat(round_to_odd(part(a, at) * part(b, at) + widen(sum)));
  };
  return step(16, step(0, c));
}

template <auto F, auto Directed>
constexpr Semantics multiply_adds(std::string_view mnemonic, uint32_t flags = 0) {
  Semantics entry = lanes<F>(mnemonic, flags);
  entry.directed = lane_handler<Directed, true>;
  return entry;
}

// clang-format off
constexpr Semantics kHalfTable[] = {
    isa::all("VOP2"),
    lanes<[](Half a, Half b) { return rounded(widen(a) + widen(b)); }>("v_add_f16"),
    lanes<[](Half a, Half b) { return rounded(widen(a) - widen(b)); }>("v_sub_f16"),
    lanes<[](Half a, Half b) { return rounded(widen(b) - widen(a)); }>("v_subrev_f16"),
    lanes<[](Half a, Half b) { return rounded(widen(a) * widen(b)); }>("v_mul_f16"),
    lanes<[](Half a, int16_t b) { return rounded(scale_float(widen(a), b)); }>("v_ldexp_f16"),

    isa::rdna("VOP2"),
    lanes<[](Half a, Half b, Half c) { return fused(a, b, c); }>("v_fmac_f16"),
    lanes<[](Half a, Half k, Half c) { return fused(a, k, c); }>("v_fmamk_f16"),
    lanes<[](Half a, Half b, Half k) { return fused(a, b, k); }>("v_fmaak_f16"),

    isa::each("VOP2", "VOP2", ""),
    lanes<[](Half a, Half b) { return rounded(smaller(widen(a), widen(b))); }>("v_min_f16"),
    lanes<[](Half a, Half b) { return rounded(larger(widen(a), widen(b))); }>("v_max_f16"),

    isa::cdna("VOP2"),
    multiply_adds<[](Half a, Half b, Half c) { return multiply_add(a, b, c); }, [](Half a, Half b, Half c) { return multiply_add_directed(a, b, c); }>("v_mac_f16"),
    multiply_adds<[](Half a, Half b, Half c) { return multiply_add(a, b, c); }, [](Half a, Half b, Half c) { return multiply_add_directed(a, b, c); }>("v_madmk_f16"),
    multiply_adds<[](Half a, Half b, Half c) { return multiply_add(a, b, c); }, [](Half a, Half b, Half c) { return multiply_add_directed(a, b, c); }>("v_madak_f16"),

    isa::all("VOP1"),
    lanes<[](Half a) { return rounded(std::floor(widen(a))); }>("v_floor_f16"),
    lanes<[](Half a) { return rounded(std::ceil(widen(a))); }>("v_ceil_f16"),
    lanes<[](Half a) { return rounded(std::trunc(widen(a))); }>("v_trunc_f16"),
    lanes<[](Half a) { return rounded(std::nearbyint(widen(a))); }>("v_rndne_f16"),
    lanes<[](Half a) { return rounded(fractional(a)); }>("v_fract_f16"),
    lanes<[](Half a) { return rounded(1.0f / widen(a)); }>("v_rcp_f16"),
    lanes<[](Half a) { return HalfOf<double>{1.0 / std::sqrt(static_cast<double>(widen(a)))}; }>("v_rsq_f16"),
    lanes<[](Half a) { return rounded(std::sqrt(widen(a))); }>("v_sqrt_f16"),
    lanes<[](Half a) { return rounded(exp2_float(widen(a))); }>("v_exp_f16"),
    lanes<[](Half a) { return rounded(log2_float(widen(a))); }>("v_log_f16"),
    lanes<[](Half a) { return rounded(sine_float(widen(a))); }>("v_sin_f16"),
    lanes<[](Half a) { return rounded(cosine_float(widen(a))); }>("v_cos_f16"),
    lanes<[](Half a) { return mantissa(a); }>("v_frexp_mant_f16"),
    lanes<[](Half a) { return exponent_of(a); }>("v_frexp_exp_i16_f16"),

    isa::all("VOP3"),
    lanes<[](Half a, Half b, Half c) { return fused(a, b, c); }>("v_fma_f16", kKeepsHigh),
    lanes<[](Half a, Half b, Half c) { return division_fixup(a, b, c); }>("v_div_fixup_f16", kKeepsHigh),

    isa::each("VOP3", "VOP3", ""),
    lanes<[](Half a, Half b, Half c) { return rounded(smaller(smaller(widen(a), widen(b)), widen(c))); }>("v_min3_f16", kKeepsHigh),
    lanes<[](Half a, Half b, Half c) { return rounded(larger(larger(widen(a), widen(b)), widen(c))); }>("v_max3_f16", kKeepsHigh),
    lanes<[](Half a, Half b, Half c) { return rounded(median(widen(a), widen(b), widen(c))); }>("v_med3_f16", kKeepsHigh),

    isa::rdna("VOP3"),
    lanes<[](uint32_t a, uint32_t b, Half c) { return dot_halves(a, b, c); }>("v_dot2_f16_f16"),
    lanes<[](uint32_t a, uint32_t b, BFloat c) { return dot_bfloats(a, b, c); }>("v_dot2_bf16_bf16"),

    isa::cdna("VOP3"),
    lanes<[](Half a, Half b, Half c) { return fused(a, b, c); }>("v_fma_legacy_f16"),
    multiply_adds<[](Half a, Half b, Half c) { return multiply_add(a, b, c); }, [](Half a, Half b, Half c) { return multiply_add_directed(a, b, c); }>("v_mad_f16", kKeepsHigh),
    multiply_adds<[](Half a, Half b, Half c) { return multiply_add(a, b, c); }, [](Half a, Half b, Half c) { return multiply_add_directed(a, b, c); }>("v_mad_legacy_f16"),
    lanes<[](Half a, Half b, Half c) { return division_fixup(a, b, c); }>("v_div_fixup_legacy_f16"),
};
// clang-format on

}  // namespace

std::span<const Semantics> half_semantics() {
  return kHalfTable;
}

}  // namespace hipplan::emulator
