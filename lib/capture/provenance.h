// Where a plan's parts came from, as the plan's provenance section.
#pragma once

#include <string>
#include <vector>

#include "capture/code_cache.h"

namespace hipplan::capture {

struct KernelOrigin {
  const descriptor::Source* source = nullptr;
  std::shared_ptr<const VerifiedCode> code;
};

/// JSON, schema hipplan.provenance/1. Paths are those inside the descriptor tree; nothing depends
/// on the machine, the folder or the time.
[[nodiscard]] std::string print_provenance(const std::vector<KernelOrigin>& kernels,
                                           const target::Description& target);

}  // namespace hipplan::capture
