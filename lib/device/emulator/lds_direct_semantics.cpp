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
    if (places.at[lane] == nullptr) {  // beyond the end of a buffer
      std::memset(at, 0, kStored);
      continue;
    }
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
/// Lowers the address half. The general lowering wants a destination; a vector register stands in
/// and is not written.
Result<void> lower_direct(const Instruction& instruction, Space space, unsigned bytes,
                          const Lowering& lowering, Op& op) {
  Instruction shown = instruction;
  disassembly::Operand data;
  data.kind = disassembly::OperandKind::vgpr;
  shown.operands.insert(shown.operands.begin(), data);
  std::erase_if(shown.modifiers, [](const auto& modifier) { return modifier.name == "lds"; });
  HIPPLAN_TRY(lower_load_of(shown, Transfer{space, 4}, lowering, op));
  op.to = {};
  op.bytes = static_cast<uint8_t>(bytes);
  return {};
}
Result<void> lower_load_to_lds(const Instruction& instruction, Lowering& lowering, Op& op) {
  const int64_t parameter = lowering.entry().parameter;
  return lower_direct(instruction, Transfer::from(parameter).space,
                      static_cast<unsigned>(parameter >> 32), lowering, op);
}

/// What a load moves, by the end of its name.
struct Direct {
  std::string_view ending;
  unsigned bytes;
  Handler run;
};
constexpr Direct kDirect[] = {
    {"_ubyte", 1, load_to_lds<1, false>},    {"_sbyte", 1, load_to_lds<1, true>},
    {"_ushort", 2, load_to_lds<2, false>},   {"_sshort", 2, load_to_lds<2, true>},
    {"_dword", 4, load_to_lds<4, false>},    {"_dwordx3", 12, load_to_lds<12, false>},
    {"_dwordx4", 16, load_to_lds<16, false>}};

/// One value for all lanes: M0 has its address, and its type in bits 16 to 18.
void load_direct(Wave& wave, const Op& op) {
  struct Kind {
    uint8_t bytes;
    bool sign_extend;
  };
  constexpr Kind kKinds[8] = {{1, false}, {2, false}, {4, false}, {}, {1, true}, {2, true}, {}, {}};
  const uint32_t m0 = wave.scalars[scalar::kM0];
  const Kind kind = kKinds[m0 >> 16 & 7u];
  if (kind.bytes == 0) {
    wave.fail({.reason = "bad-lds-address", .what = cat("M0 ", hex(m0), " names no type of data")});
    return;
  }
  Places places;
  places.mask = wave.exec();
  if (places.mask == 0) return;
  const int first = std::countr_zero(places.mask);
  std::byte* const at = reach_lds(wave, m0 & 0xffffu, kind.bytes, first, false);
  if (at == nullptr) return;
  for (std::byte*& place : places.at) place = at;
  Op access = op;
  access.bytes = kind.bytes;
  if (wave.monitor != nullptr && !wave.monitor->access(wave, access, false, places)) return;
  uint32_t value = 0;
  std::memcpy(&value, at, kind.bytes);
  const unsigned above = 32u - 8u * kind.bytes;
  if (kind.sign_extend)
    value = static_cast<uint32_t>(static_cast<int32_t>(value << above) >> above);
  Row row;
  std::fill_n(row.lane, kMaxLanes, value);
  copy_lanes(wave.rows[op.to.index].lane, row.lane, places.mask);
  wave.counters.bytes_read += moved_bytes(places, kind.bytes);
}
Result<void> lower_load_direct(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name.rfind("wait_", 0) != 0) return modifier_error(instruction, modifier.name);
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  if (op.to.place != Place::vgpr) return operand_error(instruction, "the result must be a vector");
  op.space = Space::lds;
  return {};
}

template <unsigned Bytes, bool Signed = false>
constexpr Semantics to_lds(std::string_view name, Space space = Space::global) {
  return {.mnemonic = name,
          .run = load_to_lds<Bytes, Signed>,
          .flags = kVector,
          .lower = lower_load_to_lds,
          .parameter = Transfer{space, 4}.pack() | int64_t{Bytes} << 32};
}

constexpr Semantics kLdsDirectTable[] = {
    isa::all("DS"),
    {.mnemonic = "ds_append", .run = count_lanes<true>, .flags = kVector, .lower = lower_count},
    {.mnemonic = "ds_consume", .run = count_lanes<false>, .flags = kVector, .lower = lower_count},

    isa::each("", "LDSDIR", "VDSDIR"),
    {.mnemonic = "lds_direct_load",
     .run = load_direct,
     .flags = kVector,
     .lower = lower_load_direct},

    isa::cdna("GLOBAL"),
    to_lds<4>("global_load_lds_dword"),
    to_lds<12>("global_load_lds_dwordx3"),
    to_lds<16>("global_load_lds_dwordx4"),
    to_lds<1>("global_load_lds_ubyte"),
    to_lds<1, true>("global_load_lds_sbyte"),
    to_lds<2>("global_load_lds_ushort"),
    to_lds<2, true>("global_load_lds_sshort"),

    isa::cdna("SCRATCH"),
    to_lds<4>("scratch_load_lds_dword", Space::scratch),
    to_lds<1>("scratch_load_lds_ubyte", Space::scratch),
    to_lds<1, true>("scratch_load_lds_sbyte", Space::scratch),
    to_lds<2>("scratch_load_lds_ushort", Space::scratch),
    to_lds<2, true>("scratch_load_lds_sshort", Space::scratch),
};

}  // namespace

Result<void> lower_lds_modifier(const Instruction& instruction, Space space,
                                const Lowering& lowering, Op& op) {
  for (const Direct& direct : kDirect) {
    if (!instruction.mnemonic.ends_with(direct.ending)) continue;
    op.run = direct.run;
    return lower_direct(instruction, space, direct.bytes, lowering, op);
  }
  return modifier_error(instruction, "lds");
}

std::span<const Semantics> lds_direct_semantics() {
  return kLdsDirectTable;
}

}  // namespace hipplan::emulator
