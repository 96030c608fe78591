// DS_APPEND and DS_CONSUME, and loads that go from global memory right into LDS. Sections "Data
// Share" and "Memory Buffer Load to LDS" of the ISA documents.
#include "device/emulator/monitor.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {
namespace {

/// Adds the number of active lanes to a counter, or takes it off; every lane gets the old value.
template <bool Append>
void count_lanes(Wave& wave, const Op& op) {
  const uint64_t exec = wave.exec();
  if (exec == 0) return;
  const int first = std::countr_zero(exec);
  Buffer<uint64_t> offset;
  offset.lane[first] = m0_place(wave, op);
  Places places;
  if (!find_lds_places(wave, op, true, uint64_t{1} << first, offset.lane, places)) return;
  std::byte* const at = places.at[first];
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
  op.bytes = 4;
  HIPPLAN_TRY(lower_lds_offset(instruction, op));
  return lower_result(instruction, 0, 1, lowering, op);
}

/// Lane i's bytes go to M0 + offset + i * bytes, whichever lanes are on.
template <unsigned Bytes, bool Signed>
void load_to_lds(Wave& wave, const Op& op) {
  Places places;
  if (!find_places(wave, op, false, 0, places)) return;
  constexpr unsigned kStored = Bytes < 4 ? 4 : Bytes;
  constexpr Transfer kTransfer{.space = Space::global, .bytes = Bytes, .sign_extend = Signed};
  Buffer<uint64_t> offset;
  for (unsigned i = 0; i < wave.lanes; ++i) offset.lane[i] = m0_place(wave, op) + i * kStored;
  Op store = op;
  store.bytes = kStored;
  Places stored;
  if (!find_lds_places(wave, store, true, places.mask, offset.lane, stored)) return;
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
}
Result<void> lower_direct(const Instruction& instruction, Space space, unsigned bytes,
                          const Lowering& lowering, Op& op) {
  op.space = space;
  op.bytes = static_cast<uint8_t>(bytes);
  op.lds = true;
  if (instruction.operands.empty()) return operand_error(instruction, "too few operands");
  HIPPLAN_TRY(lower_hints(instruction, op));
  return lower_place(instruction, 0, 1, lowering, op);
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
  const uint64_t exec = wave.exec();
  if (exec == 0) return;
  Buffer<uint64_t> offset;
  std::fill_n(offset.lane, kMaxLanes, m0 & 0xffffu);
  Op access = op;
  access.bytes = kind.bytes;
  Places places;
  if (!find_lds_places(wave, access, false, exec, offset.lane, places)) return;
  const std::byte* const at = places.at[std::countr_zero(exec)];
  uint32_t value = 0;
  std::memcpy(&value, at, kind.bytes);
  const unsigned above = 32u - 8u * kind.bytes;
  if (kind.sign_extend)
    value = static_cast<uint32_t>(static_cast<int32_t>(value << above) >> above);
  Row row;
  std::fill_n(row.lane, kMaxLanes, value);
  copy_lanes(wave.rows[op.to.index].lane, row.lane, exec);
}
Result<void> lower_load_direct(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name.rfind("wait_", 0) != 0) return modifier_error(instruction, modifier.name);
  op.space = Space::lds;
  return lower_result(instruction, 0, 1, lowering, op);
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
