// Branches, barriers, waits and messages. ISA documents, "SOPP Instructions" and "Program Flow
// Control".
#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

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

/// Nobody answers messages, the result is 0; but the time is known.
void no_message(Wave& wave, const Op& op) {
  write_scalar(wave, op.to, op.clock ? clock_of(wave) : 0);
}
Result<void> lower_message(const Instruction& instruction, Lowering& lowering, Op& op) {
  if (instruction.operands.size() != 2) return operand_error(instruction, "expected 2 operands");
  const Type type = lowering.entry().parameter == 2 ? Type::u64 : Type::u32;
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], type));
  op.clock = instruction.operands[1].text.find("GET_REALTIME") != std::string::npos;
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

// clang-format off
constexpr Semantics branch(std::string_view name, Handler run) {
  return {.mnemonic = name, .run = run, .lower = lower_branch};
}
/// One wavefront's memory operations happen in program order here, so waiting has nothing to do.
constexpr Semantics ignored(std::string_view name) {
  return {.mnemonic = name, .run = do_nothing, .lower = lower_nothing};
}

constexpr Semantics kControlTable[] = {
    isa::all("SOP1"),
    {.mnemonic = "s_getpc_b64", .run = move_immediate, .lower = lower_getpc},

    isa::rdna("SOP1"),
    {.mnemonic = "s_sendmsg_rtn_b32", .run = no_message, .lower = lower_message, .parameter = 1},
    {.mnemonic = "s_sendmsg_rtn_b64", .run = no_message, .lower = lower_message, .parameter = 2},

    isa::rdna4("SOP1"),
    {.mnemonic = "s_barrier_signal", .run = signal_barrier, .lower = lower_nothing},
    {.mnemonic = "s_barrier_signal_isfirst", .run = signal_first, .lower = lower_nothing},
    ignored("s_sleep_var"),
    {.mnemonic = "s_get_barrier_state", .run = barrier_state, .lower = lower_barrier_state},

    isa::rdna("SOPK"),
    ignored("s_version"),

    isa::rdna3("SOPK"),
    ignored("s_waitcnt_vscnt"), ignored("s_waitcnt_vmcnt"), ignored("s_waitcnt_lgkmcnt"), ignored("s_waitcnt_expcnt"),

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
    branch("s_cbranch_cdbgsys", do_nothing), branch("s_cbranch_cdbguser", do_nothing),  // no debugger is there
    branch("s_cbranch_cdbgsys_or_user", do_nothing), branch("s_cbranch_cdbgsys_and_user", do_nothing),
    ignored("s_waitcnt"),

    isa::rdna("SOPP"),
    {.mnemonic = "s_code_end", .run = code_end, .lower = lower_nothing},

    isa::rdna4("SOPP"),
    {.mnemonic = "s_barrier_wait", .run = barrier, .lower = lower_nothing},

    isa::rdna3("SOPP"),
    ignored("s_waitcnt_depctr"),

    isa::all("SMEM"),
    ignored("s_dcache_inv"),

    isa::cdna("SMEM"),
    ignored("s_dcache_wb"), ignored("s_dcache_inv_vol"), ignored("s_dcache_wb_vol"),

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
