// Attention forward: what of the dialect is served, and the
// launch values of hipplan.sdpa_fwd.dispatch.v1.
#pragma once

#include "engine/registry.h"

namespace hipplan::engine::sdpa_fwd {

[[nodiscard]] const Natives& natives();

}  // namespace hipplan::engine::sdpa_fwd
