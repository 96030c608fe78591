// Which machine code a device can load.
#pragma once

#include "target/target.h"

namespace hipplan::target {

/// Whether a code object built for `code` loads on `device`: the same base architecture or the
/// device's generic family, and no feature that the code fixes is the opposite of the device's.
/// A feature that either side leaves open agrees with anything (target ids, LLVM AMDGPU usage
/// guide).
/// Code for NVIDIA GPUs: the rule of target/nvidia.h; PTX has the architecture compute_80 or the
/// like.
[[nodiscard]] bool code_loads_on(const Arch& code, const Arch& device);

}  // namespace hipplan::target
