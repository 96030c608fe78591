// What an instruction is counted as, and which rounding it follows, read off its text.
#include <array>
#include <string_view>

#include "device/emulator/matrix_shapes.h"
#include "device/emulator/program.h"

namespace hipplan::emulator {
namespace {

using device::InstructionClass;

bool starts(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}
bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The first word without its encoding suffix.
std::string_view mnemonic_of(std::string_view text) {
  std::string_view word = text.substr(0, text.find(' '));
  for (const std::string_view suffix : {"_dpp", "_e32", "_e64", "_sdwa", "_vop3"})
    if (word.size() > suffix.size() && word.substr(word.size() - suffix.size()) == suffix)
      word.remove_suffix(suffix.size());
  return word;
}

bool is_matrix(std::string_view name) {
  return starts(name, "v_mfma") || starts(name, "v_wmma") || starts(name, "v_smfmac") ||
         starts(name, "v_swmmac");
}

InstructionClass class_of(std::string_view name) {
  if (is_matrix(name)) return InstructionClass::matrix;
  if (starts(name, "v_")) return InstructionClass::vector;
  if (starts(name, "ds_") || starts(name, "lds_")) return InstructionClass::lds;
  if (starts(name, "scratch_")) return InstructionClass::private_memory;
  if (starts(name, "global_load") || starts(name, "global_store") ||
      starts(name, "global_atomic") || starts(name, "flat_") || starts(name, "buffer_load") ||
      starts(name, "buffer_store") || starts(name, "buffer_atomic") || starts(name, "tbuffer_"))
    return InstructionClass::global_memory;
  for (const std::string_view word : {"s_load", "s_buffer_", "s_store", "s_atomic"})
    if (starts(name, word) && !has(name, "prefetch")) return InstructionClass::scalar_memory;
  for (const std::string_view word :
       {"s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_endpgm"})
    if (starts(name, word)) return InstructionClass::branch;
  for (const std::string_view word : {"s_wait", "s_nop", "s_barrier", "s_sleep", "s_set", "s_delay",
                                      "s_clause", "s_inst", "s_icache", "s_dcache", "s_code_end",
                                      "s_sendmsg", "s_trap", "s_round", "s_denorm", "s_atc"})
    if (starts(name, word)) return InstructionClass::other;
  return starts(name, "s_") ? InstructionClass::scalar : InstructionClass::other;
}

Sharing sharing_of(std::string_view name, std::string_view text) {
  if (has(name, "atomic")) return Sharing::atomic;
  const bool memory = has(name, "load") || has(name, "store");
  if (starts(name, "ds_"))
    return !has(name, "xchg") && !has(name, "cmpst") &&
                   (memory || starts(name, "ds_read") || starts(name, "ds_write"))
               ? Sharing::plain
               : Sharing::atomic;
  const bool coherent = has(text, " sc0") || has(text, " sc1") || has(text, " glc") ||
                        has(text, " scope:SCOPE_DEV") || has(text, " scope:SCOPE_SYS");
  return memory && coherent ? Sharing::coherent : Sharing::plain;
}

/// What compilers make of fences of device or system scope; AMDGPU backend documentation, "Memory
/// Model". gfx94x and gfx95x write their L2 back; elsewhere waiting for stores is the release.
Fence fence_of(std::string_view name, std::string_view text, std::string_view arch) {
  const bool device = has(text, "sc1") || has(text, "SCOPE_DEV") || has(text, "SCOPE_SYS");
  if (starts(name, "buffer_wbinvl1") || name == "buffer_gl1_inv" || name == "buffer_invl2")
    return Fence::acquire;
  if (name == "buffer_inv" || name == "global_inv") return device ? Fence::acquire : Fence::none;
  if (starts(arch, "gfx94") || starts(arch, "gfx95"))
    return name == "buffer_wbl2" ? Fence::release : Fence::none;
  if (starts(arch, "gfx9"))
    return name == "s_waitcnt" && has(text, "vmcnt(0)") ? Fence::release : Fence::none;
  const bool stores =
      name == "s_waitcnt_vscnt" || name == "s_wait_storecnt" || name == "s_wait_storecnt_dscnt";
  return stores && has(text, "0x0") ? Fence::release : Fence::none;
}

Flow flow_of(std::string_view name) {
  if (is_matrix(name) || starts(name, "v_writelane")) return Flow::everywhere;
  if (starts(name, "v_pk_")) return Flow::pairs;
  if (starts(name, "v_swap_")) return Flow::exchanges;
  if (has(name, "load_block")) return Flow::blocks;
  for (const std::string_view word :
       {"ds_bpermute", "ds_permute", "ds_swizzle", "v_permlane", "v_movrel", "v_swaprel",
        "ds_append", "ds_consume", "v_readfirstlane"})
    if (starts(name, word)) return Flow::defines;
  return Flow::spreads;
}

/// Operations of a vector instruction and the type they are in.
struct Work {
  uint32_t operations = 0;
  const char* key = "";
};
Work work_of(std::string_view name) {
  name.remove_prefix(std::min<size_t>(name.size(), 2));
  const bool pair = starts(name, "pk_"), dual = starts(name, "dual_");
  if (pair) name.remove_prefix(3);
  if (dual) name.remove_prefix(5);
  uint32_t each = 0;
  for (const std::string_view word : {"fma", "mad", "mac"})
    if (starts(name, word)) each = 2;
  for (const std::string_view word : {"add_f", "add_nc_f", "sub_f", "subrev_f", "mul_f",
                                      "mul_legacy", "mul_dx9", "mullit", "add_bf", "mul_bf"})
    if (starts(name, word)) each = 1;
  if (starts(name, "dot2")) each = 4;
  if (each == 0 || has(name, "_u32") || has(name, "_i32") || has(name, "_u16") ||
      has(name, "_i16") || has(name, "_u64") || has(name, "_i64"))
    return {};
  const char* key = has(name, "f64") ? "double" : has(name, "f16") ? "half" : "float";
  return {pair ? 2 * each : each, key};
}

void count_matrix(std::string_view name, ProgramLine& line) {
  for (const auto shapes :
       {mfma_shapes(), smfmac_shapes(), f8f6f4_shapes(), wmma_shapes(), swmmac_shapes()})
    for (const MatrixShape& shape : shapes) {
      if (shape.name != name && shape.second_name != name) continue;
      constexpr std::array<const char*, 12> kKeys = {
          "half_matrix", "bfloat16_matrix", "float_matrix", "float_matrix",
          "double",      "int8_matrix",     "int8_matrix",  "fp8_matrix",
          "fp8_matrix",  "fp8_matrix",      "fp8_matrix",   "fp8_matrix"};
      line.operations = kKeys[static_cast<size_t>(shape.a)];
      line.wave_operations =
          starts(name, "v_smfmac") || starts(name, "v_swmmac") ? shape.flops() / 2 : shape.flops();
      return;
    }
}

Rounding rounding_of(std::string_view name) {
  std::string_view rest = name;
  rest.remove_prefix(std::min<size_t>(rest.size(), 2));
  for (const std::string_view word : {"pk_", "dual_"})
    if (starts(rest, word)) rest.remove_prefix(word.size());
  bool rounds = false;
  for (const std::string_view word :
       {"add_f",       "sub_f",        "subrev_f", "mul_f",    "mul_legacy", "mul_dx9", "fma",
        "mullit",      "mad_legacy_f", "mad_f",    "mac_f",    "madmk",      "madak",   "mad_mix",
        "cvt_f32",     "cvt_f16",      "cvt_f64",  "ldexp",    "div_fmas",   "add_bf",  "mul_bf",
        "cvt_pk_bf16", "cvt_pk_f16",   "sqrt_f64", "sqrt_f16", "rcp_f16",    "dot2"})
    if (starts(rest, word)) rounds = true;
  if (!rounds || has(name, "_u64") || is_matrix(name)) return Rounding::none;
  if (starts(rest, "cvt_f32_f16") || starts(rest, "cvt_f64_f32")) return Rounding::none;  // exact
  if (starts(rest, "cvt_f32")) return Rounding::f32;
  if (starts(rest, "fma_mix_f32") || starts(rest, "mad_mix_f32") || starts(rest, "dot2_f32") ||
      starts(rest, "dot2c_f32") || starts(rest, "dot2acc_f32"))
    return Rounding::f32;
  if (has(name, "f16")) return Rounding::f16;
  return has(name, "f64") ? Rounding::f64 : Rounding::f32;
}

}  // namespace

void classify(ProgramLine& line, std::string_view arch) {
  const std::string_view text = line.text;
  const std::string_view name = mnemonic_of(text);
  line.fence = fence_of(name, text, arch);
  line.flow = flow_of(name);
  line.kind = class_of(name);
  line.sharing = sharing_of(name, text);
  if (line.kind == InstructionClass::matrix) {
    count_matrix(name, line);
    return;
  }
  if (line.kind == InstructionClass::vector || line.kind == InstructionClass::scalar)
    line.rounding = rounding_of(name);
  if (line.kind != InstructionClass::vector) return;
  Work work = work_of(name);
  const size_t second = text.find("v_dual_", 1);
  if (second != std::string_view::npos) {
    const Work more = work_of(mnemonic_of(text.substr(second)));
    work.operations += more.operations;
    if (more.operations != 0) work.key = more.key;
    if (line.rounding == Rounding::none)
      line.rounding = rounding_of(mnemonic_of(text.substr(second)));
  }
  line.lane_operations = work.operations;
  if (work.operations != 0) line.operations = work.key;
}

}  // namespace hipplan::emulator
