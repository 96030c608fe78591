// Code for NVIDIA GPUs: cubins (ELF) and PTX text, read into the same CodeObject as code for AMD
// GPUs. Reads untrusted bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codeobject/codeobject.h"
#include "codeobject/elf_file.h"

namespace hipplan::codeobject {

/// Whether the bytes start like PTX: blank space and comments, however long, then ".version".
[[nodiscard]] bool is_ptx(ByteView bytes);

/// The architecture of a cubin: e_flags names it, in the lowest byte up to ABI 7, in the second
/// from 8 on. One that is not known here, or another ABI, is unusable, reason code-object-version.
Result<target::Arch> cubin_arch(const Elf64_Ehdr& header, const std::string& where);

/// A linked cubin. Kernels have names, arguments (.nv.info.NAME), registers, shared memory, the
/// largest workgroup, and code. `segments` holds the code of each kernel, one after the other, and
/// `entry_address` points there: in a cubin every section starts at 0. An argument of 8 bytes
/// counts as a pointer ("global_buffer"), every other one as "by_value": cubins do not tell. (PTX
/// may, with .ptr; it is read alike, for both to have the same argument list.)
Result<CodeObject> parse_cubin(const ElfFile& file, const std::string& where);

/// PTX text. The architecture is the virtual one: ".target sm_80" is compute_80. Kernels have
/// names, arguments and static shared memory (with all that stands outside kernels); registers and
/// code size are the driver's to choose. `sources` takes the text of each kernel, in their order,
/// from ".entry" to the closing brace: texts that do not overlap.
Result<CodeObject> parse_ptx(ByteView bytes, const std::string& where,
                             std::vector<std::string_view>* sources = nullptr);

/// Arguments in order, without overlaps, the last one up to the end of the kernarg segment; adds
/// the kinds.
Result<void> finish_arguments(Kernel& kernel, const std::string& where);

}  // namespace hipplan::codeobject
