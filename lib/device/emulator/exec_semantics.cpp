// Scalar instructions that combine a mask with EXEC. ISA documents, "SOP1 Instructions".
#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

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

// clang-format off
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

constexpr Semantics kExecTable[] = {
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

    isa::rdna("SOP1"),
    exec_entry("s_and_saveexec_b32", save_exec<kAnd>, false), exec_entry("s_or_saveexec_b32", save_exec<kOr>, false),
    exec_entry("s_xor_saveexec_b32", save_exec<kXor>, false), exec_entry("s_andn2_saveexec_b32", save_exec<kAndNotExec>, false),
    exec_entry("s_orn2_saveexec_b32", save_exec<kOrNotExec>, false), exec_entry("s_andn1_saveexec_b32", save_exec<kNotAnd>, false),
    exec_entry("s_orn1_saveexec_b32", save_exec<kNotOr>, false), exec_entry("s_nand_saveexec_b32", save_exec<kNand>, false),
    exec_entry("s_nor_saveexec_b32", save_exec<kNor>, false), exec_entry("s_xnor_saveexec_b32", save_exec<kXnor>, false),
    exec_entry("s_andn1_wrexec_b32", write_exec<kNotAnd>, false), exec_entry("s_andn2_wrexec_b32", write_exec<kAndNotExec>, false),
};
// clang-format on

}  // namespace

std::span<const Semantics> exec_semantics() {
  return kExecTable;
}

}  // namespace hipplan::emulator
