// Batched matrix products: what of the dialect is served, and the
// launch values of hipplan.matmul.dispatch.v1.
#pragma once

#include "engine/registry.h"

namespace hipplan::engine::matmul {

[[nodiscard]] const Natives& natives();

}  // namespace hipplan::engine::matmul
