// The mode register, and the register indexing of gfx9 that it turns on. ISA documents, "Mode
// register" and "VGPR Indexing".
#include <cstdlib>

#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

/// Hardware registers that mean something here, in Op::immediate.
enum HardwareRegister : uint64_t { kOtherRegister, kModeRegister, kCycles, kCyclesHigh };

HardwareRegister hardware_register(std::string_view name) {
  if (name == "HW_REG_MODE") return kModeRegister;
  if (name == "HW_REG_SHADER_CYCLES" || name == "HW_REG_SHADER_CYCLES_LO") return kCycles;
  return name == "HW_REG_SHADER_CYCLES_HI" ? kCyclesHigh : kOtherRegister;
}

/// "hwreg(HW_REG_MODE, 4, 4)": register name, first bit, bit count.
Result<void> lower_hwreg(const Instruction& instruction, const std::string& text, Op& op) {
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return operand_error(instruction, cat("'", text, "' is no hwreg()"));
  const std::string inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  op.immediate = hardware_register(inside.substr(0, comma));
  op.offset = 0;
  op.offset2 = 32;
  if (comma == std::string::npos) return {};
  const std::string rest = inside.substr(comma + 1);
  const size_t second = rest.find(',');
  op.offset = std::atoi(rest.c_str());
  op.offset2 = second == std::string::npos ? 32 : std::atoi(rest.c_str() + second + 1);
  if (op.offset < 0 || op.offset > 31 || op.offset2 < 1 || op.offset2 > 32)
    return operand_error(instruction, cat("'", text, "' has bad bits"));
  return {};
}
uint32_t field_mask(const Op& op) {
  const uint64_t ones = (1ull << op.offset2) - 1;
  return static_cast<uint32_t>(ones << op.offset);
}
/// MODE bits that change results in ways that are not emulated: FP16_OVFL, GPR_IDX_EN, VSKIP.
constexpr uint32_t kIndexEnable = 1u << 27;
constexpr uint32_t kUnsupportedMode = 1u << 23 | kIndexEnable | 1u << 28;
/// Round bits of f16 and f64.
constexpr uint32_t kHalfRounding = 0xc;

void set_register(Wave& wave, const Op& op) {
  if (op.immediate != kModeRegister) return;  // other hardware registers do not change results
  const uint32_t mask = field_mask(op);
  const auto value = static_cast<uint32_t>(read_scalar(wave, op.from[0]) << op.offset);
  if ((value & mask & kUnsupportedMode) != 0) {
    wave.fail({.reason = "mode",
               .what = "FP16_OVFL, GPR_IDX_EN and VSKIP of MODE are not supported",
               .found = cat("bits ", hex(value & mask))});
    return;
  }
  if ((mask & kIndexEnable) != 0) wave.row_offset = {};  // the bit is cleared
  wave.set_mode((wave.mode.bits & ~mask) | (value & mask));
}
void get_register(Wave& wave, const Op& op) {
  uint32_t bits = op.immediate == kModeRegister ? wave.mode.bits : 0;
  if (op.clock)
    bits = static_cast<uint32_t>(clock_of(wave) >> (op.immediate == kCyclesHigh ? 32 : 0));
  write_scalar(wave, op.to, (bits & field_mask(op)) >> op.offset);
}
Result<void> lower_set_register(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY(lower_hwreg(instruction, instruction.operands[0].text, op));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u32));
  if (op.immediate != kModeRegister) return {};
  const bool known = op.from[0].place == Place::constant;
  const auto value = static_cast<uint32_t>(op.from[0].constant << op.offset) & field_mask(op);
  if (known && (value & kUnsupportedMode) != 0)
    return operand_error(instruction, "FP16_OVFL, GPR_IDX_EN and VSKIP of MODE are not supported");
  if (((known ? value : field_mask(op)) & kHalfRounding) != 0)
    lowering.rounds_halves(instruction.address);
  return {};
}
Result<void> lower_get_register(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  HIPPLAN_TRY(lower_hwreg(instruction, instruction.operands[1].text, op));
  op.clock = op.immediate == kCycles || op.immediate == kCyclesHigh;
  return {};
}
void round_mode(Wave& wave, const Op& op) {
  wave.set_mode((wave.mode.bits & ~0xfu) | (static_cast<uint32_t>(op.immediate) & 0xfu));
}
void denormal_mode(Wave& wave, const Op& op) {
  wave.set_mode((wave.mode.bits & ~0xf0u) | (static_cast<uint32_t>(op.immediate) & 0xfu) << 4);
}
Result<void> lower_immediate(const Instruction& instruction, Lowering&, Op& op) {
  if (instruction.operands.size() != 1 || !instruction.operands[0].is_constant())
    return operand_error(instruction, "expected one number");
  op.immediate = static_cast<uint64_t>(instruction.operands[0].integer);
  return {};
}
Result<void> lower_round_mode(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(lower_immediate(instruction, lowering, op));
  if ((op.immediate & kHalfRounding) != 0) lowering.rounds_halves(instruction.address);
  return {};
}

// Register indexing ----------------------------------------------------------------------------

/// M0 has the index in bits 0 to 7, what it is added to in bits 12 to 15.
void follow_index(Wave& wave) {
  const uint32_t m0 = wave.scalars[scalar::kM0];
  const bool on = (wave.mode.bits & kIndexEnable) != 0;
  for (unsigned i = 0; i < 4; ++i)
    wave.row_offset[i] = on && ((m0 >> (12 + i)) & 1u) != 0 ? static_cast<uint16_t>(m0 & 0xffu) : 0;
  wave.set_mode(wave.mode.bits);
}
/// A write of M0 by another instruction.
void write_index(Wave& wave, const Op& op) {
  op.followed(wave, op);
  follow_index(wave);
}
void set_index(Wave& wave, uint32_t mask, uint32_t bits) {
  uint32_t& m0 = wave.scalars[scalar::kM0];
  m0 = (m0 & ~mask) | (bits & mask);
}
void index_on(Wave& wave, const Op& op) {
  set_index(wave, 0xffu, static_cast<uint32_t>(read_scalar(wave, op.from[0])));
  set_index(wave, 0xf000u, static_cast<uint32_t>(op.immediate) << 12);
  wave.mode.bits |= kIndexEnable;
  follow_index(wave);
}
void index_off(Wave& wave, const Op&) {
  wave.mode.bits &= ~kIndexEnable;
  follow_index(wave);
}
void index_number(Wave& wave, const Op& op) {
  set_index(wave, 0xffu, static_cast<uint32_t>(read_scalar(wave, op.from[0])));
  follow_index(wave);
}
void index_enables(Wave& wave, const Op& op) {
  set_index(wave, 0xf000u, static_cast<uint32_t>(op.immediate) << 12);
  follow_index(wave);
}
/// "gpr_idx(SRC0,DST)" to bits: SRC0 1, SRC1 2, SRC2 4, DST 8.
uint64_t index_bits(const disassembly::Operand& operand) {
  if (operand.is_constant()) return static_cast<uint64_t>(operand.integer) & 15u;
  constexpr std::pair<std::string_view, unsigned> kNames[] = {
      {"SRC0", 1}, {"SRC1", 2}, {"SRC2", 4}, {"DST", 8}};
  uint64_t bits = 0;
  for (const auto& [name, bit] : kNames)
    if (operand.text.find(name) != std::string::npos) bits |= bit;
  return bits;
}
Result<void> lower_index_on(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[0], Type::u32));
  op.immediate = index_bits(instruction.operands[1]);
  lowering.follow_m0(write_index);
  return {};
}
Result<void> lower_index_number(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[0], Type::u32));
  return {};
}
Result<void> lower_index_enables(const Instruction& instruction, Lowering&, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  op.immediate = index_bits(instruction.operands[0]);
  return {};
}

// clang-format off
constexpr Semantics kModeTable[] = {
    isa::all("SOPK"),
    {.mnemonic = "s_setreg_b32", .run = set_register, .lower = lower_set_register},
    {.mnemonic = "s_setreg_imm32_b32", .run = set_register, .lower = lower_set_register},
    {.mnemonic = "s_getreg_b32", .run = get_register, .lower = lower_get_register},

    isa::rdna("SOPP"),
    {.mnemonic = "s_round_mode", .run = round_mode, .lower = lower_round_mode},
    {.mnemonic = "s_denorm_mode", .run = denormal_mode, .lower = lower_immediate},

    isa::cdna("SOPC"),
    {.mnemonic = "s_set_gpr_idx_on", .run = index_on, .lower = lower_index_on},

    isa::cdna("SOPP"),
    {.mnemonic = "s_set_gpr_idx_off", .run = index_off, .lower = lower_nothing},
    {.mnemonic = "s_set_gpr_idx_mode", .run = index_enables, .lower = lower_index_enables},

    isa::cdna("SOP1"),
    {.mnemonic = "s_set_gpr_idx_idx", .run = index_number, .lower = lower_index_number},
};
// clang-format on

}  // namespace

std::span<const Semantics> mode_semantics() {
  return kModeTable;
}

}  // namespace hipplan::emulator
