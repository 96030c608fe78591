// DS_APPEND and DS_CONSUME, and loads that go from global memory right into LDS. Sections "Data
// Share" and "Memory Buffer Load to LDS" of the ISA documents.
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Byte of LDS that M0 names.
uint64_t m0_place(const Wave& wave, const Op& op) {
  return (wave.scalars[scalar::kM0] & 0xffffu) + static_cast<uint64_t>(op.offset);
}

/// Adds the number of active lanes to a counter, or takes it off; every lane gets the old value.
template <bool Append>
void count_lanes(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  const int first = exec == 0 ? 0 : std::countr_zero(exec);
  std::byte* at = reach_lds(wave, m0_place(wave, op), 4, first, true);
  if (at == nullptr) return;
  if (exec == 0) return;
  Places places;
  places.mask = uint64_t{1} << first;
  places.at[first] = at;
  if (wave.monitor != nullptr && !wave.monitor->access(wave, op, true, places)) return;
  const auto lanes = static_cast<uint32_t>(std::popcount(exec));
  uint32_t old = 0;
  std::memcpy(&old, at, 4);
  const uint32_t next = Append ? old + lanes : old - lanes;
  std::memcpy(at, &next, 4);
  Row row;
  std::fill_n(row.lane, kMaxLanes, old);
  copy_lanes(wave.rows[op.to.index].lane, row.lane, exec);
}
Result<void> lower_count(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.offset = instruction.value("offset");
  op.bytes = 4;
  return {};
}

/// Lane i's bytes go to M0 + offset + i * bytes, whichever lanes are on.
template <unsigned Bytes, bool Signed>
void load_to_lds(Wave& wave, const Op& op) {
  Places places;
  if (!find_places(wave, op, false, 0, places)) return;
  constexpr unsigned kStored = Bytes < 4 ? 4 : Bytes;
  Places stored;
  stored.mask = places.mask;
  constexpr Transfer kTransfer{.space = Space::global, .bytes = Bytes, .sign_extend = Signed};
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t to = m0_place(wave, op) + static_cast<uint64_t>(lane) * kStored;
    stored.at[lane] = reach_lds(wave, to, kStored, lane, true);
    if (stored.at[lane] == nullptr) return;
  }
  if (wave.monitor != nullptr) {
    Op store = op;
    store.bytes = kStored;
    if (!wave.monitor->access(wave, store, true, stored)) return;
  }
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    std::byte* const at = stored.at[lane];
    if constexpr (Bytes < 4) {
      const uint32_t value = widen_small<kTransfer>(places.at[lane]);
      std::memcpy(at, &value, 4);
    } else {
      std::memcpy(at, places.at[lane], Bytes);
    }
  }
  wave.counters.bytes_read += moved_bytes(places, Bytes);
  wave.counters.bytes_written += moved_bytes(places, kStored);
}
/// vaddr, then a scalar base or "off".
Result<void> lower_load_to_lds(const Instruction& instruction, Lowering& lowering, Op& op) {
  // The general lowering wants a destination; the address register stands in and is not written.
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  Instruction shown = instruction;
  disassembly::Operand data;
  data.kind = disassembly::OperandKind::vgpr;
  shown.operands.insert(shown.operands.begin(), data);
  HIPPLAN_TRY(lower_vector_load(shown, lowering, op));
  op.to = {};
  op.bytes = static_cast<uint8_t>(lowering.entry().parameter >> 32);
  return {};
}

template <unsigned Bytes, bool Signed = false>
constexpr Semantics to_lds(std::string_view name) {
  return {.mnemonic = name,
          .run = load_to_lds<Bytes, Signed>,
          .flags = kVector,
          .lower = lower_load_to_lds,
          .parameter = Transfer{Space::global, 4}.pack() | int64_t{Bytes} << 32};
}

constexpr Semantics kLdsDirectTable[] = {
    isa::all("DS"),
    {.mnemonic = "ds_append", .run = count_lanes<true>, .flags = kVector, .lower = lower_count},
    {.mnemonic = "ds_consume", .run = count_lanes<false>, .flags = kVector, .lower = lower_count},

    isa::cdna("GLOBAL"),
    to_lds<4>("global_load_lds_dword"),
    to_lds<12>("global_load_lds_dwordx3"),
    to_lds<16>("global_load_lds_dwordx4"),
    to_lds<1>("global_load_lds_ubyte"),
    to_lds<1, true>("global_load_lds_sbyte"),
    to_lds<2>("global_load_lds_ushort"),
    to_lds<2, true>("global_load_lds_sshort"),
};

}  // namespace

std::span<const Semantics> lds_direct_semantics() {
  return kLdsDirectTable;
}

}  // namespace hipplan::emulator
