// GPU code objects: AMD ones (ELF, metadata note, kernel descriptors), cubins and PTX. Reads
// untrusted bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "target/target.h"

namespace hipplan::codeobject {

/// One kernel argument as the metadata lists it. Order, kind, size and offset form the signature.
struct Argument {
  std::string kind;               ///< "global_buffer", "by_value", "hidden_block_count_x", …
  uint32_t size = 0, offset = 0;  ///< bytes
  std::string name;               ///< may be empty
  friend bool operator==(const Argument&, const Argument&) = default;
};

/// The 64-byte kernel descriptor (NAME.kd), decoded as far as loaders need it.
struct KernelDescriptor {
  uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0, kernarg_size = 0;
  int64_t code_entry_byte_offset = 0;  ///< from the descriptor's own address
  uint32_t compute_pgm_rsrc1 = 0, compute_pgm_rsrc2 = 0, compute_pgm_rsrc3 = 0;
  uint16_t kernel_code_properties = 0;
  uint16_t kernarg_preload = 0;
};

struct Kernel {
  std::string name;                 ///< without ".kd"
  std::string symbol;               ///< with ".kd"
  std::vector<Argument> arguments;  ///< explicit and hidden, in order
  uint32_t kernarg_segment_size = 0, kernarg_segment_align = 0;
  uint32_t group_segment_fixed_size = 0, private_segment_fixed_size = 0;
  uint32_t vgpr_count = 0, agpr_count = 0, sgpr_count = 0, vgpr_spill_count = 0,
           sgpr_spill_count = 0;
  uint32_t max_flat_workgroup_size = 0, wavefront_size = 0;
  bool uses_dynamic_stack = false;
  KernelDescriptor descriptor;
  uint64_t descriptor_address = 0;  ///< virtual address of NAME.kd
  uint64_t entry_address = 0;       ///< virtual address of the first instruction
  uint64_t code_size = 0;           ///< bytes of the function symbol NAME
  /// Explicit arguments only (no "hidden_" kinds).
  [[nodiscard]] std::vector<Argument> signature() const;
};

/// One PT_LOAD segment. A code object's segments are sorted by address and do not overlap.
struct Segment {
  uint64_t address = 0, memory_size = 0;
  ByteView content;  ///< file part; the rest up to memory_size is zero
  bool writable = false, executable = false;
};

struct Symbol {
  std::string name;
  uint64_t address = 0, size = 0;
  bool is_function = false;
};

/// A relocation that a loader must apply (R_AMDGPU_RELATIVE64 and its like).
struct Relocation {
  uint64_t address = 0;
  uint32_t type = 0;
  int64_t addend = 0;
  uint64_t symbol_address = 0;
};

/// A parsed code object; views point into the bytes given to parse(), which must outlive it.
struct CodeObject {
  target::Arch arch;     ///< from e_flags; features only where the flags fix them; PTX: compute_80
  uint32_t version = 0;  ///< code object version 4, 5 or 6; cubin: ABI 7 or 8; PTX: major version
  uint32_t e_flags = 0;
  std::vector<Kernel> kernels;
  std::vector<Segment> segments;
  std::vector<Symbol> symbols;
  std::vector<Relocation> relocations;
  std::vector<std::string>
      undefined;  ///< names that the dynamic symbol table leaves to somebody else
  [[nodiscard]] const Kernel* find(std::string_view name) const;
};

/// What bytes start like.
enum class CodeKind {
  none,
  amd,        ///< ELF for AMDGPU
  cubin,      ///< ELF for CUDA
  other_elf,  ///< ELF for a processor that is no GPU
  ptx,        ///< PTX text
};
/// The one rule by which code is told; nothing behind the first bytes (and leading comments) is
/// checked.
[[nodiscard]] CodeKind kind_of(ByteView bytes);

/// Fails with damaged for anything that is not a well-formed AMD code object, with unusable (reason
/// code-object-version) for another version or machine; every offset is checked. Afterwards each
/// kernel's descriptor and code lie inside file-backed parts of segments (the code inside an
/// executable one) and agree with the metadata, and relocations lie inside segments.
Result<CodeObject> parse(ByteView bytes, const std::string& where);

/// The `size` bytes of code at a virtual address of a parsed object. Fails with damaged, reason
/// kernel-code, when they are not in the file part of an executable segment.
Result<ByteView> code_at(const CodeObject& object, uint64_t address, uint64_t size);

}  // namespace hipplan::codeobject
