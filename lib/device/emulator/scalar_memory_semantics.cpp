// SMEM: scalar loads. Addresses are dword-aligned by clearing their low bits. ISA
// documents, "Scalar Memory Operations" and "SMEM Instructions".
#include "device/emulator/access.h"
#include "device/emulator/buffer_resource.h"

namespace hipplan::emulator {
namespace {

using disassembly::OperandKind;

void load_words(Wave& wave, const Op& op) {
  const uint64_t base = read_scalar(wave, op.from[0]);
  const uint64_t offset = (read_scalar(wave, op.from[1]) & 0xffffffffull) + op.offset;
  const uint64_t address = (base + offset) & ~3ull;
  const std::byte* from = reach_scalar(wave, op, address, op.bytes);
  if (from == nullptr) return;
  std::memcpy(wave.scalars + op.to.index, from, op.bytes);
  if (wave.lanes == 32) wave.scalars[scalar::kExec + 1] = 0;
  wave.counters.bytes_read += op.bytes;
}

/// One byte or two, extended to a dword.
template <class T>
void load_small(Wave& wave, const Op& op) {
  const uint64_t offset = (read_scalar(wave, op.from[1]) & 0xffffffffull) + op.offset;
  const std::byte* from = reach_scalar(wave, op, read_scalar(wave, op.from[0]) + offset, sizeof(T));
  if (from == nullptr) return;
  T value;
  std::memcpy(&value, from, sizeof(T));
  write_scalar(wave, op.to, static_cast<uint32_t>(static_cast<int32_t>(value)));
  wave.counters.bytes_read += sizeof(T);
}

/// Dwords beyond the resource's size read 0.
void load_buffer_words(Wave& wave, const Op& op) {
  const BufferResource resource(wave.scalars + op.from[0].index, false);
  const uint64_t start =
      ((read_scalar(wave, op.from[1]) & 0xffffffffull) + static_cast<uint64_t>(op.offset)) & ~3ull;
  uint32_t words[16] = {};
  for (unsigned i = 0; i < op.bytes / 4u; ++i) {
    if (start + 4 * i + 4 > resource.scalar_size()) continue;
    const std::byte* from = reach_scalar(wave, op, resource.base + start + 4 * i, 4);
    if (from == nullptr) return;
    std::memcpy(words + i, from, 4);
  }
  std::memcpy(wave.scalars + op.to.index, words, op.bytes);
  wave.counters.bytes_read += op.bytes;
}

/// One byte or two, extended to a dword; 0 beyond the resource's size.
template <class T>
void load_buffer_small(Wave& wave, const Op& op) {
  const BufferResource resource(wave.scalars + op.from[0].index, false);
  const uint64_t start =
      (read_scalar(wave, op.from[1]) & 0xffffffffull) + static_cast<uint64_t>(op.offset);
  T value{};
  if (start + sizeof(T) <= resource.scalar_size()) {
    const std::byte* from = reach_scalar(wave, op, resource.base + start, sizeof(T));
    if (from == nullptr) return;
    std::memcpy(&value, from, sizeof(T));
    wave.counters.bytes_read += sizeof(T);
  }
  write_scalar(wave, op.to, static_cast<uint32_t>(static_cast<int32_t>(value)));
}

void read_clock(Wave& wave, const Op& op) {
  write_scalar(wave, op.to, clock_of(wave));
}

/// sdst, base, then a number, a register, or a register with offset:n.
Result<void> lower_load(const Instruction& instruction, Lowering& lowering, Op& op) {
  const auto bytes = static_cast<unsigned>(lowering.entry().parameter & 0xff);
  const bool buffer = (lowering.entry().parameter & 0x100) != 0;
  const auto& operands = instruction.operands;
  if (operands.size() < 2 || operands.size() > 3)
    return operand_error(instruction, "expected 2 or 3 operands");
  op.bytes = static_cast<uint8_t>(bytes);
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(operands[0], Type::wide, std::max(1u, bytes / 4)));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(operands[1], Type::wide, buffer ? 4 : 2));
  if (op.to.place != Place::sgpr || op.from[0].place != Place::sgpr)
    return operand_error(instruction, "expected scalar registers");
  op.from[1].place = Place::constant;
  if (operands.size() == 3) {
    if (operands[2].is_constant()) {
      op.offset = operands[2].integer;
    } else if (operands[2].kind != OperandKind::off) {
      HIPPLAN_TRY_ASSIGN(op.from[1], lowering.source(operands[2], Type::u32));
    }
  }
  for (const auto& modifier : instruction.modifiers) {
    if (modifier.name == "offset")
      op.offset = instruction.value("offset");
    else if (modifier.name != "glc" && modifier.name != "dlc" && modifier.name != "th" &&
             modifier.name != "scope" && modifier.name != "nv")
      return modifier_error(instruction, modifier.name);
  }
  return {};
}
Result<void> lower_clock(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u64));
  op.clock = true;
  return {};
}

constexpr Semantics load(std::string_view name, Handler run, int64_t parameter) {
  return {.mnemonic = name, .run = run, .lower = lower_load, .parameter = parameter};
}

constexpr Semantics kScalarMemoryTable[] = {
    isa::all("SMEM"),
    load("s_load_dword", load_words, 4),
    load("s_load_dwordx2", load_words, 8),
    load("s_load_dwordx4", load_words, 16),
    load("s_load_dwordx8", load_words, 32),
    load("s_load_dwordx16", load_words, 64),
    load("s_buffer_load_dword", load_buffer_words, 0x104),
    load("s_buffer_load_dwordx2", load_buffer_words, 0x108),
    load("s_buffer_load_dwordx4", load_buffer_words, 0x110),
    load("s_buffer_load_dwordx8", load_buffer_words, 0x120),
    load("s_buffer_load_dwordx16", load_buffer_words, 0x140),

    isa::rdna4("SMEM"),
    load("s_load_dwordx3", load_words, 12),
    load("s_load_u8", load_small<uint8_t>, 1),
    load("s_load_i8", load_small<int8_t>, 1),
    load("s_load_u16", load_small<uint16_t>, 2),
    load("s_load_i16", load_small<int16_t>, 2),
    load("s_buffer_load_dwordx3", load_buffer_words, 0x10c),
    load("s_buffer_load_u8", load_buffer_small<uint8_t>, 0x101),
    load("s_buffer_load_i8", load_buffer_small<int8_t>, 0x101),
    load("s_buffer_load_u16", load_buffer_small<uint16_t>, 0x102),
    load("s_buffer_load_i16", load_buffer_small<int16_t>, 0x102),

    isa::cdna("SMEM"),
    {.mnemonic = "s_memtime", .run = read_clock, .lower = lower_clock},
    {.mnemonic = "s_memrealtime", .run = read_clock, .lower = lower_clock},
};

}  // namespace

std::span<const Semantics> scalar_memory_semantics() {
  return kScalarMemoryTable;
}

}  // namespace hipplan::emulator
