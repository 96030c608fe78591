// The dispatch handler hipplan.matmul.dispatch.v1 (docs/dispatch-contracts.md).
#pragma once

#include "engine/dispatch.h"

namespace hipplan::engine::matmul {

[[nodiscard]] const DispatchHandler& dispatch_handler();

}  // namespace hipplan::engine::matmul
