// Descriptor sets against the native functions that are really there.
#pragma once

#include <vector>

#include "base/diagnostics.h"
#include "descriptor/descriptor.h"

namespace hipplan::engine {

/// Reports, as errors, every symbol that nothing is registered under ("unregistered-symbol"), every
/// engine without a graph matcher ("no-graph-matcher"), kernels whose launch names are not their
/// handler's ("launch-names") and packed kernels whose recorded signature is not what their handler
/// passes ("signature"). Heuristics that cannot rank here are warnings ("heuristic-unusable").
[[nodiscard]] std::vector<Diagnostic> check_natives(const descriptor::DescriptorSet& set);

}  // namespace hipplan::engine
