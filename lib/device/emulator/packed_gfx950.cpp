// Instructions that came with gfx950.
#include <vector>

#include "device/emulator/lanes.h"
#include "device/emulator/packed.h"

namespace hipplan::emulator {
namespace {

constexpr auto kPackBFloats = [](float low, float high) {
  return uint32_t{narrow_bfloat(low).bits} | uint32_t{narrow_bfloat(high).bits} << 16;
};
constexpr auto kPackHalves = [](float low, float high) {
  return uint32_t{narrow_half(low).bits} | uint32_t{narrow_half(high).bits} << 16;
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
    lanes<kPackBFloats>("v_cvt_pk_bf16_f32"),
    lanes<kPackHalves>("v_cvt_pk_f16_f32"),
    three_bits("v_bitop3_b32", three_bit_function<uint32_t>, Type::u32),
    three_bits("v_bitop3_b16", three_bit_function<uint16_t>, Type::u16),
};

}  // namespace

std::span<const Semantics> packed_gfx950_semantics() {
  return kPackedGfx950Table;
}

}  // namespace hipplan::emulator
