// Whether graphs find an engine in a descriptor set.
#pragma once

#include <memory>

#include "descriptor/descriptor.h"
#include "pack/pack.h"

namespace hipplan::pack {

/// Adds an error for each graph that no kernel serves on any of the targets, with every engine's
/// reason, and a note that names the targets for the others. Fails when a graph cannot be read.
Result<void> check_served(const std::shared_ptr<const descriptor::DescriptorSet>& set,
                          const ValidateOptions& options, ValidateReport& report);

}  // namespace hipplan::pack
