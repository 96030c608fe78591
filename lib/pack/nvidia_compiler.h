// How kernel sources become code for NVIDIA GPUs: cubins by nvcc, PTX by clang or nvcc.
#pragma once

#include <string>
#include <vector>

#include "pack/compiler.h"

namespace hipplan::pack {

/// sm_90, compute_80 and the like.
[[nodiscard]] bool is_nvidia(std::string_view arch);

/// `requested`, or the first that starts of nvcc (for machine code, sm_…), or clang-22 and nvcc
/// (for PTX, compute_…). Fails with machine, reason "compiler-missing"; with bad_input when
/// `requested` makes no machine code.
Result<Compiler> find_nvidia_compiler(const std::string& requested, bool machine_code);

/// compile_arguments() for NVIDIA architectures.
[[nodiscard]] std::vector<std::string> nvidia_arguments(const Unit& unit, const std::string& arch,
                                                        bool nvcc);

}  // namespace hipplan::pack
