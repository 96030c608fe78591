// DS instructions: loads and stores in LDS, and the lane exchanges that share their encoding.
// ISA documents, "LDS & GDS Instructions" and "Data Share".
#include "device/emulator/transpose.h"

namespace hipplan::emulator {
namespace {

Result<void> vectors_only(const Instruction& instruction, const Op& op) {
  for (const Source& source : op.from)
    if (source.place != Place::none && source.place != Place::vgpr)
      return operand_error(instruction, "data and addresses must be vector registers");
  if (op.to.place == Place::sgpr) return operand_error(instruction, "the result must be a vector");
  return {};
}
/// offset:n, or offset0:a offset1:b in elements.
Result<void> lower_offsets(const Instruction& instruction, unsigned scale, Op& op) {
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset" && modifier.name != "offset0" && modifier.name != "offset1")
      return modifier_error(instruction, modifier.name);
  op.offset = scale == 0 ? instruction.value("offset") : instruction.value("offset0") * scale;
  op.offset2 = instruction.value("offset1") * scale - op.offset;  // beyond the first address
  return {};
}

Result<void> lower_lds_load(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  const auto scale = static_cast<unsigned>(lowering.entry().parameter >> 32);
  const unsigned words = transfer.words() * (scale == 0 ? 1u : 2u);
  op.space = Space::lds;
  op.bytes = transfer.bytes;
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::wide, words));
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(instruction.operands[1], Type::u32));
  HIPPLAN_TRY(vectors_only(instruction, op));
  return lower_offsets(instruction, scale, op);
}
Result<void> lower_lds_store(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  const auto scale = static_cast<unsigned>(lowering.entry().parameter >> 32);
  op.space = Space::lds;
  op.bytes = transfer.bytes;
  const auto& operands = instruction.operands;
  if (operands.size() != (scale == 0 ? 2u : 3u))
    return operand_error(instruction, "unexpected operands");
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kData], lowering.source(operands[1], Type::wide, transfer.words()));
  if (scale != 0) {
    HIPPLAN_TRY_ASSIGN(op.from[kData2], lowering.source(operands[2], Type::wide, transfer.words()));
  }
  HIPPLAN_TRY(vectors_only(instruction, op));
  return lower_offsets(instruction, scale, op);
}

template <unsigned Words>
void load_two(Wave& wave, const Op& op) {
  Places first, second;
  if (!find_places(wave, op, false, 0, first)) return;
  if (!find_places(wave, op, false, op.offset2, second)) return;
  load_word_lanes<Words>(first, wave.rows + op.to.index);
  load_word_lanes<Words>(second, wave.rows + op.to.index + Words);
}
template <unsigned Words>
void store_two(Wave& wave, const Op& op) {
  Places first, second;
  if (!find_places(wave, op, true, 0, first)) return;
  if (!find_places(wave, op, true, op.offset2, second)) return;
  constexpr Transfer kTransfer{Space::lds, 4 * Words};
  store_rows<kTransfer>(first, wave.rows + op.from[kData].index);
  store_rows<kTransfer>(second, wave.rows + op.from[kData2].index);
}

// Lane exchange --------------------------------------------------------------------------------

/// D[lane] = S1[S0[lane] / 4 mod lanes]; lanes that are off read as 0 unless FetchInactive.
template <bool FetchInactive>
void permute_backward(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  const Row index = wave.rows[op.from[kAddress].index], data = wave.rows[op.from[kData].index];
  Row result;
  for (unsigned i = 0; i < wave.lanes; ++i) {
    const auto from = ((index.lane[i] + static_cast<uint32_t>(op.offset)) / 4u) % wave.lanes;
    result.lane[i] = FetchInactive || ((exec >> from) & 1u) != 0 ? data.lane[from] : 0u;
  }
  copy_lanes(wave.rows[op.to.index].lane, result.lane, exec);
}
/// D[S0[lane] / 4 mod lanes] = S1[lane]; the highest lane wins, the others become 0.
void permute_forward(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  const Row index = wave.rows[op.from[kAddress].index], data = wave.rows[op.from[kData].index];
  Row result = {};
  for (unsigned i = 0; i < wave.lanes; ++i)
    if (((exec >> i) & 1u) != 0)
      result.lane[((index.lane[i] + static_cast<uint32_t>(op.offset)) / 4u) % wave.lanes] =
          data.lane[i];
  copy_lanes(wave.rows[op.to.index].lane, result.lane, exec);
}
/// The low five bits in reverse order.
unsigned reversed_lane(unsigned lane) {
  unsigned out = 0;
  for (unsigned bit = 0; bit < 5; ++bit) out |= ((lane >> bit) & 1u) << (4 - bit);
  return out;
}
/// Source lane of ds_swizzle, within 32 lanes: FFT order, rotation, quad permutation, or and, or
/// and xor masks.
unsigned swizzle_lane(uint32_t pattern, unsigned lane) {
  if ((pattern & 0xe000u) == 0xe000u) {  // bits under the mask stay, the others are reversed
    const unsigned mask = pattern & 31u;
    return (lane & ~31u) | (reversed_lane(lane) >> std::popcount(mask)) | (lane & mask);
  }
  if ((pattern & 0xe000u) == 0xc000u) {  // bit 10: from lower or from higher lanes
    const unsigned by = (pattern >> 5) & 31u, mask = pattern & 31u;
    const unsigned moved = (pattern & 0x400u) != 0 ? lane - by : lane + by;
    return (lane & ~31u) | (lane & mask) | (moved & 31u & ~mask);
  }
  if ((pattern & 0x8000u) != 0) return (lane & ~3u) | ((pattern >> (2 * (lane & 3u))) & 3u);
  const unsigned keep = pattern & 31u, set = (pattern >> 5) & 31u, flip = (pattern >> 10) & 31u;
  return (lane & ~31u) | ((((lane & 31u) & keep) | set) ^ flip);
}
void swizzle(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  const Row data = wave.rows[op.from[kAddress].index];
  Row result;
  for (unsigned i = 0; i < wave.lanes; ++i) {
    const unsigned from = swizzle_lane(static_cast<uint32_t>(op.immediate), i) % wave.lanes;
    result.lane[i] = ((exec >> from) & 1u) != 0 ? data.lane[from] : 0u;
  }
  copy_lanes(wave.rows[op.to.index].lane, result.lane, exec);
}

Result<void> lower_permute(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 3) return operand_error(instruction, "expected 3 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(instruction.operands[1], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kData], lowering.source(instruction.operands[2], Type::u32));
  HIPPLAN_TRY(vectors_only(instruction, op));
  return lower_offsets(instruction, 0, op);
}

Result<void> lower_swizzle(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(instruction.operands[1], Type::u32));
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.immediate = instruction.value("offset");  // named patterns are numbers since the disassembly
  return vectors_only(instruction, op);
}

// clang-format off
template <Transfer T>
constexpr Semantics load(std::string_view name) {
  return {.mnemonic = name, .run = load_lanes<T>, .flags = kVector, .lower = lower_lds_load, .parameter = T.pack()};
}
template <Transfer T>
constexpr Semantics store(std::string_view name) {
  return {.mnemonic = name, .run = store_lanes<T>, .flags = kVector, .lower = lower_lds_store, .parameter = T.pack()};
}
template <unsigned Words>
constexpr Semantics two(std::string_view name, bool is_store, int64_t scale) {
  return {.mnemonic = name, .run = is_store ? store_two<Words> : load_two<Words>, .flags = kVector,
          .lower = is_store ? lower_lds_store : lower_lds_load,
          .parameter = Transfer{Space::lds, 4 * Words}.pack() | scale << 32};
}
template <Handler Run, uint8_t Bytes>
constexpr Semantics transposed(std::string_view name) {
  return {.mnemonic = name, .run = Run, .flags = kVector, .lower = lower_lds_load, .parameter = Transfer{Space::lds, Bytes}.pack()};
}
constexpr Space L = Space::lds;

constexpr Semantics kLdsTable[] = {
    isa::all("DS"),
    load<Transfer{L, 4}>("ds_read_b32"), load<Transfer{L, 8}>("ds_read_b64"),
    load<Transfer{L, 12}>("ds_read_b96"), load<Transfer{L, 16}>("ds_read_b128"),
    load<Transfer{L, 1}>("ds_read_u8"), load<Transfer{L, 1, true}>("ds_read_i8"),
    load<Transfer{L, 2}>("ds_read_u16"), load<Transfer{L, 2, true}>("ds_read_i16"),
    load<Transfer{L, 1, false, Part::word0}>("ds_read_u8_d16"), load<Transfer{L, 1, false, Part::word1}>("ds_read_u8_d16_hi"),
    load<Transfer{L, 1, true, Part::word0}>("ds_read_i8_d16"), load<Transfer{L, 1, true, Part::word1}>("ds_read_i8_d16_hi"),
    load<Transfer{L, 2, false, Part::word0}>("ds_read_u16_d16"), load<Transfer{L, 2, false, Part::word1}>("ds_read_u16_d16_hi"),
    store<Transfer{L, 4}>("ds_write_b32"), store<Transfer{L, 8}>("ds_write_b64"),
    store<Transfer{L, 12}>("ds_write_b96"), store<Transfer{L, 16}>("ds_write_b128"),
    store<Transfer{L, 1}>("ds_write_b8"), store<Transfer{L, 2}>("ds_write_b16"),
    store<Transfer{L, 1, false, Part::word1}>("ds_write_b8_d16_hi"), store<Transfer{L, 2, false, Part::word1}>("ds_write_b16_d16_hi"),
    two<1>("ds_read2_b32", false, 4), two<2>("ds_read2_b64", false, 8),
    two<1>("ds_read2st64_b32", false, 256), two<2>("ds_read2st64_b64", false, 512),
    two<1>("ds_write2_b32", true, 4), two<2>("ds_write2_b64", true, 8),
    two<1>("ds_write2st64_b32", true, 256), two<2>("ds_write2st64_b64", true, 512),
    {.mnemonic = "ds_bpermute_b32", .run = permute_backward<false>, .flags = kVector, .lower = lower_permute},
    {.mnemonic = "ds_permute_b32", .run = permute_forward, .flags = kVector, .lower = lower_permute},
    {.mnemonic = "ds_swizzle_b32", .run = swizzle, .flags = kVector, .lower = lower_swizzle},

    isa::cdna("DS"),
    transposed<load_transposed<4, 2, 16>, 8>("ds_read_b64_tr_b4"), transposed<load_transposed<8, 2, 16>, 8>("ds_read_b64_tr_b8"),
    transposed<load_transposed<16, 2, 16>, 8>("ds_read_b64_tr_b16"), transposed<load_transposed<6, 3, 16>, 12>("ds_read_b96_tr_b6"),

    isa::rdna4("DS"),
    {.mnemonic = "ds_bpermute_fi_b32", .run = permute_backward<true>, .flags = kVector, .lower = lower_permute},
};
// clang-format on

}  // namespace

std::span<const Semantics> lds_semantics() {
  return kLdsTable;
}

}  // namespace hipplan::emulator
