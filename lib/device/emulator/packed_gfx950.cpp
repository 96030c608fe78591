// Instructions that came with gfx950. CDNA4 ISA, "VOP3 Instructions".
#include <algorithm>
#include <vector>

#include "device/emulator/lanes.h"
#include "device/emulator/packed.h"
#include "device/emulator/small_floats.h"

namespace hipplan::emulator {
namespace {

constexpr auto kPackBFloats = [](float low, float high) {
  return uint32_t{narrow_bfloat(low).bits} | uint32_t{narrow_bfloat(high).bits} << 16;
};
template <bool Directed>
constexpr auto kPackHalves = [](float low, float high) {
  return uint32_t{to_bits<Directed>(HalfOf<float>{low})} |
         uint32_t{to_bits<Directed>(HalfOf<float>{high})} << 16;
};
constexpr Semantics pack_halves(std::string_view mnemonic) {
  Semantics entry = lanes<kPackHalves<false>>(mnemonic);
  entry.directed = lane_handler<kPackHalves<true>>;
  return entry;
}

/// Adds the upper random bits below the last place that is kept and cuts off.
constexpr auto kStochasticBFloat = [](float a, uint32_t random) {
  const uint32_t bits = std::bit_cast<uint32_t>(a);
  const bool special = (bits & 0x7f800000u) == 0x7f800000u;
  return BFloat{special ? narrow_bfloat(a).bits
                        : static_cast<uint16_t>((bits + (random >> 16)) >> 16)};
};
constexpr auto kStochasticHalf = [](float a, uint32_t random) {
  constexpr SmallFormat kBinary16{10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
  return Half{static_cast<uint16_t>(narrow_small_stochastic(a, random, kBinary16))};
};
template <int Low, int High>
constexpr auto kShiftPack = [](int32_t a, int32_t b, uint32_t by) {
  const auto byte = [by](int32_t v) {
    return static_cast<uint32_t>(std::clamp(v >> (by & 31u), Low, High)) & 255u;
  };
  return static_cast<uint16_t>(byte(a) | byte(b) << 8);
};

/// Any function of three bits: bit 4a + 2b + c of the table is the result. Op::immediate is the
/// table.
template <class T>
void three_bit_function(Wave& wave, const Op& op) {
  Buffer<T> scratch[3], out;
  const auto* a = fetch(wave, op, 0, scratch[0].lane);
  const auto* b = fetch(wave, op, 1, scratch[1].lane);
  const auto* c = fetch(wave, op, 2, scratch[2].lane);
  for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
    unsigned result = 0;
    for (unsigned entry = 0; entry < 8; ++entry) {
      if (((op.immediate >> entry) & 1) == 0) continue;
      const unsigned x = (entry & 4) != 0 ? a[lane] : ~unsigned{a[lane]};
      const unsigned y = (entry & 2) != 0 ? b[lane] : ~unsigned{b[lane]};
      const unsigned z = (entry & 1) != 0 ? c[lane] : ~unsigned{c[lane]};
      result |= x & y & z;
    }
    out.lane[lane] = static_cast<Bits<T>>(result);
  }
  store(wave, op, op.to, out.lane, active_lanes(wave, op));
}

Result<void> lower_three_bit_function(const Instruction& instruction, Lowering& lowering, Op& op) {
  Instruction rest = instruction;
  std::erase_if(rest.modifiers, [](const auto& modifier) { return modifier.name == "bitop3"; });
  op.immediate = static_cast<uint64_t>(instruction.value("bitop3")) & 0xff;
  return lowering.by_shape(rest, lowering.entry(), op);
}

constexpr Semantics three_bits(std::string_view mnemonic, Handler run, Type type) {
  return {.mnemonic = mnemonic,
          .run = run,
          .shape = {.to = type, .also = Type::none, .from = {type, type, type}, .sources = 3},
          .flags = kVector,
          .lower = lower_three_bit_function};
}

constexpr Semantics kPackedGfx950Table[] = {
    isa::cdna("VOP3"),
    lanes<kPackBFloats>("v_cvt_pk_bf16_f32"),
    pack_halves("v_cvt_pk_f16_f32"),
    lanes<kStochasticBFloat>("v_cvt_sr_bf16_f32", kKeepsHigh),
    lanes<kStochasticHalf>("v_cvt_sr_f16_f32", kKeepsHigh),
    lanes<kShiftPack<-128, 127>>("v_ashr_pk_i8_i32", kKeepsHigh),
    lanes<kShiftPack<0, 255>>("v_ashr_pk_u8_i32", kKeepsHigh),
    three_bits("v_bitop3_b32", three_bit_function<uint32_t>, Type::u32),
    three_bits("v_bitop3_b16", three_bit_function<uint16_t>, Type::u16),
};

}  // namespace

std::span<const Semantics> packed_gfx950_semantics() {
  return kPackedGfx950Table;
}

}  // namespace hipplan::emulator
