// Floating point in the scalar unit, gfx11.5 and gfx12. RDNA4 ISA, "SOP1/SOP2/SOPC
// Instructions" and "VOP3 Instructions", V_S_*.
#include <algorithm>
#include <vector>

#include "device/emulator/arithmetic.h"
#include "device/emulator/rdna.h"
#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

int32_t to_int(float value) {
  if (value != value) return 0;
  if (value <= -2147483648.0f) return INT32_MIN;
  if (value >= 2147483648.0f) return INT32_MAX;
  return static_cast<int32_t>(value);
}
uint32_t to_unsigned(float value) {
  if (!(value > 0)) return 0;
  if (value >= 4294967296.0f) return UINT32_MAX;
  return static_cast<uint32_t>(value);
}

// 16-bit scalar values come in the low half of a register and leave with a zero upper half.
template <auto F>
constexpr auto kHalf1 = [](Half a) { return narrow_half(F(widen(a))); };
template <auto F>
constexpr auto kTest32 = [](float a, float b, bool& scc) { scc = F(a, b); };
template <auto F>
constexpr auto kTest16 = [](Half a, Half b, bool& scc) { scc = F(widen(a), widen(b)); };

constexpr auto kSub = [](float a, float b) { return a - b; };
constexpr auto kCeil = [](float a) { return std::ceil(a); };
constexpr auto kFloor = [](float a) { return std::floor(a); };
constexpr auto kTrunc = [](float a) { return std::trunc(a); };
constexpr auto kEven = [](float a) { return std::nearbyint(a); };

constexpr auto kLt = [](float a, float b) { return a < b; };
constexpr auto kEq = [](float a, float b) { return a == b; };
constexpr auto kLe = [](float a, float b) { return a <= b; };
constexpr auto kGt = [](float a, float b) { return a > b; };
constexpr auto kLg = [](float a, float b) { return a < b || a > b; };
constexpr auto kGe = [](float a, float b) { return a >= b; };
constexpr auto kOrdered = [](float a, float b) { return a == a && b == b; };
constexpr auto kUnordered = [](float a, float b) { return a != a || b != b; };
template <auto F>
constexpr auto kNot = [](float a, float b) { return !F(a, b); };

/// gfx12's v_s_*: a vector unit's function of a scalar. The source may be negated or absolute.
template <auto F, bool Half16>
void scalar_function(Wave& wave, const Op& op) {
  const Source& source = op.from[0];
  const uint64_t bits = (read_scalar(wave, source) & source.keep) ^ source.flip;
  if constexpr (Half16) {
    const Half value{static_cast<uint16_t>(bits)};
    write_scalar(wave, op.to, narrow_half(F(widen(value))).bits);
  } else {
    write_scalar(wave, op.to,
                 std::bit_cast<uint32_t>(F(std::bit_cast<float>(static_cast<uint32_t>(bits)))));
  }
}
template <auto F, bool Half16 = false>
constexpr Semantics function(std::string_view mnemonic) {
  constexpr Type kType = Half16 ? Type::f16 : Type::f32;
  return {.mnemonic = mnemonic,
          .run = scalar_function<F, Half16>,
          .shape = {.to = kType, .from = {kType}, .sources = 1}};
}
constexpr auto kExp = [](float a) { return exp2_float(a); };
constexpr auto kLog = [](float a) { return log2_float(a); };
constexpr auto kRcp = [](float a) { return 1.0f / a; };
constexpr auto kSqrt = [](float a) { return std::sqrt(a); };
constexpr auto kRsq = [](float a) {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
};

// clang-format off
#define HIPPLAN_SCALAR_TEST(name, f) \
  scalars<kTest32<f>>("s_cmp_" name "_f32"), scalars<kTest16<f>>("s_cmp_" name "_f16")

constexpr Semantics kRdnaScalarFloatTable[] = {
    isa::rdna("SOP2"),
    scalars<kAdd>("s_add_f32"), scalars<kHalf2<kAdd>>("s_add_f16"),
    scalars<kSub>("s_sub_f32"), scalars<kHalf2<kSub>>("s_sub_f16"),
    scalars<kMul>("s_mul_f32"), scalars<kHalf2<kMul>>("s_mul_f16"),
    // The accumulator of fmac is its destination, which by_shape adds as the last source.
    scalars<[](float a, float b, float c) { return std::fma(a, b, c); }>("s_fmac_f32"),
    scalars<[](Half a, Half b, Half c) { return HalfOf<double>{fused_double(widen(a), widen(b), widen(c))}; }>("s_fmac_f16"),
    scalars<[](float a, float b, float k) { return std::fma(a, b, k); }>("s_fmaak_f32"),
    scalars<[](float a, float k, float c) { return std::fma(a, k, c); }>("s_fmamk_f32"),
    scalars<[](float a, float b) { return half_toward_zero(a) | half_toward_zero(b) << 16; }>("s_cvt_pk_rtz_f16_f32"),

    isa::rdna3("SOP2"),
    scalars<kSmaller>("s_min_f32"), scalars<kHalf2<kSmaller>>("s_min_f16"),
    scalars<kLarger>("s_max_f32"), scalars<kHalf2<kLarger>>("s_max_f16"),

    isa::rdna4("SOP2"),
    scalars<kSmaller>("s_min_num_f32"), scalars<kHalf2<kSmaller>>("s_min_num_f16"),
    scalars<kLarger>("s_max_num_f32"), scalars<kHalf2<kLarger>>("s_max_num_f16"),
    scalars<[](float a, float b) { return smaller_or_nan(a, b); }>("s_minimum_f32"), scalars<kHalf2<smaller_or_nan>>("s_minimum_f16"),
    scalars<[](float a, float b) { return larger_or_nan(a, b); }>("s_maximum_f32"), scalars<kHalf2<larger_or_nan>>("s_maximum_f16"),

    isa::rdna("SOP1"),
    scalars<kCeil>("s_ceil_f32"), scalars<kHalf1<kCeil>>("s_ceil_f16"),
    scalars<kFloor>("s_floor_f32"), scalars<kHalf1<kFloor>>("s_floor_f16"),
    scalars<kTrunc>("s_trunc_f32"), scalars<kHalf1<kTrunc>>("s_trunc_f16"),
    scalars<kEven>("s_rndne_f32"), scalars<kHalf1<kEven>>("s_rndne_f16"),
    scalars<[](int32_t a) { return static_cast<float>(a); }>("s_cvt_f32_i32"),
    scalars<[](uint32_t a) { return static_cast<float>(a); }>("s_cvt_f32_u32"),
    scalars<[](float a) { return to_int(a); }>("s_cvt_i32_f32"),
    scalars<[](float a) { return to_unsigned(a); }>("s_cvt_u32_f32"),
    scalars<[](float a) { return HalfOf<float>{a}; }>("s_cvt_f16_f32"),
    scalars<[](Half a) { return widen(a); }>("s_cvt_f32_f16"),
    scalars<[](uint32_t a) { return widen(Half{static_cast<uint16_t>(a >> 16)}); }>("s_cvt_hi_f32_f16"),

    isa::rdna("SOPC"),
    HIPPLAN_SCALAR_TEST("lt", kLt), HIPPLAN_SCALAR_TEST("eq", kEq), HIPPLAN_SCALAR_TEST("le", kLe),
    HIPPLAN_SCALAR_TEST("gt", kGt), HIPPLAN_SCALAR_TEST("lg", kLg), HIPPLAN_SCALAR_TEST("ge", kGe),
    HIPPLAN_SCALAR_TEST("o", kOrdered), HIPPLAN_SCALAR_TEST("u", kUnordered),
    HIPPLAN_SCALAR_TEST("nge", kNot<kGe>), HIPPLAN_SCALAR_TEST("nlg", kNot<kLg>),
    HIPPLAN_SCALAR_TEST("ngt", kNot<kGt>), HIPPLAN_SCALAR_TEST("nle", kNot<kLe>),
    HIPPLAN_SCALAR_TEST("neq", kNot<kEq>), HIPPLAN_SCALAR_TEST("nlt", kNot<kLt>),

    isa::rdna4("VOP3"),
    function<kExp>("v_s_exp_f32"), function<kExp, true>("v_s_exp_f16"), function<kLog>("v_s_log_f32"), function<kLog, true>("v_s_log_f16"),
    function<kRcp>("v_s_rcp_f32"), function<kRcp, true>("v_s_rcp_f16"), function<kSqrt>("v_s_sqrt_f32"), function<kSqrt, true>("v_s_sqrt_f16"),
    function<kRsq>("v_s_rsq_f32"), function<kRsq, true>("v_s_rsq_f16"),
};
#undef HIPPLAN_SCALAR_TEST
// clang-format on

}  // namespace

std::span<const Semantics> rdna_scalar_float_semantics() {
  return kRdnaScalarFloatTable;
}

}  // namespace hipplan::emulator
