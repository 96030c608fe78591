// One pointwise node over float, half or bfloat16 memory: what of the dialect is served, and the
// launch values of hipplan.pointwise.dispatch.v1.
#pragma once

#include "engine/registry.h"

namespace hipplan::engine::pointwise {

[[nodiscard]] const Natives& natives();

}  // namespace hipplan::engine::pointwise
