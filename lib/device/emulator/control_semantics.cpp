// Branches, barriers, waits, EXEC bookkeeping and the mode register. ISA documents, "SOPP
// Instructions", "Program Flow Control" and "Mode register".

#include <cstdlib>

#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

using disassembly::OperandKind;

void nothing(Wave&, const Op&) {}
void end_program(Wave& wave, const Op&) {
  wave.state = State::ended;
}
void barrier(Wave& wave, const Op&) {
  wave.state = State::barrier;
}
void signal_barrier(Wave& wave, const Op&) {
  ++wave.group->signals;
}
/// SCC tells whether this is the barrier's first signal.
void signal_first(Wave& wave, const Op&) {
  wave.scc = wave.group->signals++ == 0;
}
/// Bit 0 valid, bits 4 to 10 members, bits 16 to 22 signals.
void barrier_state(Wave& wave, const Op& op) {
  write_scalar(wave, op.to,
               1u | (wave.group->waves & 127u) << 4 | (wave.group->signals & 127u) << 16);
}
Result<void> lower_barrier_state(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u32));
  return {};
}
void trap(Wave& wave, const Op&) {
  wave.fail({.reason = "trap", .what = "the kernel executed a trap"});
}
void code_end(Wave& wave, const Op&) {
  wave.fail({.reason = "end-of-code", .what = "the kernel runs past its last instruction"});
}

bool vcc_zero(const Wave& wave) {
  const uint32_t high = wave.lanes == 64 ? wave.scalars[scalar::kVcc + 1] : 0;
  return (wave.scalars[scalar::kVcc] | high) == 0;
}
template <auto Condition>
void branch_if(Wave& wave, const Op& op) {
  if (Condition(wave)) wave.next = op.target;
}

Result<void> lower_branch(const Instruction& instruction, Lowering& lowering, Op&) {
  const auto target = instruction.branch_target();
  if (!target) return operand_error(instruction, "a branch without a destination");
  lowering.branch_to(*target);
  return {};
}
/// For instructions whose operands do not matter to results: waits, hints, cache control.
Result<void> lower_nothing(const Instruction&, Lowering&, Op&) {
  return {};
}

// EXEC ----------------------------------------------------------------------------------------

/// D = EXEC; EXEC = f(S0, EXEC); SCC tells whether a lane is left.
template <auto F>
void save_exec(Wave& wave, const Op& op) {
  const uint64_t old = wave.exec(), source = read_scalar(wave, op.from[0]);
  const uint64_t result = F(source, old) & wave.all();
  write_scalar(wave, op.to, old);
  wave.set_exec(result);
  wave.scc = result != 0;
}
/// EXEC = f(S0, EXEC); D = EXEC.
template <auto F>
void write_exec(Wave& wave, const Op& op) {
  const uint64_t result = F(read_scalar(wave, op.from[0]), wave.exec()) & wave.all();
  wave.set_exec(result);
  write_scalar(wave, op.to, result);
  wave.scc = result != 0;
}
constexpr Semantics exec_entry(std::string_view name, Handler run, bool wide) {
  const Type type = wide ? Type::u64 : Type::u32;
  return {.mnemonic = name, .run = run, .shape = {.to = type, .from = {type}, .sources = 1}};
}

// Mode and program counter ---------------------------------------------------------------------

/// "hwreg(HW_REG_MODE, 4, 4)": register name, first bit, bit count.
Result<void> lower_hwreg(const Instruction& instruction, const std::string& text, Op& op) {
  const size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open)
    return operand_error(instruction, cat("'", text, "' is no hwreg()"));
  std::string inside = text.substr(open + 1, close - open - 1);
  const size_t comma = inside.find(',');
  op.immediate = inside.substr(0, comma) == "HW_REG_MODE" ? 1 : 0;
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
constexpr uint32_t kUnsupportedMode = 1u << 23 | 1u << 27 | 1u << 28;
/// Round bits of f16 and f64.
constexpr uint32_t kHalfRounding = 0xc;

void set_register(Wave& wave, const Op& op) {
  if (op.immediate == 0) return;  // other hardware registers do not change results
  const uint32_t mask = field_mask(op);
  const auto value = static_cast<uint32_t>(read_scalar(wave, op.from[0]) << op.offset);
  if ((value & mask & kUnsupportedMode) != 0) {
    wave.fail({.reason = "mode",
               .what = "FP16_OVFL, GPR_IDX_EN and VSKIP of MODE are not supported",
               .found = cat("bits ", hex(value & mask))});
    return;
  }
  wave.set_mode((wave.mode.bits & ~mask) | (value & mask));
}
void get_register(Wave& wave, const Op& op) {
  const uint32_t bits = op.immediate == 0 ? 0 : wave.mode.bits;
  write_scalar(wave, op.to, (bits & field_mask(op)) >> op.offset);
}
Result<void> lower_set_register(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY(lower_hwreg(instruction, instruction.operands[0].text, op));
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[1], Type::u32));
  if (op.immediate == 0) return {};
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
  return lower_hwreg(instruction, instruction.operands[1].text, op);
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

/// Nobody answers messages: the result is 0.
void no_message(Wave& wave, const Op& op) {
  write_scalar(wave, op.to, 0);
}
Result<void> lower_message(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  const Type type = lowering.entry().parameter == 2 ? Type::u64 : Type::u32;
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], type));
  return {};
}
void move_immediate(Wave& wave, const Op& op) {
  write_scalar(wave, op.to, op.immediate);
}
Result<void> lower_getpc(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::u64));
  op.immediate = instruction.address + instruction.size + lowering.settings().load_bias;
  return {};
}

// Register indexing ----------------------------------------------------------------------------

void index_mode(Wave& wave, uint32_t index, uint32_t enables) {
  for (unsigned i = 0; i < 4; ++i)
    wave.row_offset[i] = ((enables >> i) & 1u) != 0 ? static_cast<uint16_t>(index & 0xffu) : 0;
  wave.set_mode(wave.mode.bits);
}
void index_on(Wave& wave, const Op& op) {
  const auto index = static_cast<uint32_t>(read_scalar(wave, op.from[0]));
  const auto enables = static_cast<uint32_t>(op.immediate);
  wave.scalars[scalar::kM0] = (index & 0xffu) | enables << 12;
  index_mode(wave, index, enables);
}
void index_off(Wave& wave, const Op&) {
  index_mode(wave, 0, 0);
}
/// "gpr_idx(SRC0,DST)" to bits: SRC0 1, SRC1 2, SRC2 4, DST 8.
Result<void> lower_index_on(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  HIPPLAN_TRY_ASSIGN(op.from[0], lowering.source(instruction.operands[0], Type::u32));
  const std::string& text = instruction.operands[1].text;
  constexpr std::pair<std::string_view, unsigned> kNames[] = {
      {"SRC0", 1}, {"SRC1", 2}, {"SRC2", 4}, {"DST", 8}};
  for (const auto& [name, bit] : kNames)
    if (text.find(name) != std::string::npos) op.immediate |= bit;
  if (instruction.operands[1].is_constant())
    op.immediate = static_cast<uint64_t>(instruction.operands[1].integer);
  return {};
}

// clang-format off
constexpr Semantics branch(std::string_view name, Handler run) {
  return {.mnemonic = name, .run = run, .lower = lower_branch};
}
/// One wavefront's memory operations happen in program order here, so waiting has nothing to do.
constexpr Semantics ignored(std::string_view name) {
  return {.mnemonic = name, .run = nothing, .lower = lower_nothing};
}

constexpr auto kAnd = [](uint64_t s, uint64_t e) { return s & e; };
constexpr auto kOr = [](uint64_t s, uint64_t e) { return s | e; };
constexpr auto kXor = [](uint64_t s, uint64_t e) { return s ^ e; };
constexpr auto kAndNotExec = [](uint64_t s, uint64_t e) { return s & ~e; };
constexpr auto kOrNotExec = [](uint64_t s, uint64_t e) { return s | ~e; };
constexpr auto kNotAnd = [](uint64_t s, uint64_t e) { return ~s & e; };
constexpr auto kNotOr = [](uint64_t s, uint64_t e) { return ~s | e; };
constexpr auto kNand = [](uint64_t s, uint64_t e) { return ~(s & e); };
constexpr auto kNor = [](uint64_t s, uint64_t e) { return ~(s | e); };
constexpr auto kXnor = [](uint64_t s, uint64_t e) { return ~(s ^ e); };

constexpr Semantics kControlTable[] = {
    isa::all("SOP1"),
    exec_entry("s_and_saveexec_b64", save_exec<kAnd>, true), exec_entry("s_or_saveexec_b64", save_exec<kOr>, true),
    exec_entry("s_xor_saveexec_b64", save_exec<kXor>, true),
    exec_entry("s_andn2_saveexec_b64", save_exec<kAndNotExec>, true),
    exec_entry("s_orn2_saveexec_b64", save_exec<kOrNotExec>, true),
    exec_entry("s_andn1_saveexec_b64", save_exec<kNotAnd>, true),
    exec_entry("s_orn1_saveexec_b64", save_exec<kNotOr>, true),
    exec_entry("s_nand_saveexec_b64", save_exec<kNand>, true),
    exec_entry("s_nor_saveexec_b64", save_exec<kNor>, true),
    exec_entry("s_xnor_saveexec_b64", save_exec<kXnor>, true),
    exec_entry("s_andn1_wrexec_b64", write_exec<kNotAnd>, true),
    exec_entry("s_andn2_wrexec_b64", write_exec<kAndNotExec>, true),
    {.mnemonic = "s_getpc_b64", .run = move_immediate, .lower = lower_getpc},

    isa::rdna("SOP1"),
    exec_entry("s_and_saveexec_b32", save_exec<kAnd>, false), exec_entry("s_or_saveexec_b32", save_exec<kOr>, false),
    exec_entry("s_xor_saveexec_b32", save_exec<kXor>, false), exec_entry("s_andn2_saveexec_b32", save_exec<kAndNotExec>, false),
    exec_entry("s_orn2_saveexec_b32", save_exec<kOrNotExec>, false), exec_entry("s_andn1_saveexec_b32", save_exec<kNotAnd>, false),
    exec_entry("s_orn1_saveexec_b32", save_exec<kNotOr>, false), exec_entry("s_nand_saveexec_b32", save_exec<kNand>, false),
    exec_entry("s_nor_saveexec_b32", save_exec<kNor>, false), exec_entry("s_xnor_saveexec_b32", save_exec<kXnor>, false),
    exec_entry("s_andn1_wrexec_b32", write_exec<kNotAnd>, false), exec_entry("s_andn2_wrexec_b32", write_exec<kAndNotExec>, false),
    {.mnemonic = "s_sendmsg_rtn_b32", .run = no_message, .lower = lower_message, .parameter = 1},
    {.mnemonic = "s_sendmsg_rtn_b64", .run = no_message, .lower = lower_message, .parameter = 2},

    isa::rdna4("SOP1"),
    {.mnemonic = "s_barrier_signal", .run = signal_barrier, .lower = lower_nothing},
    {.mnemonic = "s_barrier_signal_isfirst", .run = signal_first, .lower = lower_nothing},
    {.mnemonic = "s_get_barrier_state", .run = barrier_state, .lower = lower_barrier_state},

    isa::all("SOPK"),
    {.mnemonic = "s_setreg_b32", .run = set_register, .lower = lower_set_register},
    {.mnemonic = "s_setreg_imm32_b32", .run = set_register, .lower = lower_set_register},
    {.mnemonic = "s_getreg_b32", .run = get_register, .lower = lower_get_register},

    isa::rdna("SOPK"),
    ignored("s_version"),

    isa::rdna3("SOPK"),
    ignored("s_waitcnt_vscnt"), ignored("s_waitcnt_vmcnt"), ignored("s_waitcnt_lgkmcnt"), ignored("s_waitcnt_expcnt"),

    isa::cdna("SOPC"),
    {.mnemonic = "s_set_gpr_idx_on", .run = index_on, .lower = lower_index_on},

    isa::all("SOPP"),
    branch("s_branch", branch_if<[](const Wave&) { return true; }>),
    branch("s_cbranch_scc0", branch_if<[](const Wave& w) { return !w.scc; }>),
    branch("s_cbranch_scc1", branch_if<[](const Wave& w) { return w.scc; }>),
    branch("s_cbranch_vccz", branch_if<[](const Wave& w) { return vcc_zero(w); }>),
    branch("s_cbranch_vccnz", branch_if<[](const Wave& w) { return !vcc_zero(w); }>),
    branch("s_cbranch_execz", branch_if<[](const Wave& w) { return w.exec() == 0; }>),
    branch("s_cbranch_execnz", branch_if<[](const Wave& w) { return w.exec() != 0; }>),
    {.mnemonic = "s_endpgm", .run = end_program, .lower = lower_nothing},
    {.mnemonic = "s_endpgm_saved", .run = end_program, .lower = lower_nothing},
    {.mnemonic = "s_trap", .run = trap, .lower = lower_nothing},
    ignored("s_nop"), ignored("s_sleep"), ignored("s_setprio"), ignored("s_sethalt"),
    ignored("s_icache_inv"), ignored("s_sendmsg"), ignored("s_ttracedata"), ignored("s_incperflevel"), ignored("s_decperflevel"),

    isa::each("SOPP", "SOPP", ""),
    {.mnemonic = "s_barrier", .run = barrier, .lower = lower_nothing},
    ignored("s_waitcnt"),

    isa::rdna("SOPP"),
    {.mnemonic = "s_code_end", .run = code_end, .lower = lower_nothing},
    {.mnemonic = "s_round_mode", .run = round_mode, .lower = lower_round_mode},
    {.mnemonic = "s_denorm_mode", .run = denormal_mode, .lower = lower_immediate},

    isa::rdna4("SOPP"),
    {.mnemonic = "s_barrier_wait", .run = barrier, .lower = lower_nothing},

    isa::rdna3("SOPP"),
    ignored("s_waitcnt_depctr"),

    isa::cdna("SOPP"),
    {.mnemonic = "s_set_gpr_idx_off", .run = index_off, .lower = lower_nothing},

    isa::all("SMEM"),
    ignored("s_dcache_inv"),

    isa::cdna("SMEM"),
    ignored("s_dcache_wb"),

    isa::cdna("MUBUF"),
    ignored("buffer_wbl2"), ignored("buffer_invl2"), ignored("buffer_inv"), ignored("buffer_wbinvl1"),
    ignored("buffer_wbinvl1_vol"),

    isa::rdna3("MUBUF"),
    ignored("buffer_gl0_inv"), ignored("buffer_gl1_inv"),

    isa::none("RDNA1 and RDNA2 only; gfx11 calls it s_set_inst_prefetch_distance"),
    ignored("s_inst_prefetch"),
};
// clang-format on

}  // namespace

std::span<const Semantics> control_semantics() {
  return kControlTable;
}

}  // namespace hipplan::emulator
