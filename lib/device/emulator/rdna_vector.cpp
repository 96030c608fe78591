// Vector instructions that came with RDNA. RDNA3 and RDNA4 ISA, "VOP3 Instructions".
#include <algorithm>

#include "device/emulator/arithmetic.h"
#include "device/emulator/lanes.h"
#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using i32 = int32_t;

template <auto F>
constexpr auto kHalf3 =
    [](Half a, Half b, Half c) { return narrow_half(F(widen(a), widen(b), widen(c))); };

constexpr auto kMinMax = [](float a, float b, float c) { return larger(smaller(a, b), c); };
constexpr auto kMaxMin = [](float a, float b, float c) { return smaller(larger(a, b), c); };
constexpr auto kMinimum = [](float a, float b) { return smaller_or_nan(a, b); };
constexpr auto kMaximum = [](float a, float b) { return larger_or_nan(a, b); };
constexpr auto kMinimum3 = [](float a, float b, float c) {
  return smaller_or_nan(smaller_or_nan(a, b), c);
};
constexpr auto kMaximum3 = [](float a, float b, float c) {
  return larger_or_nan(larger_or_nan(a, b), c);
};
constexpr auto kMinimumMaximum = [](float a, float b, float c) {
  return larger_or_nan(smaller_or_nan(a, b), c);
};
constexpr auto kMaximumMinimum = [](float a, float b, float c) {
  return smaller_or_nan(larger_or_nan(a, b), c);
};

// clang-format off
constexpr Semantics kRdnaVectorTable[] = {
    isa::all("VOP2"),
    lanes<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),

    isa::rdna("VOP1"),
    lanes<[](u16 a) { return a; }>("v_mov_b16"),
    lanes<[](u16 a) { return static_cast<u16>(~a); }>("v_not_b16"),
    lanes<[](u16 a) { return static_cast<u32>(a); }>("v_cvt_u32_u16"),
    lanes<[](int16_t a) { return static_cast<i32>(a); }>("v_cvt_i32_i16"),

    isa::rdna("VOP3"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(a & b); }>("v_and_b16"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(a | b); }>("v_or_b16"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(a ^ b); }>("v_xor_b16"),
    lanes<[](u16 a, u16 b, bool c) { return c ? b : a; }>("v_cndmask_b16"),
    lanes<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>("v_xor3_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return std::max(std::min(a, b), c); }>("v_minmax_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return std::min(std::max(a, b), c); }>("v_maxmin_u32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::max(std::min(a, b), c); }>("v_minmax_i32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::min(std::max(a, b), c); }>("v_maxmin_i32"),

    isa::each("VOP3", "", "VOP3"),
    lanes<kMinimum3>("v_minimum3_f32"),
    lanes<kMaximum3>("v_maximum3_f32"),

    isa::rdna3("VOP3"),
    lanes<kMinMax>("v_minmax_f32"), lanes<kHalf3<kMinMax>>("v_minmax_f16"),
    lanes<kMaxMin>("v_maxmin_f32"), lanes<kHalf3<kMaxMin>>("v_maxmin_f16"),

    isa::rdna4("VOP3"),
    lanes<kMinimum>("v_minimum_f32"), lanes<kHalf2<kMinimum>>("v_minimum_f16"),
    lanes<kMaximum>("v_maximum_f32"), lanes<kHalf2<kMaximum>>("v_maximum_f16"), lanes<kHalf3<kMinimum3>>("v_minimum3_f16"),
    lanes<kHalf3<kMaximum3>>("v_maximum3_f16"),
    lanes<kMinimumMaximum>("v_minimummaximum_f32"), lanes<kHalf3<kMinimumMaximum>>("v_minimummaximum_f16"),
    lanes<kMaximumMinimum>("v_maximumminimum_f32"), lanes<kHalf3<kMaximumMinimum>>("v_maximumminimum_f16"),
};
// clang-format on

}  // namespace

std::span<const Semantics> rdna_vector_semantics() {
  return kRdnaVectorTable;
}

}  // namespace hipplan::emulator
