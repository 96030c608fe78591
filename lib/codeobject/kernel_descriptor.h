// The 64-byte kernel descriptor that the packet processor reads before a launch.
#pragma once

#include <string>

#include "codeobject/codeobject.h"

namespace hipplan::codeobject {

inline constexpr uint64_t kKernelDescriptorBytes = 64;
/// Bit of kernel_code_properties: the kernel runs in wavefronts of 32.
inline constexpr uint16_t kPropertyWavefrontSize32 = 1u << 10;

/// `bytes` holds exactly one descriptor. Fails with damaged when reserved bytes are set.
Result<KernelDescriptor> read_kernel_descriptor(ByteView bytes, const std::string& where);

/// Compares the descriptor with the metadata of the same kernel: segment sizes and wavefront size.
Result<void> check_descriptor(const Kernel& kernel, const std::string& where);

}  // namespace hipplan::codeobject
