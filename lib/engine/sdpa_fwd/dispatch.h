// The dispatch handler hipplan.sdpa_fwd.dispatch.v1 (docs/dispatch-contracts.md).
#pragma once

#include "engine/dispatch.h"

namespace hipplan::engine::sdpa_fwd {

[[nodiscard]] const DispatchHandler& dispatch_handler();

}  // namespace hipplan::engine::sdpa_fwd
