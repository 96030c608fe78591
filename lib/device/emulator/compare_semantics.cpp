// VOPC: comparisons into a condition mask, and the forms that also change EXEC. ISA
// documents, "VOPC Instructions".
#include <cmath>

#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

/// V_CMPX: the mask becomes EXEC. Up to gfx9 it also goes to the printed register.
template <auto F>
void compare_exec(Wave& wave, const Op& op) {
  lane_handler<F>(wave, op);
  Source written;
  written.place = op.to.place;
  written.index = op.to.index;
  written.words = op.to.words;
  wave.set_exec(read_mask(wave, written));
}

/// From gfx10 on the destination is EXEC and is not printed.
Result<void> lower_compare_exec(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (lowering.is_gfx9()) return lowering.by_shape(instruction, lowering.entry(), op);
  Semantics sources = lowering.entry();
  sources.shape.to = Type::none;
  Instruction shown = instruction;
  if (shown.operands.size() == 3u) shown.operands.erase(shown.operands.begin());
  HIPPLAN_TRY(lowering.by_shape(shown, sources, op));
  op.to = lowering.scalar_destination(scalar::kExec, Type::mask);
  return {};
}

template <auto F>
constexpr Semantics compare_exec_entry(std::string_view name) {
  Semantics entry = lanes<F>(name, 0, lower_compare_exec);
  entry.run = compare_exec<F>;
  return entry;
}

template <class T>
bool unordered(T a, T b) {
  return std::isnan(a) || std::isnan(b);
}
inline bool unordered(Half a, Half b) {
  return unordered(widen(a), widen(b));
}
template <class T>
bool less(T a, T b) {
  return a < b;
}
inline bool less(Half a, Half b) {
  return widen(a) < widen(b);
}
template <class T>
bool same(T a, T b) {
  return a == b;
}
inline bool same(Half a, Half b) {
  return widen(a) == widen(b);
}

/// Bits of V_CMP_CLASS: signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, +0, …, +inf.
template <unsigned Fraction, unsigned Exponent>
bool in_class(uint64_t bits, uint32_t wanted) {
  constexpr uint64_t kFraction = (1ull << Fraction) - 1, kExponent = (1ull << Exponent) - 1;
  const uint64_t fraction = bits & kFraction, exponent = (bits >> Fraction) & kExponent;
  const bool negative = ((bits >> (Fraction + Exponent)) & 1u) != 0;
  unsigned kind = 0;
  if (exponent == kExponent && fraction != 0)
    kind = (fraction >> (Fraction - 1)) != 0 ? 1 : 0;
  else if (exponent == kExponent)
    kind = negative ? 2 : 9;
  else if (exponent != 0)
    kind = negative ? 3 : 8;
  else if (fraction != 0)
    kind = negative ? 4 : 7;
  else
    kind = negative ? 5 : 6;
  return ((wanted >> kind) & 1u) != 0;
}

// clang-format off
#define BOTH(NAME, ...) lanes<__VA_ARGS__>("v_cmp_" NAME), compare_exec_entry<__VA_ARGS__>("v_cmpx_" NAME)
#define INTEGER(T, NAME)                                                  \
  BOTH("lt_" NAME, [](T a, T b) { return a < b; }),                       \
  BOTH("eq_" NAME, [](T a, T b) { return a == b; }),                      \
  BOTH("le_" NAME, [](T a, T b) { return a <= b; }),                      \
  BOTH("gt_" NAME, [](T a, T b) { return b < a; }),                       \
  BOTH("ne_" NAME, [](T a, T b) { return a != b; }),                      \
  BOTH("ge_" NAME, [](T a, T b) { return b <= a; })
#define FLOATING(T, NAME)                                                 \
  BOTH("lt_" NAME, [](T a, T b) { return less(a, b); }),                  \
  BOTH("eq_" NAME, [](T a, T b) { return same(a, b); }),                  \
  BOTH("le_" NAME, [](T a, T b) { return less(a, b) || same(a, b); }),    \
  BOTH("gt_" NAME, [](T a, T b) { return less(b, a); }),                  \
  BOTH("lg_" NAME, [](T a, T b) { return less(a, b) || less(b, a); }),    \
  BOTH("ge_" NAME, [](T a, T b) { return less(b, a) || same(a, b); }),    \
  BOTH("o_" NAME, [](T a, T b) { return !unordered(a, b); }),             \
  BOTH("u_" NAME, [](T a, T b) { return unordered(a, b); }),              \
  BOTH("nge_" NAME, [](T a, T b) { return !(less(b, a) || same(a, b)); }), \
  BOTH("nlg_" NAME, [](T a, T b) { return !(less(a, b) || less(b, a)); }), \
  BOTH("ngt_" NAME, [](T a, T b) { return !less(b, a); }),                \
  BOTH("nle_" NAME, [](T a, T b) { return !(less(a, b) || same(a, b)); }), \
  BOTH("neq_" NAME, [](T a, T b) { return !same(a, b); }),                \
  BOTH("nlt_" NAME, [](T a, T b) { return !less(a, b); })
#define NEVER(T, NAME) BOTH("f_" NAME, [](T, T) { return false; })
#define ALWAYS(T, NAME) BOTH(NAME, [](T, T) { return true; })

constexpr Semantics kCompareTable[] = {
    isa::all("VOPC"),
    INTEGER(uint32_t, "u32"), INTEGER(int32_t, "i32"), INTEGER(uint64_t, "u64"), INTEGER(int64_t, "i64"),
    INTEGER(uint16_t, "u16"), INTEGER(int16_t, "i16"),
    FLOATING(float, "f32"), FLOATING(double, "f64"), FLOATING(Half, "f16"),
    BOTH("class_f32", [](float a, uint32_t k) { return in_class<23, 8>(std::bit_cast<uint32_t>(a), k); }),
    BOTH("class_f64", [](double a, uint32_t k) { return in_class<52, 11>(std::bit_cast<uint64_t>(a), k); }),
    BOTH("class_f16", [](Half a, uint32_t k) { return in_class<10, 5>(a.bits, k); }),

    isa::each("VOPC", "VOPC", ""),
    NEVER(uint32_t, "u32"), NEVER(int32_t, "i32"), NEVER(uint64_t, "u64"), NEVER(int64_t, "i64"),
    NEVER(float, "f32"), NEVER(double, "f64"), NEVER(Half, "f16"),
    ALWAYS(uint32_t, "t_u32"), ALWAYS(int32_t, "t_i32"), ALWAYS(uint64_t, "t_u64"), ALWAYS(int64_t, "t_i64"),

    isa::cdna("VOPC"),
    NEVER(uint16_t, "u16"), NEVER(int16_t, "i16"), ALWAYS(uint16_t, "t_u16"), ALWAYS(int16_t, "t_i16"),
    ALWAYS(float, "tru_f32"), ALWAYS(double, "tru_f64"), ALWAYS(Half, "tru_f16"),

    isa::rdna3("VOPC"),
    ALWAYS(float, "t_f32"), ALWAYS(double, "t_f64"), ALWAYS(Half, "t_f16"),
};
// clang-format on

}  // namespace

std::span<const Semantics> compare_semantics() {
  return kCompareTable;
}

}  // namespace hipplan::emulator
