// DS instructions that address by lane number, or exchange two values at once. ISA documents, "LDS
// & GDS Instructions" and "Data Share".
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Lane i's dword: M0 + offset + 4 * i. False after a fault.
bool thread_places(Wave& wave, const Op& op, bool write, Places& places) {
  Buffer<uint64_t> offset;
  for (unsigned i = 0; i < wave.lanes; ++i) offset.lane[i] = m0_place(wave, op) + 4 * i;
  return find_lds_places(wave, op, write, wave.exec(), offset.lane, places);
}
template <bool Store>
Result<void> lower_by_thread(const Instruction& instruction, Lowering& lowering, Op& op) {
  op.bytes = 4;
  HIPPLAN_TRY(lower_lds_offset(instruction, op));
  return Store ? lower_data(instruction, 0, 1, lowering, op)
               : lower_result(instruction, 0, 1, lowering, op);
}

/// Each of two dwords on its own: bit 31 of the data says whether it is replaced, by the other
/// bits. The pair's address is rounded down to 8 bytes; beyond 64 KiB it does not wrap but faults.
void exchange_marked(Wave& wave, const Op& op) {
  Buffer<uint64_t> offset;
  const uint32_t* address = wave.rows[op.from[kAddress].index].lane;
  for (unsigned i = 0; i < wave.lanes; ++i)
    offset.lane[i] = (address[i] + static_cast<uint32_t>(op.offset)) & ~7u;
  Places places;
  if (!find_lds_places(wave, op, true, wave.exec(), offset.lane, places)) return;
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint32_t old[2], next[2];
    std::memcpy(old, places.at[lane], 8);
    for (unsigned w = 0; w < 2; ++w) {
      const uint32_t data = wave.rows[op.from[kData].index + w].lane[lane];
      next[w] = data >> 31 != 0 ? data & 0x7fffffffu : old[w];
    }
    std::memcpy(places.at[lane], next, 8);
    for (unsigned w = 0; w < 2; ++w) wave.rows[op.to.index + w].lane[lane] = old[w];
  }
}
/// Result, address, data.
Result<void> lower_exchange_marked(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != 3) return operand_error(instruction, "expected 3 operands");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.space = Space::lds;
  op.bytes = 8;
  op.offset = instruction.value("offset");
  HIPPLAN_TRY(lower_result(instruction, 0, 2, lowering, op));
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(operands[1], Type::u32));
  HIPPLAN_TRY(lower_data(instruction, 2, 2, lowering, op));
  if (op.from[kAddress].place == Place::vgpr) return {};
  return operand_error(instruction, "the address must be a vector register");
}

/// Both old values are read before either new one is written.
template <unsigned Words>
void exchange_two(Wave& wave, const Op& op) {
  Places first, second;
  if (!find_places(wave, op, true, 0, first)) return;
  if (!find_places(wave, op, true, op.offset2, second)) return;
  for (uint64_t left = first.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (const std::byte* at : {first.at[lane], second.at[lane]})
      if (!check_alignment(wave, reinterpret_cast<uintptr_t>(at), op.bytes, lane)) return;
    uint32_t old[2 * Words], next[2 * Words];
    for (unsigned w = 0; w < Words; ++w) {
      next[w] = wave.rows[op.from[kData].index + w].lane[lane];
      next[Words + w] = wave.rows[op.from[kData2].index + w].lane[lane];
    }
    std::memcpy(old, first.at[lane], 4 * Words);
    std::memcpy(old + Words, second.at[lane], 4 * Words);
    std::memcpy(first.at[lane], next, 4 * Words);
    std::memcpy(second.at[lane], next + Words, 4 * Words);
    for (unsigned w = 0; w < 2 * Words; ++w) wave.rows[op.to.index + w].lane[lane] = old[w];
  }
}
/// Result, address, two values; offset0 and offset1 count elements, or runs of 64.
Result<void> lower_exchange_two(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto bytes = static_cast<unsigned>(lowering.entry().parameter & 0xff);
  const int64_t scale = lowering.entry().parameter >> 8;
  const auto& operands = instruction.operands;
  if (operands.size() != 4) return operand_error(instruction, "expected 4 operands");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset0" && modifier.name != "offset1")
      return modifier_error(instruction, modifier.name);
  op.space = Space::lds;
  op.bytes = static_cast<uint8_t>(bytes);
  op.offset = instruction.value("offset0") * scale;
  op.offset2 = instruction.value("offset1") * scale - op.offset;
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::wide, bytes / 2));
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(operands[1], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kData], lowering.source(operands[2], Type::wide, bytes / 4));
  HIPPLAN_TRY_ASSIGN(op.from[kData2], lowering.source(operands[3], Type::wide, bytes / 4));
  const bool vectors = op.to.place == Place::vgpr && op.from[kAddress].place == Place::vgpr &&
                       op.from[kData].place == Place::vgpr && op.from[kData2].place == Place::vgpr;
  if (!vectors) return operand_error(instruction, "expected vector registers");
  return {};
}

template <unsigned Words>
constexpr Semantics exchange(std::string_view name, int64_t scale) {
  return {.mnemonic = name,
          .run = exchange_two<Words>,
          .flags = kVector,
          .lower = lower_exchange_two,
          .parameter = 4 * Words | scale << 8};
}

constexpr Semantics kLdsExchangeTable[] = {
    isa::all("DS"),
    {.mnemonic = "ds_read_addtid_b32",
     .run = load_dwords<thread_places>,
     .flags = kVector,
     .lower = lower_by_thread<false>},
    {.mnemonic = "ds_write_addtid_b32",
     .run = store_dwords<thread_places>,
     .flags = kVector,
     .lower = lower_by_thread<true>},
    {.mnemonic = "ds_condxchg32_rtn_b64",
     .run = exchange_marked,
     .flags = kVector,
     .lower = lower_exchange_marked},
    exchange<1>("ds_wrxchg2_rtn_b32", 4),
    exchange<2>("ds_wrxchg2_rtn_b64", 8),
    exchange<1>("ds_wrxchg2st64_rtn_b32", 256),
    exchange<2>("ds_wrxchg2st64_rtn_b64", 512),
    {.mnemonic = "ds_nop", .run = do_nothing, .flags = kVector, .lower = lower_nothing},
};

}  // namespace

std::span<const Semantics> lds_exchange_semantics() {
  return kLdsExchangeTable;
}

}  // namespace hipplan::emulator
