#include "device/emulator/program.h"

#include <algorithm>
#include <set>

#include "device/emulator/wave.h"

namespace hipplan::emulator {
namespace {

constexpr uint32_t kMaxPrivateBytes = 1u << 17;  ///< of one lane
constexpr uint32_t kMaxArgumentBytes = 1u << 20;

unsigned bits(uint32_t word, unsigned first, unsigned count) {
  return (word >> first) & ((1u << count) - 1u);
}

bool starts(const std::string& arch, std::string_view prefix) {
  return arch.rfind(prefix, 0) == 0;
}

struct Family {
  bool unified_registers, packed_ids, trap_ids, architected_scratch;
};
Family family_of(const std::string& arch) {
  const bool late9 = starts(arch, "gfx90a") || starts(arch, "gfx94") || starts(arch, "gfx95");
  const bool rdna3 = starts(arch, "gfx11"), rdna4 = starts(arch, "gfx12");
  return {.unified_registers = late9,
          .packed_ids = late9 || rdna3 || rdna4,
          .trap_ids = rdna4,
          .architected_scratch = rdna3 || rdna4 || starts(arch, "gfx94") || starts(arch, "gfx95")};
}

Error too_much(const char* reason, const std::string& what, uint64_t most, uint64_t asked) {
  return {.code = Code::unusable,
          .reason = reason,
          .what = cat("the kernel asks for more ", what, " than the device has"),
          .expected = cat("at most ", most),
          .found = cat(asked)};
}

void read_registers(const codeobject::KernelDescriptor& d, const Family& family, bool gfx9,
                    Setup& setup) {
  const unsigned granule = family.unified_registers ? 8 : (setup.lanes == 32 ? 8 : 4);
  const unsigned total = (bits(d.compute_pgm_rsrc1, 0, 6) + 1) * granule;
  setup.vgprs = total;
  if (family.unified_registers) {
    const unsigned accum_offset = (bits(d.compute_pgm_rsrc3, 0, 6) + 1) * 4;
    setup.vgprs = std::min(total, accum_offset);
    setup.acc_vgprs = total - setup.vgprs;
  } else if (gfx9) {
    setup.acc_vgprs = total;  // gfx908: a second file of the same size
  }
}

void read_sgpr_setup(const codeobject::KernelDescriptor& d, Setup& setup) {
  const uint32_t properties = d.kernel_code_properties;
  setup.private_segment_buffer = bits(properties, 0, 1) != 0;
  setup.dispatch_ptr = bits(properties, 1, 1) != 0;
  setup.queue_ptr = bits(properties, 2, 1) != 0;
  setup.kernarg_ptr = bits(properties, 3, 1) != 0;
  setup.dispatch_id = bits(properties, 4, 1) != 0;
  setup.flat_scratch_init = bits(properties, 5, 1) != 0;
  setup.private_segment_size = bits(properties, 6, 1) != 0;
  setup.private_segment = bits(d.compute_pgm_rsrc2, 0, 1) != 0;
  setup.user_sgprs = bits(d.compute_pgm_rsrc2, 1, 5);
  setup.group_id_x = bits(d.compute_pgm_rsrc2, 7, 1) != 0;
  setup.group_id_y = bits(d.compute_pgm_rsrc2, 8, 1) != 0;
  setup.group_id_z = bits(d.compute_pgm_rsrc2, 9, 1) != 0;
  setup.group_info = bits(d.compute_pgm_rsrc2, 10, 1) != 0;
  setup.preload_dwords = bits(d.kernarg_preload, 0, 7);
  setup.preload_offset = bits(d.kernarg_preload, 7, 9);
}

/// MODE as the hardware register: rounding and denormals from rsrc1 bits 12-19, DX10_CLAMP, IEEE.
uint32_t initial_mode(uint32_t rsrc1, bool rdna4) {
  const uint32_t low = bits(rsrc1, 12, 8);
  if (rdna4) return low | 0x300u;
  return low | bits(rsrc1, 21, 1) << 8 | bits(rsrc1, 23, 1) << 9;
}

std::string encoding_text(ByteView encoding) {
  std::ostringstream out;
  for (const std::byte byte : encoding) {
    out.width(2);
    out.fill('0');
    out << std::hex << std::to_integer<unsigned>(byte);
  }
  return out.str();
}

Error refused(Error error, const disassembly::Line& line) {
  error.where = cat("instruction at ", hex(line.address));
  error.found = cat("'", line.text, "' encoded ", encoding_text(line.encoding),
                    error.found.empty() ? "" : ", ", error.found);
  return error;
}

Result<void> lower_lines(const std::vector<disassembly::Line>& lines, Lowering& lowering,
                         Program& program, uint64_t& instructions_left) {
  if (lines.size() > instructions_left)
    return Error{.code = Code::unusable,
                 .reason = "instruction-count",
                 .what = "the code object's kernels have more instructions than the emulator takes",
                 .expected = cat("at most ", kMaxModuleInstructions)};
  instructions_left -= lines.size();
  for (const auto& line : lines) {
    if (!line.decoded)
      return refused({.code = Code::unusable,
                      .reason = "undecodable",
                      .what = "these bytes are no instruction of the architecture"},
                     line);
    auto parsed = disassembly::parse_instruction(line.text, line.address, line.size);
    if (!parsed) return refused(std::move(parsed).error(), line);
    ProgramLine shown;
    shown.address = line.address;
    shown.text = line.text;
    classify(shown, lowering.settings().arch);
    program.lines.push_back(std::move(shown));
    const auto index = static_cast<uint32_t>(program.lines.size() - 1);
    if (auto added = lowering.add(*parsed, index); !added)
      return refused(std::move(added).error(), line);
  }
  return {};
}

/// Functions that are no kernel, by address. What starts inside another one is a second name for
/// code that is there already.
std::vector<const codeobject::Symbol*> functions_of(const codeobject::CodeObject& object) {
  std::set<std::string_view> kernels;
  for (const auto& kernel : object.kernels) kernels.insert(kernel.name);
  std::vector<const codeobject::Symbol*> all;
  for (const auto& symbol : object.symbols)
    if (symbol.is_function && symbol.size != 0 && !kernels.contains(symbol.name))
      all.push_back(&symbol);
  std::stable_sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
    return a->address != b->address ? a->address < b->address : a->size > b->size;
  });
  std::vector<const codeobject::Symbol*> out;
  for (const auto* symbol : all)
    if (out.empty() || symbol->address - out.back()->address >= out.back()->size)
      out.push_back(symbol);
  return out;
}

/// Lowers the functions that a kernel with jumps through registers may call. Those that need more
/// registers than the kernel has are left out; it cannot call them.
Result<void> lower_functions(const codeobject::CodeObject& object,
                             const disassembly::Disassembler& disassembler, Lowering& lowering,
                             Program& program, uint64_t& instructions_left) {
  for (const auto* symbol : functions_of(object)) {
    const auto code = codeobject::code_at(object, symbol->address, symbol->size);
    if (!code) continue;
    HIPPLAN_TRY_ASSIGN(const auto lines, disassembler.disassemble(*code, symbol->address));
    const auto before = lowering.mark();
    const size_t known = program.lines.size();
    lowering.end_of_code();
    const auto lowered = lower_lines(lines, lowering, program, instructions_left);
    if (lowered) continue;
    if (lowered.error().reason != "register-out-of-range")
      return lowered.error().within(cat("function ", symbol->name));
    program.lines.resize(known);
    lowering.rewind(before);
  }
  return {};
}

/// Where MODE may ask for another rounding of f16 than to nearest even, every instruction that it
/// applies to must be able to.
Result<void> check_half_rounding(const Lowering& lowering, const Program& program) {
  const bool from_start = ((program.setup.mode >> 2) & 3u) != 0;
  if (!from_start && !lowering.half_rounding()) return {};
  for (const Op& op : program.ops) {
    const ProgramLine& line = program.lines[op.line];
    if (line.rounding != Rounding::f16 || op.directed != nullptr) continue;
    return Error{.code = Code::unusable,
                 .reason = "rounding",
                 .where = cat("instruction at ", hex(line.address)),
                 .what =
                     "MODE may ask for a rounding of this instruction's result other than to "
                     "nearest even, which is not emulated",
                 .found = cat("'", line.text, "', MODE set ",
                              from_start ? "by the kernel descriptor"
                                         : "at " + hex(*lowering.half_rounding()))};
  }
  return {};
}

Result<void> apply_relocation(const codeobject::Relocation& relocation, uint64_t bias,
                              AddressSpace& memory) {
  constexpr uint32_t kAbs64 = 3, kRelative64 = 13;
  uint64_t value = bias + static_cast<uint64_t>(relocation.addend);
  if (relocation.type == kAbs64)
    value += relocation.symbol_address;
  else if (relocation.type != kRelative64)
    return Error{.code = Code::unusable,
                 .reason = "relocation",
                 .what = "a relocation type that the loader does not apply",
                 .found = cat("type ", relocation.type)};
  HIPPLAN_TRY_ASSIGN(std::byte* const place, memory.reach(bias + relocation.address, 8));
  std::memcpy(place, &value, 8);
  return {};
}

}  // namespace

Result<Setup> read_setup(const codeobject::Kernel& kernel, const target::Description& device) {
  const std::string& arch = device.arch.base;
  const Family family = family_of(arch);
  const codeobject::KernelDescriptor& d = kernel.descriptor;
  Setup setup;
  setup.lanes = (d.kernel_code_properties & (1u << 10)) != 0 ? 32 : 64;
  if (setup.lanes == 32 && starts(arch, "gfx9"))
    return Error{.code = Code::unusable,
                 .reason = "wavefront-size",
                 .what = "the architecture has no wavefronts of 32"};
  read_registers(d, family, starts(arch, "gfx9"), setup);
  read_sgpr_setup(d, setup);
  setup.mode = initial_mode(d.compute_pgm_rsrc1, starts(arch, "gfx12"));
  setup.packed_item_ids = family.packed_ids;
  setup.trap_register_ids = family.trap_ids;
  setup.architected_scratch = family.architected_scratch;
  setup.lds_bytes = std::max(kernel.group_segment_fixed_size, d.group_segment_fixed_size);
  setup.private_bytes = std::max(kernel.private_segment_fixed_size, d.private_segment_fixed_size);
  if (kernel.uses_dynamic_stack) setup.private_bytes += 16384;
  const unsigned all = setup.vgprs + setup.acc_vgprs;
  if (setup.vgprs > 256 || setup.acc_vgprs > 256 || all > device.max_vgprs_per_wave)
    return too_much("registers", "vector registers", device.max_vgprs_per_wave, all);
  if (setup.lds_bytes > device.lds_bytes_per_workgroup)
    return too_much("lds", "LDS bytes", device.lds_bytes_per_workgroup, setup.lds_bytes);
  if (kernel.kernarg_segment_size > kMaxArgumentBytes)
    return too_much("kernarg", "argument bytes", kMaxArgumentBytes, kernel.kernarg_segment_size);
  if (setup.private_bytes > kMaxPrivateBytes)
    return too_much("private", "private memory", kMaxPrivateBytes, setup.private_bytes);
  return setup;
}

Result<std::unique_ptr<Program>> build_program(const device::Device& owner,
                                               const codeobject::CodeObject& object,
                                               const codeobject::Kernel& kernel, uint64_t load_bias,
                                               const disassembly::Disassembler& disassembler,
                                               uint64_t& instructions_left) {
  auto program = std::make_unique<Program>(&owner);
  const target::Description& device = owner.description();
  program->info = kernel;
  HIPPLAN_TRY_ASSIGN(program->setup, read_setup(kernel, device));
  HIPPLAN_TRY_ASSIGN(const ByteView code,
                     codeobject::code_at(object, kernel.entry_address, kernel.code_size));
  HIPPLAN_TRY_ASSIGN(const auto lines, disassembler.disassemble(code, kernel.entry_address));
  Lowering lowering({.arch = device.arch.base,
                     .lanes = program->setup.lanes,
                     .vgprs = program->setup.vgprs,
                     .acc_vgprs = program->setup.acc_vgprs,
                     .load_bias = load_bias});
  HIPPLAN_TRY(lower_lines(lines, lowering, *program, instructions_left));
  if (lowering.has_jumps())
    HIPPLAN_TRY(lower_functions(object, disassembler, lowering, *program, instructions_left));
  program->code_map = lowering.code_map();
  HIPPLAN_TRY_ASSIGN(program->ops, lowering.finish());
  program->timed =
      std::any_of(program->ops.begin(), program->ops.end(), [](const Op& op) { return op.clock; });
  ProgramLine end;
  end.address = kernel.entry_address + kernel.code_size;
  end.text = "(end of the code)";
  program->lines.push_back(std::move(end));
  program->ops.back().line = static_cast<uint32_t>(program->lines.size() - 1);
  HIPPLAN_TRY(check_half_rounding(lowering, *program));
  return program;
}

Result<uint64_t> place_segments(const codeobject::CodeObject& object, AddressSpace& memory,
                                std::vector<uint64_t>& placed) {
  uint64_t span = 0;
  for (const auto& segment : object.segments) {
    const auto end = checked_add(segment.address, segment.memory_size);
    if (!end)
      return Error{.code = Code::damaged, .reason = "segment", .what = "a segment's end overflows"};
    span = std::max(span, *end);
  }
  constexpr uint64_t kPage = 4096;
  HIPPLAN_TRY_ASSIGN(const uint64_t reserved, memory.reserve(span + kPage));
  const uint64_t bias = (reserved + kPage - 1) / kPage * kPage;
  for (const auto& segment : object.segments) {
    if (segment.memory_size == 0) continue;
    const uint64_t base = bias + segment.address;
    HIPPLAN_TRY(memory.allocate_at(base, segment.memory_size, "code object segment"));
    placed.push_back(base);
    HIPPLAN_TRY_ASSIGN(std::byte* const host, memory.reach(base, segment.content.size()));
    if (!segment.content.empty()) std::memcpy(host, segment.content.data(), segment.content.size());
  }
  for (const auto& relocation : object.relocations)
    HIPPLAN_TRY(apply_relocation(relocation, bias, memory));
  for (const auto& segment : object.segments)
    if (!segment.writable && segment.memory_size != 0) memory.protect(bias + segment.address);
  return bias;
}

}  // namespace hipplan::emulator
