// The sidecar that says how each kernel of a packed descriptor was made.
#pragma once

#include <string>
#include <vector>

#include "descriptor/descriptor.h"
#include "descriptor/sidecar.h"
#include "pack/jobs.h"

namespace hipplan::pack {

using descriptor::provenance_path;

/// JSON text. Holds digests, names relative to the trees, compiler and flags; nothing of the
/// machine.
[[nodiscard]] std::string provenance_text(const json::Value& document,
                                          const std::vector<const descriptor::Kernel*>& kernels,
                                          const std::string& arch, const Jobs& jobs,
                                          const Compiler& compiler);

}  // namespace hipplan::pack
