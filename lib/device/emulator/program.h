// A kernel, ready to be launched: its operations and what its descriptor asks for.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "codeobject/codeobject.h"
#include "codeobject/disassembly/disassembler.h"
#include "device/device.h"
#include "device/emulator/memory.h"
#include "device/emulator/semantics.h"
#include "device/emulator/source_lines.h"

namespace hipplan::emulator {

/// MODE's round bits that an instruction's result follows.
enum class Rounding : uint8_t { none, f32, f64, f16 };

/// How a memory instruction stands to others on the same bytes. Coherent ones are loads and stores
/// that bypass the nearest cache: what compilers make of atomic loads and stores.
enum class Sharing : uint8_t { plain, coherent, atomic };

/// What an instruction orders at device scope: before it (release) or behind it (acquire).
enum class Fence : uint8_t { none, release, acquire };

/// How results stand to what their sources hold, for the check of uninitialised registers.
enum class Flow : uint8_t {
  spreads,     ///< a lane's result is undefined when a source is
  pairs,       ///< v_pk_*: a source of two registers counts when both are undefined
  exchanges,   ///< v_swap: two registers trade places
  blocks,      ///< loads the registers that M0 names
  defines,     ///< looks at other lanes or at registers by number: taken to be defined
  everywhere,  ///< as `defines`, in lanes that are off too
};

/// One instruction as messages show it, and what monitors and rounding know it for.
struct ProgramLine {
  uint64_t address = 0;  ///< in the code object
  std::string text;
  device::InstructionClass kind = device::InstructionClass::other;
  Sharing sharing = Sharing::plain;
  Rounding rounding = Rounding::none;
  Fence fence = Fence::none;
  Flow flow = Flow::spreads;
  std::string operations;        ///< key of device::Profile::operations; empty: none are counted
  uint32_t lane_operations = 0;  ///< per active lane
  uint64_t wave_operations = 0;  ///< per wavefront: matrix instructions
};

/// What the kernel descriptor's bits say. ISA-independent names; AMDGPU backend documentation,
/// "Kernel Descriptor" and "Initial Kernel Execution State".
struct Setup {
  unsigned lanes = 64;
  unsigned vgprs = 0, acc_vgprs = 0;
  uint32_t mode = 0;
  unsigned user_sgprs = 0;
  bool private_segment_buffer = false, dispatch_ptr = false, queue_ptr = false, kernarg_ptr = false,
       dispatch_id = false, flat_scratch_init = false, private_segment_size = false;
  bool group_id_x = false, group_id_y = false, group_id_z = false, group_info = false;
  bool private_segment = false;
  unsigned preload_dwords = 0, preload_offset = 0;
  bool packed_item_ids = true;      ///< work-item numbers all in v0, ten bits each
  bool trap_register_ids = false;   ///< workgroup numbers in ttmp9 and ttmp7
  bool architected_scratch = true;  ///< no scratch setup through SGPRs
  uint32_t lds_bytes = 0, private_bytes = 0;
};

class Program final : public device::Kernel {
 public:
  using Kernel::Kernel;
  codeobject::Kernel info;
  Setup setup;
  std::vector<Op> ops;
  std::vector<ProgramLine> lines;
  bool timed = false;                               ///< some operation reads the clock
  std::shared_ptr<const CodeMap> code_map;          ///< jumps through registers look here
  std::shared_ptr<const SourceLines> source_lines;  ///< empty without -g; never null
};

/// Fills everything of a line but address and text.
void classify(ProgramLine& line, std::string_view arch);

/// Decodes the descriptor. Fails with unusable/"registers" or "lds" when the kernel asks for more
/// than the device has.
Result<Setup> read_setup(const codeobject::Kernel& kernel, const target::Description& device);

/// Instructions that the kernels of one code object may come to, functions counted once for each
/// kernel that may call them: it bounds time and memory of a load.
constexpr uint64_t kMaxModuleInstructions = 4'000'000;

/// Decodes and lowers one kernel of a code object that `owner` has loaded. Every instruction is
/// checked, and taken from `instructions_left`.
Result<std::unique_ptr<Program>> build_program(const device::Device& owner,
                                               const codeobject::CodeObject& object,
                                               const codeobject::Kernel& kernel, uint64_t load_bias,
                                               const disassembly::Disassembler& disassembler,
                                               uint64_t& instructions_left);

/// Places the segments in emulated memory, applies relocations; returns the addresses of the
/// allocations through `placed` (to release later, also after a failure) and the load bias.
Result<uint64_t> place_segments(const codeobject::CodeObject& object, AddressSpace& memory,
                                std::vector<uint64_t>& placed);

}  // namespace hipplan::emulator
