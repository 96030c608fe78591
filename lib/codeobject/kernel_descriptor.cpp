#include "codeobject/kernel_descriptor.h"

#include <algorithm>

namespace hipplan::codeobject {
namespace {

Error damaged_descriptor(const std::string& where, std::string what, std::string expected,
                         std::string found) {
  return Error{Code::damaged,       "kernel-descriptor", where, std::move(what),
               std::move(expected), std::move(found),    ""};
}

// Reserved ranges of the descriptor, bytes from its start.
struct Range {
  size_t begin, end;
};
constexpr Range kReserved[] = {{12, 16}, {24, 44}, {60, 64}};

}  // namespace

Result<KernelDescriptor> read_kernel_descriptor(ByteView bytes, const std::string& where) {
  if (bytes.size() != kKernelDescriptorBytes)
    return damaged_descriptor(where, "the kernel descriptor has the wrong size",
                              cat(kKernelDescriptorBytes), cat(bytes.size()));
  for (const Range& range : kReserved)
    for (size_t i = range.begin; i < range.end; ++i)
      if (bytes[i] != std::byte{0})
        return damaged_descriptor(cat(where, ", kernel descriptor, byte ", i),
                                  "a reserved byte is set", "0",
                                  cat(std::to_integer<int>(bytes[i])));
  KernelDescriptor out;
  out.group_segment_fixed_size = *load<uint32_t>(bytes, 0);
  out.private_segment_fixed_size = *load<uint32_t>(bytes, 4);
  out.kernarg_size = *load<uint32_t>(bytes, 8);
  out.code_entry_byte_offset = *load<int64_t>(bytes, 16);
  out.compute_pgm_rsrc3 = *load<uint32_t>(bytes, 44);
  out.compute_pgm_rsrc1 = *load<uint32_t>(bytes, 48);
  out.compute_pgm_rsrc2 = *load<uint32_t>(bytes, 52);
  out.kernel_code_properties = *load<uint16_t>(bytes, 56);
  out.kernarg_preload = *load<uint16_t>(bytes, 58);
  return out;
}

Result<void> check_descriptor(const Kernel& kernel, const std::string& where) {
  const auto same = [&](const char* field, uint32_t metadata, uint32_t descriptor) -> Result<void> {
    if (metadata == descriptor) return {};
    return damaged_descriptor(cat(where, ", ", field),
                              "the kernel descriptor does not agree with the metadata",
                              cat(metadata), cat(descriptor));
  };
  const KernelDescriptor& d = kernel.descriptor;
  HIPPLAN_TRY(same("group_segment_fixed_size", kernel.group_segment_fixed_size,
                   d.group_segment_fixed_size));
  HIPPLAN_TRY(same("private_segment_fixed_size", kernel.private_segment_fixed_size,
                   d.private_segment_fixed_size));
  HIPPLAN_TRY(same("kernarg_size", kernel.kernarg_segment_size, d.kernarg_size));
  const bool wave32 = (d.kernel_code_properties & kPropertyWavefrontSize32) != 0;
  return same("wavefront_size", kernel.wavefront_size, wave32 ? 32 : 64);
}

}  // namespace hipplan::codeobject
