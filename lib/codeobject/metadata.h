// The NT_AMDGPU_METADATA note: MessagePack that lists kernels, their arguments and resources.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "codeobject/codeobject.h"

namespace hipplan::codeobject {

struct Metadata {
  uint32_t major = 0, minor = 0;  ///< "amdhsa.version"
  std::string target;             ///< "amdhsa.target"
  std::vector<Kernel> kernels;    ///< without descriptors and addresses
};

/// Reads the note's MessagePack. Keys that hipplan does not use are skipped (the dialect grows);
/// keys that it uses have the right type, and arguments lie in order inside the kernarg segment.
Result<Metadata> read_metadata(ByteView note, const std::string& where);

}  // namespace hipplan::codeobject
