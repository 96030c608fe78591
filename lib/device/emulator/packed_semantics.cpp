// VOP3P: two 16-bit (or 32-bit) results a lane, mixed-precision fused multiply-add and dot
// products. ISA documents, "Packed Math" and "VOP3P Instructions".
//
// op_sel[i] names the half of source i that makes the low result, op_sel_hi[i] the half that makes
// the high one; neg_lo and neg_hi flip the sign of those halves.
#include <algorithm>
#include <array>

#include "device/emulator/arithmetic.h"
#include "device/emulator/lanes.h"
#include "device/emulator/packed.h"

namespace hipplan::emulator {
namespace {

using disassembly::Operand;

using Halves = std::array<uint16_t, kMaxLanes>;

/// v_pk_*_f16, _i16, _u16, _b16. Semantics::parameter is the number of sources.
Result<void> lower_halves(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto sources = static_cast<unsigned>(lowering.entry().parameter);
  for (const Operand& operand : instruction.operands) {
    if (operand.negate || operand.absolute) return operand_error(instruction, "signed source");
  }
  HIPPLAN_TRY(raw_operands(instruction, lowering, sources, true, op));
  return packed_modifiers(instruction, true, op);
}

// ---- halves -----------------------------------------------------------------------------------

/// The halves of source `k` that make the low (`high` false) or the high result.
void select(Wave& wave, const Op& op, unsigned k, bool high, bool negatable, Halves& out) {
  Buffer<uint32_t> scratch;
  const uint32_t* lanes = fetch(wave, op, k, scratch.lane);
  const unsigned picks = high ? op.packed.op_sel_hi : op.packed.op_sel;
  const unsigned signs = high ? op.packed.neg_hi : op.packed.neg_lo;
  const unsigned shift = ((picks >> k) & 1u) != 0 ? 16 : 0;
  const uint32_t flip = negatable && ((signs >> k) & 1u) != 0 ? 0x8000u : 0u;
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    out[i] = static_cast<uint16_t>((lanes[i] >> shift) ^ flip);
  }
}

uint16_t clamp_half(uint16_t bits) {
  const float value = widen(Half{bits});
  return value > 0 ? (value < 1 ? bits : uint16_t{0x3c00}) : uint16_t{0};
}

template <bool Directed, class T>
uint16_t to_half_bits(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<uint16_t>(value);
  else if constexpr (kIsHalfOf<T>)
    return to_bits<Directed>(value);
  else
    return value.bits;
}

/// T is Half, BFloat, uint16_t or int16_t; F gives a T. Saturating variants get `clamp` themselves.
template <class T, auto F, bool kSaturates, bool Directed, size_t... I>
void run_halves(std::index_sequence<I...>, Wave& wave, const Op& op) {
  constexpr bool kFloat = !std::is_integral_v<T>;
  std::array<Halves, sizeof...(I)> low, high;
  (select(wave, op, I, false, kFloat, low[I]), ...);
  (select(wave, op, I, true, kFloat, high[I]), ...);
  Buffer<uint32_t> out;
  const auto one = []([[maybe_unused]] const Op& by, const std::array<Halves, sizeof...(I)>& in,
                      unsigned lane) -> uint32_t {
    uint16_t bits = 0;
    if constexpr (kSaturates)
      bits = to_half_bits<Directed>(F(std::bit_cast<T>(in[I][lane])..., by.clamp));
    else
      bits = to_half_bits<Directed>(F(std::bit_cast<T>(in[I][lane])...));
    if constexpr (std::is_same_v<T, Half>) bits = by.clamp ? clamp_half(bits) : bits;
    return bits;
  };
  for (unsigned i = 0; i < kMaxLanes; ++i) out.lane[i] = one(op, low, i) | one(op, high, i) << 16;
  copy_lanes(wave.rows[op.to.index].lane, out.lane, active_lanes(wave, op));
}

template <class T, auto F, unsigned kSources, bool kSaturates = false, bool Directed = false>
void halves_handler(Wave& wave, const Op& op) {
  run_halves<T, F, kSaturates, Directed>(std::make_index_sequence<kSources>{}, wave, op);
}

template <class T, auto F, unsigned kSources, bool kSaturates = false>
constexpr Semantics halves(std::string_view mnemonic) {
  return {.mnemonic = mnemonic,
          .run = halves_handler<T, F, kSources, kSaturates>,
          .directed = std::is_same_v<T, Half> ? halves_handler<T, F, kSources, kSaturates, true>
                                              : Handler{nullptr},
          .shape = {},
          .flags = kVector | kAnyModifier,
          .lower = lower_halves,
          .parameter = kSources};
}

template <auto F>
constexpr auto kBFloat2 = [](BFloat a, BFloat b) { return narrow_bfloat(F(widen(a), widen(b))); };

constexpr auto kFmaHalf = [](Half a, Half b, Half c) {
  return HalfOf<double>{fused_double(widen(a), widen(b), widen(c))};
};
/// The product of two bfloat16 is exact in float and the sum in double, up to one rounding to odd.
constexpr auto kFmaBFloat = [](BFloat a, BFloat b, BFloat c) {
  const double product = static_cast<double>(widen(a)) * static_cast<double>(widen(b));
  return narrow_bfloat(round_to_odd(product + static_cast<double>(widen(c))));
};

template <class T>
T saturate(int64_t value, bool clamp) {
  if (!clamp) return static_cast<T>(value);
  return static_cast<T>(
      std::clamp<int64_t>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}
template <class T>
constexpr auto kAddInt = [](T a, T b, bool clamp) { return saturate<T>(int64_t{a} + b, clamp); };
template <class T>
constexpr auto kSubInt = [](T a, T b, bool clamp) { return saturate<T>(int64_t{a} - b, clamp); };
template <class T>
constexpr auto kMadInt =
    [](T a, T b, T c, bool clamp) { return saturate<T>(int64_t{a} * b + c, clamp); };

// ---- packed f32 -------------------------------------------------------------------------------

Result<void> lower_pairs(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto sources = static_cast<unsigned>(lowering.entry().parameter);
  if (instruction.operands.size() != sources + 1) {
    return operand_error(instruction, cat("expected ", sources + 1, " operands"));
  }
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::wide, 2));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (unsigned i = 0; i < sources; ++i) {
    const Operand& operand = instruction.operands[i + 1];
    if (operand.negate || operand.absolute) return operand_error(instruction, "signed source");
    HIPPLAN_TRY_ASSIGN(op.from[i], lowering.source(operand, Type::wide, 2));
    op.from[i].simple = false;
  }
  op.source_count = static_cast<uint8_t>(sources);
  return packed_modifiers(instruction, true, op);
}

/// One dword of source k, the first or second register or the constant: its lanes, in `scratch`
/// unless the register can be read as it is.
const uint32_t* select_dword(const Wave& wave, const Op& op, unsigned k, bool high,
                             uint32_t* scratch) {
  const Source& source = op.from[k];
  const unsigned picks = high ? op.packed.op_sel_hi : op.packed.op_sel;
  const unsigned signs = high ? op.packed.neg_hi : op.packed.neg_lo;
  const unsigned word = (picks >> k) & 1u;
  const uint32_t flip = ((signs >> k) & 1u) != 0 ? 0x80000000u : 0u;
  if (source.place == Place::vgpr) {
    const uint32_t* row = wave.rows[source.index + word].lane;
    if (flip == 0) return row;
    for (unsigned i = 0; i < kMaxLanes; ++i) scratch[i] = row[i] ^ flip;
    return scratch;
  }
  const auto value = source.place == Place::sgpr ? wave.scalars[source.index + word]
                                                 : static_cast<uint32_t>(source.constant);
  std::fill_n(scratch, kMaxLanes, value ^ flip);
  return scratch;
}

float clamp_float(float value) {
  return value > 0 ? (value < 1 ? value : 1.0f) : 0.0f;
}

template <auto F, unsigned kSources>
void pairs_handler(Wave& wave, const Op& op) {
  std::array<Row, 2> results;
  for (const bool high : {false, true}) {
    std::array<Row, kSources> scratch;
    std::array<const uint32_t*, 3> in{};
    for (unsigned k = 0; k < kSources; ++k)
      in[k] = select_dword(wave, op, k, high, scratch[k].lane);
    if constexpr (kSources == 2) in[2] = in[0];
    uint32_t* out = results[high ? 1 : 0].lane;
    for (unsigned i = 0; i < kMaxLanes; ++i)
      out[i] =
          std::bit_cast<uint32_t>(F(std::bit_cast<float>(in[0][i]), std::bit_cast<float>(in[1][i]),
                                    std::bit_cast<float>(in[2][i])));
    if (op.clamp)
      for (unsigned i = 0; i < kMaxLanes; ++i)
        out[i] = std::bit_cast<uint32_t>(clamp_float(std::bit_cast<float>(out[i])));
  }
  const uint64_t mask = active_lanes(wave, op);
  copy_lanes(wave.rows[op.to.index].lane, results[0].lane, mask);
  copy_lanes(wave.rows[op.to.index + 1].lane, results[1].lane, mask);
}

/// v_pk_mov_b32 takes the low result from source 0 and the high one from source 1, both by op_sel.
void move_pair(Wave& wave, const Op& op) {
  std::array<Row, 2> results;
  for (unsigned k = 0; k < 2; ++k) {
    const uint32_t* in = select_dword(wave, op, k, false, results[k].lane);
    if (in != results[k].lane) std::copy_n(in, kMaxLanes, results[k].lane);
  }
  const uint64_t mask = active_lanes(wave, op);
  copy_lanes(wave.rows[op.to.index].lane, results[0].lane, mask);
  copy_lanes(wave.rows[op.to.index + 1].lane, results[1].lane, mask);
}

constexpr Semantics pairs(std::string_view mnemonic, Handler run, int64_t sources) {
  return {.mnemonic = mnemonic,
          .run = run,
          .shape = {},
          .flags = kVector | kAnyModifier,
          .lower = lower_pairs,
          .parameter = sources};
}

// ---- table ------------------------------------------------------------------------------------

constexpr Semantics kPackedTable[] = {
    isa::all("VOP2"),
    halves<Half, kFmaHalf, 3>("v_pk_fmac_f16"),

    isa::all("VOP3P"),
    halves<Half, kHalf2<kAdd>, 2>("v_pk_add_f16"),
    halves<Half, kHalf2<kMul>, 2>("v_pk_mul_f16"),
    halves<Half, kFmaHalf, 3>("v_pk_fma_f16"),
    halves<int16_t, kAddInt<int16_t>, 2, true>("v_pk_add_i16"),
    halves<int16_t, kSubInt<int16_t>, 2, true>("v_pk_sub_i16"),
    halves<uint16_t, kAddInt<uint16_t>, 2, true>("v_pk_add_u16"),
    halves<uint16_t, kSubInt<uint16_t>, 2, true>("v_pk_sub_u16"),
    halves<int16_t, kMadInt<int16_t>, 3, true>("v_pk_mad_i16"),
    halves<uint16_t, kMadInt<uint16_t>, 3, true>("v_pk_mad_u16"),
    halves<uint16_t, [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(unsigned{a} * b); },
           2>("v_pk_mul_lo_u16"),
    halves<int16_t, [](int16_t a, int16_t b) { return std::min(a, b); }, 2>("v_pk_min_i16"),
    halves<int16_t, [](int16_t a, int16_t b) { return std::max(a, b); }, 2>("v_pk_max_i16"),
    halves<uint16_t, [](uint16_t a, uint16_t b) { return std::min(a, b); }, 2>("v_pk_min_u16"),
    halves<uint16_t, [](uint16_t a, uint16_t b) { return std::max(a, b); }, 2>("v_pk_max_u16"),
    halves<uint16_t, [](uint16_t n, uint16_t v) { return static_cast<uint16_t>(v << (n & 15)); },
           2>("v_pk_lshlrev_b16"),
    halves<uint16_t, [](uint16_t n, uint16_t v) { return static_cast<uint16_t>(v >> (n & 15)); },
           2>("v_pk_lshrrev_b16"),
    halves<int16_t, [](int16_t n, int16_t v) { return static_cast<int16_t>(v >> (n & 15)); }, 2>(
        "v_pk_ashrrev_i16"),

    isa::each("VOP3P", "VOP3P", ""),
    halves<Half, kHalf2<kSmaller>, 2>("v_pk_min_f16"),
    halves<Half, kHalf2<kLarger>, 2>("v_pk_max_f16"),

    isa::rdna4("VOP3P"),
    halves<Half, kHalf2<kSmaller>, 2>("v_pk_min_num_f16"),
    halves<Half, kHalf2<kLarger>, 2>("v_pk_max_num_f16"),
    halves<Half, kHalf2<smaller_or_nan>, 2>("v_pk_minimum_f16"),
    halves<Half, kHalf2<larger_or_nan>, 2>("v_pk_maximum_f16"),

    isa::cdna("VOP3P"),
    halves<Half,
           [](Half a, Half b, Half c) {
             return narrow_half(smaller_or_nan(smaller_or_nan(widen(a), widen(b)), widen(c)));
           },
           3>("v_pk_minimum3_f16"),
    halves<Half,
           [](Half a, Half b, Half c) {
             return narrow_half(larger_or_nan(larger_or_nan(widen(a), widen(b)), widen(c)));
           },
           3>("v_pk_maximum3_f16"),
    pairs("v_pk_add_f32", pairs_handler<[](float a, float b, float) { return a + b; }, 2>, 2),
    pairs("v_pk_mul_f32", pairs_handler<[](float a, float b, float) { return a * b; }, 2>, 2),
    pairs("v_pk_fma_f32",
          pairs_handler<[](float a, float b, float c) { return std::fma(a, b, c); }, 3>, 3),
    pairs("v_pk_mov_b32", move_pair, 2),

    isa::none("gfx1250, of which there is no public document"),
    halves<BFloat, kBFloat2<kAdd>, 2>("v_pk_add_bf16"),
    halves<BFloat, kBFloat2<kMul>, 2>("v_pk_mul_bf16"),
    halves<BFloat, kBFloat2<kSmaller>, 2>("v_pk_min_num_bf16"),
    halves<BFloat, kBFloat2<kLarger>, 2>("v_pk_max_num_bf16"),
    halves<BFloat, kFmaBFloat, 3>("v_pk_fma_bf16"),
};

}  // namespace

std::span<const Semantics> packed_semantics() {
  static const std::vector<Semantics> table = [] {
    std::vector<Semantics> all(std::begin(kPackedTable), std::end(kPackedTable));
    for (const auto family :
         {packed_dot_semantics(), packed_gfx950_semantics(), packed_scaled_semantics()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    return all;
  }();
  return table;
}

}  // namespace hipplan::emulator
