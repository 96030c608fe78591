// A device for programs that run code objects on the emulator without a target file.
#pragma once

#include <string>

#include "target/target.h"

namespace hipplan::test {

/// What the emulator needs to know of a device with architecture `arch`; no figures of a product.
inline target::Description emulated_target(const std::string& arch) {
  const bool wave64 = arch.rfind("gfx9", 0) == 0;
  target::Description d;
  d.name = "device without a product";
  d.arch.base = arch;
  d.wavefront_size = wave64 ? 64 : 32;
  d.max_workgroup_size = 1024;
  d.lds_bytes_per_workgroup = 65536;
  d.max_vgprs_per_wave = 512;
  d.max_sgprs_per_wave = 102;
  d.memory_bytes = uint64_t{1} << 30;
  return d;
}

}  // namespace hipplan::test
