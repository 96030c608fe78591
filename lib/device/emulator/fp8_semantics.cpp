// 8-bit floats: conversions and dot products. gfx942 has the FNUZ formats, gfx950 and gfx12 the OCP
// ones. Results beyond the greatest finite value become NaN (OCP E5M2: infinity), which is what
// MODE's FP16_OVFL = 0 asks for. ISA documents, "VOP1/VOP3 Instructions", V_CVT_*_FP8 and _BF8.
#include <vector>

#include "device/emulator/lanes.h"
#include "device/emulator/small_floats.h"

namespace hipplan::emulator {
namespace {

using u32 = uint32_t;
using u64 = uint64_t;
using u16 = uint16_t;

/// Adds the upper 20 (E4M3) or 21 (E5M2) random bits to the mantissa, which wraps; then rounds.
u32 narrow_stochastic(float value, u32 random, const SmallFormat& format) {
  const u32 bits = std::bit_cast<u32>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return narrow_small(value, format);
  const u32 mantissa = ((bits & 0x7fffffu) + (random >> (9 + format.mantissa))) & 0x7fffffu;
  return narrow_small(std::bit_cast<float>((bits & 0xff800000u) | mantissa), format);
}

template <Element E, Fp8Format K>
constexpr auto kWiden = [](u32 a) { return widen_fp8(static_cast<uint8_t>(a), E, K); };
template <Element E, Fp8Format K>
constexpr auto kWidenTwo = [](u32 a) {
  const u64 low = std::bit_cast<u32>(widen_fp8(static_cast<uint8_t>(a), E, K));
  const u64 high = std::bit_cast<u32>(widen_fp8(static_cast<uint8_t>(a >> 8), E, K));
  return low | high << 32;
};
template <Element E, Fp8Format K>
constexpr auto kNarrowTwo = [](float a, float b) {
  return static_cast<u16>(narrow_small(a, small_format(E, K)) | narrow_small(b, small_format(E, K))
                                                                    << 8);
};
template <Element E, Fp8Format K>
constexpr auto kStochastic =
    [](float a, u32 b) { return narrow_stochastic(a, b, small_format(E, K)); };
template <Element A, Element B>
constexpr auto kDot = [](u32 a, u32 b, float c) {
  for (unsigned i = 0; i < 32; i += 8)
    c += widen_fp8(static_cast<uint8_t>(a >> i), A, Fp8Format::ocp) *
         widen_fp8(static_cast<uint8_t>(b >> i), B, Fp8Format::ocp);
  return c;
};

/// Op::run of the FNUZ form of each entry, by the entry's parameter.
template <Element E>
constexpr Handler kFnuz[] = {
    lane_handler<kWiden<E, Fp8Format::fnuz>>, lane_handler<kWidenTwo<E, Fp8Format::fnuz>>,
    lane_handler<kNarrowTwo<E, Fp8Format::fnuz>>, lane_handler<kStochastic<E, Fp8Format::fnuz>>};
enum Fp8Form : int64_t { kWidenForm, kWidenTwoForm, kNarrowTwoForm, kStochasticForm, kBf8 = 8 };

/// Which byte or word op_sel and byte_sel name: `at` is the first op_sel element that counts.
unsigned selected(const Instruction& instruction, size_t at) {
  if (instruction.has("byte_sel")) return static_cast<unsigned>(instruction.value("byte_sel")) & 3u;
  const auto bit = [&](size_t i) {
    return static_cast<unsigned>(instruction.element("op_sel", i, 0));
  };
  return (bit(at) | bit(at + 1) << 1) & 3u;
}
Part byte_part(unsigned byte) {
  return static_cast<Part>(static_cast<unsigned>(Part::byte0) + byte);
}

Result<void> lower(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Semantics& entry = lowering.entry();
  const auto form = entry.parameter & 7;
  if (lowering.settings().arch.rfind("gfx94", 0) == 0)
    op.run = (entry.parameter & kBf8) != 0 ? kFnuz<Element::bf8>[form] : kFnuz<Element::fp8>[form];
  if (form == kNarrowTwoForm) return lowering.by_shape(instruction, entry, op);
  Instruction rest = instruction;
  std::erase_if(rest.modifiers, [](const auto& modifier) {
    return modifier.name == "op_sel" || modifier.name == "byte_sel";
  });
  HIPPLAN_TRY(lowering.by_shape(rest, entry, op));
  const bool chosen = rest.modifiers.size() != instruction.modifiers.size();
  if (form == kStochasticForm) {
    op.to.part = byte_part(selected(instruction, 2));
    op.to.rest = Destination::Rest::keep;
    op.plain = false;
  } else if (chosen && form == kWidenForm) {
    // The encoding has the two bits in reverse order, and op_sel shows them as encoded.
    const unsigned raw = selected(instruction, 0);
    const unsigned byte = instruction.has("byte_sel") ? raw : (raw & 1u) << 1 | raw >> 1;
    op.from[0].part = byte_part(byte);
    op.from[0].simple = false;
  } else if (chosen) {
    op.from[0].part = (selected(instruction, 0) & 1u) != 0 ? Part::word1 : Part::word0;
    op.from[0].simple = false;
  }
  return {};
}

// clang-format off
template <Element E>
void add(std::vector<Semantics>& table, bool fp8) {
  const int64_t which = fp8 ? int64_t{0} : int64_t{kBf8};
  table.push_back(isa::each("VOP1", "", "VOP1"));
  table.push_back(lanes<kWiden<E, Fp8Format::ocp>>(fp8 ? "v_cvt_f32_fp8" : "v_cvt_f32_bf8", 0, lower));
  table.back().parameter = kWidenForm | which;
  table.push_back(lanes<kWidenTwo<E, Fp8Format::ocp>>(fp8 ? "v_cvt_pk_f32_fp8" : "v_cvt_pk_f32_bf8", 0, lower));
  table.back().parameter = kWidenTwoForm | which;
  table.push_back(isa::each("VOP3", "", "VOP3"));
  table.push_back(lanes<kNarrowTwo<E, Fp8Format::ocp>>(fp8 ? "v_cvt_pk_fp8_f32" : "v_cvt_pk_bf8_f32", kKeepsHigh, lower));
  table.back().parameter = kNarrowTwoForm | which;
  table.push_back(lanes<kStochastic<E, Fp8Format::ocp>>(fp8 ? "v_cvt_sr_fp8_f32" : "v_cvt_sr_bf8_f32", 0, lower));
  table.back().parameter = kStochasticForm | which;
}
// clang-format on

}  // namespace

std::span<const Semantics> fp8_semantics() {
  static const std::vector<Semantics> table = [] {
    std::vector<Semantics> all;
    add<Element::fp8>(all, true);
    add<Element::bf8>(all, false);
    all.push_back(isa::rdna4("VOP3P"));
    all.push_back(lanes<kDot<Element::fp8, Element::fp8>>("v_dot4_f32_fp8_fp8"));
    all.push_back(lanes<kDot<Element::fp8, Element::bf8>>("v_dot4_f32_fp8_bf8"));
    all.push_back(lanes<kDot<Element::bf8, Element::fp8>>("v_dot4_f32_bf8_fp8"));
    all.push_back(lanes<kDot<Element::bf8, Element::bf8>>("v_dot4_f32_bf8_bf8"));
    return all;
  }();
  return table;
}

}  // namespace hipplan::emulator
