// Mixed-precision fused multiply-add and dot products of packed elements. ISA documents,
// "VOP3P Instructions", V_FMA_MIX_F32 and V_DOT*.
#include <algorithm>
#include <limits>

#include "device/emulator/lanes.h"
#include "device/emulator/packed.h"

namespace hipplan::emulator {
namespace {

using disassembly::Operand;
using disassembly::OperandKind;

// ---- v_fma_mix ----------------------------------------------------------------------------------

enum class MixResult : uint8_t { single, low_half, high_half };

/// Source i is a half (by op_sel) where op_sel_hi has its bit, else a float. The printed signs go
/// to neg_lo (minus) and neg_hi (bars).
Result<void> lower_mix(const Instruction& instruction, Lowering& lowering, Op& op) {
  op.packed.op_sel_hi = 0;
  HIPPLAN_TRY(raw_operands(instruction, lowering, 3, false, op));
  HIPPLAN_TRY(packed_modifiers(instruction, true, op));
  for (unsigned i = 0; i < 3; ++i) {
    const Operand& operand = instruction.operands[i + 1];
    if (operand.negate) op.packed.neg_lo = static_cast<uint8_t>(op.packed.neg_lo | 1u << i);
    if (operand.absolute) op.packed.neg_hi = static_cast<uint8_t>(op.packed.neg_hi | 1u << i);
    const bool half = ((op.packed.op_sel_hi >> i) & 1) != 0;
    if (half && operand.kind == OperandKind::floating) op.from[i].constant = operand.bits(16);
  }
  return {};
}

void mix_source(Wave& wave, const Op& op, unsigned k, float* out) {
  Buffer<uint32_t> scratch;
  const uint32_t* lanes = fetch(wave, op, k, scratch.lane);
  const auto bit = [k](uint8_t bits) { return ((bits >> k) & 1u) != 0; };
  const unsigned shift = bit(op.packed.op_sel) ? 16 : 0;
  const uint32_t keep = bit(op.packed.neg_hi) ? 0x7fffffffu : 0xffffffffu;
  const uint32_t flip = bit(op.packed.neg_lo) ? 0x80000000u : 0u;
  const bool half = bit(op.packed.op_sel_hi);
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    const float value = half ? widen(Half{static_cast<uint16_t>(lanes[i] >> shift)})
                             : std::bit_cast<float>(lanes[i]);
    out[i] = std::bit_cast<float>((std::bit_cast<uint32_t>(value) & keep) ^ flip);
  }
}

template <MixResult kResult, bool Directed = false>
void mix(Wave& wave, const Op& op) {
  alignas(64) float in[3][kMaxLanes];
  for (unsigned k = 0; k < 3; ++k) mix_source(wave, op, k, in[k]);
  uint32_t* row = wave.rows[op.to.index].lane;
  Buffer<uint32_t> out;
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    float value = std::fma(in[0][i], in[1][i], in[2][i]);
    if (op.clamp) value = value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
    const uint32_t half = to_bits<Directed>(HalfOf<float>{value});
    if constexpr (kResult == MixResult::single)
      out.lane[i] = std::bit_cast<uint32_t>(value);
    else if constexpr (kResult == MixResult::low_half)
      out.lane[i] = (row[i] & 0xffff0000u) | half;
    else
      out.lane[i] = (row[i] & 0xffffu) | half << 16;
  }
  copy_lanes(row, out.lane, active_lanes(wave, op));
}

// ---- dot products of floats ---------------------------------------------------------------------

/// Sources A, B (packed) and C.
Result<void> lower_dot(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(raw_operands(instruction, lowering, 3, false, op));
  HIPPLAN_TRY(packed_modifiers(instruction, true, op));
  for (unsigned i = 0; i < 3 && i + 1 < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i + 1];
    if (operand.negate || operand.absolute) return operand_error(instruction, "signed source");
    const bool packed = i < 2;
    if (packed && operand.kind == OperandKind::floating) {
      op.from[i].constant = packed_constant(instruction, operand);
    }
  }
  return {};
}

/// c + a0*b0 + a1*b1: products exact, one rounding.
template <class T>
void float_dot(Wave& wave, const Op& op) {
  Buffer<uint32_t> scratch[3], out;
  const uint32_t* in[3];
  for (unsigned k = 0; k < 3; ++k) in[k] = fetch(wave, op, k, scratch[k].lane);
  const auto element = [&](unsigned k, bool high, unsigned lane) {
    const unsigned picks = high ? op.packed.op_sel_hi : op.packed.op_sel;
    const unsigned signs = high ? op.packed.neg_hi : op.packed.neg_lo;
    const unsigned shift = ((picks >> k) & 1u) != 0 ? 16 : 0;
    const float value = widen(T{static_cast<uint16_t>(in[k][lane] >> shift)});
    return static_cast<double>(((signs >> k) & 1u) != 0 ? -value : value);
  };
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    float c = std::bit_cast<float>(in[2][i]);
    if ((op.packed.neg_hi & 4) != 0) c = std::fabs(c);
    if ((op.packed.neg_lo & 4) != 0) c = -c;
    double sum = static_cast<double>(c) + element(0, false, i) * element(1, false, i);
    sum += element(0, true, i) * element(1, true, i);
    float value = static_cast<float>(sum);
    if (op.clamp) value = value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
    out.lane[i] = std::bit_cast<uint32_t>(value);
  }
  copy_lanes(wave.rows[op.to.index].lane, out.lane, active_lanes(wave, op));
}

// ---- dot products of integers -------------------------------------------------------------------

struct IntegerDot {
  unsigned bits;       ///< of an element
  int a_sign, b_sign;  ///< 1 signed, 0 unsigned, -1 by neg_lo
};
constexpr IntegerDot kDots[] = {
    {16, 1, 1}, {16, 0, 0}, {8, 1, 1}, {8, 0, 0}, {8, -1, -1}, {4, 1, 1}, {4, 0, 0}, {4, -1, -1},
};

int64_t integer_element(uint32_t word, unsigned at, unsigned bits, bool is_signed) {
  const uint32_t up = word << (32 - bits - at);
  if (is_signed) return static_cast<int32_t>(up) >> (32 - bits);
  return up >> (32 - bits);
}

template <size_t kIndex>
void integer_dot(Wave& wave, const Op& op) {
  constexpr IntegerDot kDot = kDots[kIndex];
  const bool a_signed = kDot.a_sign == 1 || (kDot.a_sign < 0 && (op.packed.neg_lo & 1) != 0);
  const bool b_signed = kDot.b_sign == 1 || (kDot.b_sign < 0 && (op.packed.neg_lo & 2) != 0);
  constexpr bool kSignedResult = kDot.a_sign != 0;
  Buffer<uint32_t> scratch[3], out;
  const uint32_t* in[3];
  for (unsigned k = 0; k < 3; ++k) in[k] = fetch(wave, op, k, scratch[k].lane);
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    int64_t sum = kSignedResult ? int64_t{static_cast<int32_t>(in[2][i])} : int64_t{in[2][i]};
    for (unsigned at = 0; at < 32; at += kDot.bits) {
      sum += integer_element(in[0][i], at, kDot.bits, a_signed) *
             integer_element(in[1][i], at, kDot.bits, b_signed);
    }
    if (op.clamp && kSignedResult) {
      sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                                std::numeric_limits<int32_t>::max());
    } else if (op.clamp) {
      sum = std::min<int64_t>(sum, std::numeric_limits<uint32_t>::max());
    }
    out.lane[i] = static_cast<uint32_t>(sum);
  }
  copy_lanes(wave.rows[op.to.index].lane, out.lane, active_lanes(wave, op));
}

constexpr Semantics entry(std::string_view mnemonic, Handler run, Lower lower) {
  return {.mnemonic = mnemonic,
          .run = run,
          .shape = {},
          .flags = kVector | kAnyModifier,
          .lower = lower};
}

/// A result in f16.
template <MixResult kResult>
constexpr Semantics mix_entry(std::string_view mnemonic) {
  Semantics made = entry(mnemonic, mix<kResult>, lower_mix);
  made.directed = mix<kResult, true>;
  return made;
}

constexpr Semantics kPackedDotsTable[] = {
    isa::cdna("VOP2"),
    entry("v_dot2c_f32_f16", float_dot<Half>, lower_dot),
    entry("v_dot2c_f32_bf16", float_dot<BFloat>, lower_dot),
    entry("v_dot2c_i32_i16", integer_dot<0>, lower_dot),
    entry("v_dot4c_i32_i8", integer_dot<2>, lower_dot),
    entry("v_dot8c_i32_i4", integer_dot<5>, lower_dot),

    isa::rdna3("VOP2"),
    entry("v_dot2acc_f32_f16", float_dot<Half>, lower_dot),

    isa::all("VOP3P"),
    entry("v_dot2_f32_f16", float_dot<Half>, lower_dot),
    entry("v_dot2_f32_bf16", float_dot<BFloat>, lower_dot),
    entry("v_dot4_u32_u8", integer_dot<3>, lower_dot),
    entry("v_dot8_u32_u4", integer_dot<6>, lower_dot),

    isa::rdna("VOP3P"),
    entry("v_fma_mix_f32", mix<MixResult::single>, lower_mix),
    mix_entry<MixResult::low_half>("v_fma_mixlo_f16"),
    mix_entry<MixResult::high_half>("v_fma_mixhi_f16"),
    entry("v_dot4_i32_iu8", integer_dot<4>, lower_dot),
    entry("v_dot8_i32_iu4", integer_dot<7>, lower_dot),

    isa::cdna("VOP3P"),
    entry("v_mad_mix_f32", mix<MixResult::single>, lower_mix),
    mix_entry<MixResult::low_half>("v_mad_mixlo_f16"),
    mix_entry<MixResult::high_half>("v_mad_mixhi_f16"),
    entry("v_dot2_i32_i16", integer_dot<0>, lower_dot),
    entry("v_dot2_u32_u16", integer_dot<1>, lower_dot),
    entry("v_dot4_i32_i8", integer_dot<2>, lower_dot),
    entry("v_dot8_i32_i4", integer_dot<5>, lower_dot),

    isa::rdna("VOPD"),
    entry("v_dot2acc_f32_bf16", float_dot<BFloat>, lower_dot),
};

}  // namespace

std::span<const Semantics> packed_dot_semantics() {
  return kPackedDotsTable;
}

}  // namespace hipplan::emulator
