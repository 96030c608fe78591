// V_CVT_SCALEF32_*: between floats of 8, 6 or 4 bits and f32, f16 or bf16, with a scale. Sections
// "VOP3 Instructions" and "Microscaling" of the CDNA4 ISA document.
//
// The scale is the exponent field e of an f32 and stands for 2^(e - 127); 255 is NaN. Widening
// multiplies by it, narrowing divides; both are exact before the one rounding to nearest even.
// Stochastic forms add random / 2^32 of a step and cut off; element n of several takes the n-th
// number that V_PRNG_B32 makes of the given one. Beyond the greatest value E4M3 gives NaN and E5M2
// infinity, the smaller formats their greatest value, also for NaN.
#include <array>
#include <limits>
#include <vector>

#include "device/emulator/lanes.h"
#include "device/emulator/packed.h"
#include "device/emulator/small_floats.h"

namespace hipplan::emulator {
namespace {

enum class Wide : uint8_t { f32, f16, bf16 };

struct ScaledConversion {
  std::string_view name;
  Element small{};
  Wide wide{};
  uint8_t count = 1;  ///< elements
  bool narrows = false, stochastic = false;
  bool split = false;  ///< the wide elements come from two operands in turn
};

// clang-format off
#define HIPPLAN_SCALED_8(NAME, ELEMENT)                                              \
  {"v_cvt_scalef32_f32_" NAME, ELEMENT, Wide::f32, 1}, {"v_cvt_scalef32_f16_" NAME, ELEMENT, Wide::f16, 1}, \
  {"v_cvt_scalef32_pk_f32_" NAME, ELEMENT, Wide::f32, 2}, {"v_cvt_scalef32_pk_f16_" NAME, ELEMENT, Wide::f16, 2}, \
  {"v_cvt_scalef32_pk_bf16_" NAME, ELEMENT, Wide::bf16, 2},                            \
  {"v_cvt_scalef32_pk_" NAME "_f32", ELEMENT, Wide::f32, 2, true, false, true},        \
  {"v_cvt_scalef32_pk_" NAME "_f16", ELEMENT, Wide::f16, 2, true}, {"v_cvt_scalef32_pk_" NAME "_bf16", ELEMENT, Wide::bf16, 2, true}, \
  {"v_cvt_scalef32_sr_" NAME "_f32", ELEMENT, Wide::f32, 1, true, true}, {"v_cvt_scalef32_sr_" NAME "_f16", ELEMENT, Wide::f16, 1, true, true}, \
  {"v_cvt_scalef32_sr_" NAME "_bf16", ELEMENT, Wide::bf16, 1, true, true}
#define HIPPLAN_SCALED_6(NAME, ELEMENT)                                              \
  {"v_cvt_scalef32_pk32_f32_" NAME, ELEMENT, Wide::f32, 32}, {"v_cvt_scalef32_pk32_f16_" NAME, ELEMENT, Wide::f16, 32}, \
  {"v_cvt_scalef32_pk32_bf16_" NAME, ELEMENT, Wide::bf16, 32},                         \
  {"v_cvt_scalef32_2xpk16_" NAME "_f32", ELEMENT, Wide::f32, 32, true, false, true},   \
  {"v_cvt_scalef32_pk32_" NAME "_f16", ELEMENT, Wide::f16, 32, true}, {"v_cvt_scalef32_pk32_" NAME "_bf16", ELEMENT, Wide::bf16, 32, true}, \
  {"v_cvt_scalef32_sr_pk32_" NAME "_f32", ELEMENT, Wide::f32, 32, true, true}, {"v_cvt_scalef32_sr_pk32_" NAME "_f16", ELEMENT, Wide::f16, 32, true, true}, \
  {"v_cvt_scalef32_sr_pk32_" NAME "_bf16", ELEMENT, Wide::bf16, 32, true, true}

constexpr ScaledConversion kScaledConversions[] = {
    HIPPLAN_SCALED_8("fp8", Element::fp8), HIPPLAN_SCALED_8("bf8", Element::bf8),
    HIPPLAN_SCALED_6("fp6", Element::fp6), HIPPLAN_SCALED_6("bf6", Element::bf6),
    {"v_cvt_scalef32_pk_f32_fp4", Element::fp4, Wide::f32, 2}, {"v_cvt_scalef32_pk_f16_fp4", Element::fp4, Wide::f16, 2},
    {"v_cvt_scalef32_pk_bf16_fp4", Element::fp4, Wide::bf16, 2},
    {"v_cvt_scalef32_pk_fp4_f32", Element::fp4, Wide::f32, 2, true, false, true},
    {"v_cvt_scalef32_pk_fp4_f16", Element::fp4, Wide::f16, 2, true}, {"v_cvt_scalef32_pk_fp4_bf16", Element::fp4, Wide::bf16, 2, true},
    {"v_cvt_scalef32_sr_pk_fp4_f32", Element::fp4, Wide::f32, 2, true, true}, {"v_cvt_scalef32_sr_pk_fp4_f16", Element::fp4, Wide::f16, 2, true, true},
    {"v_cvt_scalef32_sr_pk_fp4_bf16", Element::fp4, Wide::bf16, 2, true, true},
};
#undef HIPPLAN_SCALED_8
#undef HIPPLAN_SCALED_6
// clang-format on

unsigned wide_bits(Wide wide) {
  return wide == Wide::f32 ? 32 : 16;
}
double widen_wide(uint32_t bits, Wide wide) {
  if (wide == Wide::f32) return std::bit_cast<float>(bits);
  const auto low = static_cast<uint16_t>(bits);
  return wide == Wide::f16 ? widen(Half{low}) : widen(BFloat{low});
}
uint32_t narrow_wide(double value, Wide wide) {
  if (wide == Wide::f32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (wide == Wide::f16) return narrow_half(value).bits;
  return narrow_bfloat(round_to_odd(value)).bits;
}
/// 2^(exponent - 127) of the exponent field of an f32.
double scale_factor(uint32_t bits) {
  const auto exponent = static_cast<int>((bits >> 23) & 255u);
  return exponent == 255 ? std::numeric_limits<double>::quiet_NaN()
                         : std::ldexp(1.0, exponent - 127);
}
uint32_t next_random(uint32_t random) {
  return random << 1 ^ ((random & 0x80000000u) != 0 ? 197u : 0u);
}

using Fields = std::array<uint32_t, 32>;  ///< registers of one lane

uint32_t get_field(const Fields& from, unsigned first, unsigned bits) {
  const uint64_t low = from[first / 32];
  const uint64_t high = first % 32 + bits > 32 ? from[first / 32 + 1] : 0;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return static_cast<uint32_t>((low | high << 32) >> (first % 32) & mask);
}
void put_field(Fields& to, unsigned first, unsigned bits, uint32_t value) {
  const uint64_t shifted = uint64_t{value} << (first % 32);
  to[first / 32] |= static_cast<uint32_t>(shifted);
  if (first % 32 + bits > 32) to[first / 32 + 1] |= static_cast<uint32_t>(shifted >> 32);
}

/// from[0] (and [1] when split) the elements; then the random number of stochastic forms; then the
/// scale. Op::offset is the bit that the small elements start at in their register, Op::offset2 the
/// bit that the result starts at; a result of less than a register leaves the rest.
void convert_scaled(Wave& wave, const Op& op) {
  const ScaledConversion& c = kScaledConversions[op.immediate];
  const SmallFormat format = small_format(c.small, Fp8Format::ocp);
  const auto table = small_float_table(c.small, Fp8Format::ocp);
  const unsigned small = element_bits(c.small), wide = wide_bits(c.wide);
  const unsigned in_bits = c.narrows ? wide : small, out_bits = c.narrows ? small : wide;
  const unsigned sources = op.source_count;
  Buffer<uint32_t> scratch[4];
  const uint32_t* rows[2][32] = {};
  for (unsigned s = 0; s < (c.split ? 2u : 1u); ++s)
    for (unsigned r = 0; r < op.from[s].words; ++r)
      rows[s][r] = op.from[s].words == 1 ? fetch(wave, op, s, scratch[s].lane)
                                         : wave.rows[op.from[s].index + r].lane;
  const uint32_t* randoms = c.stochastic ? fetch(wave, op, 1, scratch[2].lane) : nullptr;
  const uint32_t* scales = fetch(wave, op, sources - 1, scratch[3].lane);
  const uint32_t partial = op.to.words == 1 && c.count * out_bits < 32
                               ? ((1u << (c.count * out_bits)) - 1u) << op.offset2
                               : ~0u;
  for (uint64_t left = wave.exec(); left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    const double scale = scale_factor(scales[lane]);
    uint32_t random = c.stochastic ? randoms[lane] : 0;
    Fields in[2] = {}, out = {};
    for (unsigned s = 0; s < 2; ++s)
      for (unsigned r = 0; r < 32 && rows[s][r] != nullptr; ++r) in[s][r] = rows[s][r][lane];
    for (unsigned n = 0; n < c.count; ++n) {
      const unsigned first = static_cast<unsigned>(op.offset) + (c.split ? n / 2 : n) * in_bits;
      const uint32_t bits = get_field(in[c.split ? n % 2 : 0], first, in_bits);
      uint32_t result = 0;
      if (!c.narrows)
        result = narrow_wide(table[bits] * scale, c.wide);
      else if (c.stochastic)
        result = narrow_small_stochastic(widen_wide(bits, c.wide) / scale, random, format);
      else
        result = narrow_small(widen_wide(bits, c.wide) / scale, format);
      random = next_random(random);
      put_field(out, static_cast<unsigned>(op.offset2) + n * out_bits, out_bits, result);
    }
    for (unsigned r = 0; r < op.to.words; ++r) {
      uint32_t& to = wave.rows[op.to.index + r].lane[lane];
      to = (to & ~partial) | (out[r] & partial);
    }
  }
}

Result<void> lower_scaled(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto index = static_cast<size_t>(lowering.entry().parameter);
  const ScaledConversion& c = kScaledConversions[index];
  const unsigned small = element_bits(c.small) * c.count, wide = wide_bits(c.wide) * c.count;
  const unsigned sources = 2u + (c.split || c.stochastic ? 1u : 0u);
  const auto& operands = instruction.operands;
  if (operands.size() != sources + 1) return operand_error(instruction, "unexpected operands");
  const auto words = [](unsigned bits) { return std::max(1u, bits / 32); };
  HIPPLAN_TRY_ASSIGN(
      op.to, lowering.destination(operands[0], Type::wide, words(c.narrows ? small : wide)));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (unsigned i = 0; i < sources; ++i) {
    const bool data = i == 0 || (i == 1 && c.split);
    const unsigned count = data ? words((c.narrows ? wide : small) / (c.split ? 2 : 1)) : 1;
    const bool plain_float = data && c.narrows && c.wide == Wide::f32 && count == 1;
    const Type type = count != 1 ? Type::wide : plain_float ? Type::f32 : Type::u32;
    HIPPLAN_TRY_ASSIGN(op.from[i], lowering.source(operands[i + 1], type, count));
    if (count != 1 && op.from[i].place != Place::vgpr)
      return operand_error(instruction, "the elements must be vector registers");
    if (type != Type::f32 && (operands[i + 1].negate || operands[i + 1].absolute))
      return operand_error(instruction, "signed source");
  }
  op.source_count = static_cast<uint8_t>(sources);
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "op_sel") return modifier_error(instruction, modifier.name);
  const auto bit = [&](size_t i) { return instruction.element("op_sel", i, 0) & 1; };
  // Small elements are a byte or a word of their register, a lone 16-bit result is a half of it.
  if (c.narrows && c.count <= 2)
    op.offset2 = small == 8 ? 8 * (bit(2) + 2 * bit(3)) : 16 * bit(sources);
  else if (c.count <= 2)
    op.offset = small == 8 ? 8 * (bit(0) + 2 * bit(1)) : 16 * bit(0);
  if (!c.narrows && wide == 16) op.offset2 = 16 * bit(2);
  op.immediate = index;
  op.plain = false;
  return {};
}

}  // namespace

std::span<const Semantics> packed_scaled_semantics() {
  static const std::vector<Semantics> table = [] {
    std::vector<Semantics> all = {isa::cdna("VOP3")};
    for (const ScaledConversion& c : kScaledConversions) {
      Semantics entry;
      entry.mnemonic = c.name;
      entry.run = convert_scaled;
      entry.lower = lower_scaled;
      entry.flags = kVector | kAnyModifier;
      entry.parameter = static_cast<int64_t>(&c - std::begin(kScaledConversions));
      all.push_back(entry);
    }
    return all;
  }();
  return table;
}

}  // namespace hipplan::emulator
