// One condition, one error: what every device answers in the same case. `device` is the device's
// name.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "device/device.h"

namespace hipplan::device {

/// Code that the device's architecture does not run: unusable, driver-load.
[[nodiscard]] Error other_architecture(const std::string& device, const target::Arch& runs,
                                       const target::Arch& code);
/// A kernel whose module another device has loaded: internal, foreign-kernel.
[[nodiscard]] Error foreign_kernel(const std::string& device);
/// A code object without the kernel that is asked for: unusable, symbol.
[[nodiscard]] Error no_kernel(const std::string& device, std::string_view symbol);
/// Too little device memory: machine, device-memory.
[[nodiscard]] Error no_memory(const std::string& device, uint64_t bytes, uint64_t free_bytes,
                              uint64_t total_bytes);
/// A release of what is not allocated: machine, bad-address.
[[nodiscard]] Error not_allocated(const std::string& device, Address address);

/// What a kernel's code object says about its launches.
struct KernelLimits {
  uint32_t max_workgroup_size = 0;
  uint32_t lds_bytes = 0;  ///< before what a launch asks for
};
/// What a launch must keep to on every device: a grid that is not empty (bad-input, grid), a
/// workgroup within the kernel's and the device's limit (bad-input, block), LDS within the device's
/// (unusable, lds). A limit that the description leaves at zero is not known and not checked.
Result<void> check_launch(const Launch& launch, std::string_view kernel, const KernelLimits& limits,
                          const target::Description& device);

/// "launch of NAME, grid 1x1x1, workgroup 64x1x1, 0 bytes of dynamic LDS".
[[nodiscard]] std::string launch_text(std::string_view kernel, const Launch& launch);

}  // namespace hipplan::device
