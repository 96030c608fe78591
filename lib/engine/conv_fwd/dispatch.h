// The dispatch handler hipplan.conv_fwd.dispatch.v1 (docs/dispatch-contracts.md).
#pragma once

#include "engine/dispatch.h"

namespace hipplan::engine::conv_fwd {

[[nodiscard]] const DispatchHandler& dispatch_handler();

}  // namespace hipplan::engine::conv_fwd
