// DS instructions that address by lane number, or exchange two values at once. ISA documents, "LDS
// & GDS Instructions" and "Data Share".
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Lane i's dword: M0 + offset + 4 * i. False after a fault.
bool thread_places(Wave& wave, const Op& op, bool write, Places& places) {
  places.mask = wave.exec();
  const uint64_t base =
      (wave.scalars[scalar::kM0] & 0xffffu) + static_cast<uint64_t>(op.offset & 0xffff);
  for (int lane = 0; lane < wave.lanes; ++lane) {
    places.at[lane] = nullptr;
    if (((places.mask >> lane) & 1u) == 0) continue;
    places.at[lane] = reach_lds(wave, base + 4 * static_cast<uint64_t>(lane), 4, lane, write);
    if (places.at[lane] == nullptr) return false;
  }
  return wave.monitor == nullptr || wave.monitor->access(wave, op, write, places);
}
void load_by_thread(Wave& wave, const Op& op) {
  Places places;
  if (!thread_places(wave, op, false, places)) return;
  load_word_lanes<1>(places, wave.rows + op.to.index);
  wave.counters.bytes_read += moved_bytes(places, 4);
}
void store_by_thread(Wave& wave, const Op& op) {
  Places places;
  if (!thread_places(wave, op, true, places)) return;
  store_rows<Transfer{Space::lds, 4}>(places, wave.rows + op.from[kData].index);
  wave.counters.bytes_written += moved_bytes(places, 4);
}
Result<void> lower_by_thread(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.offset = instruction.value("offset");
  op.bytes = 4;
  op.space = Space::lds;
  Place place = Place::none;
  if (lowering.entry().parameter != 0) {
    HIPPLAN_TRY_ASSIGN(op.from[kData], lowering.source(instruction.operands[0], Type::u32));
    place = op.from[kData].place;
  } else {
    HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
    place = op.to.place;
  }
  if (place != Place::vgpr) return operand_error(instruction, "the data must be a vector");
  return {};
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
      if (reinterpret_cast<uintptr_t>(at) % op.bytes != 0) {
        wave.fail({.reason = "misaligned",
                   .what = cat("an atomic of ", int{op.bytes}, " bytes is not aligned"),
                   .lane = lane});
        return;
      }
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
  wave.counters.bytes_read += 2 * moved_bytes(first, op.bytes);
  wave.counters.bytes_written += 2 * moved_bytes(first, op.bytes);
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
void do_nothing(Wave&, const Op&) {}
Result<void> lower_no_operands(const Instruction&, Lowering&, Op&) {
  return {};
}

constexpr Semantics kLdsExchangeTable[] = {
    isa::all("DS"),
    {.mnemonic = "ds_read_addtid_b32",
     .run = load_by_thread,
     .flags = kVector,
     .lower = lower_by_thread},
    {.mnemonic = "ds_write_addtid_b32",
     .run = store_by_thread,
     .flags = kVector,
     .lower = lower_by_thread,
     .parameter = 1},
    exchange<1>("ds_wrxchg2_rtn_b32", 4),
    exchange<2>("ds_wrxchg2_rtn_b64", 8),
    exchange<1>("ds_wrxchg2st64_rtn_b32", 256),
    exchange<2>("ds_wrxchg2st64_rtn_b64", 512),
    {.mnemonic = "ds_nop", .run = do_nothing, .flags = kVector, .lower = lower_no_operands},
};

}  // namespace

std::span<const Semantics> lds_exchange_semantics() {
  return kLdsExchangeTable;
}

}  // namespace hipplan::emulator
