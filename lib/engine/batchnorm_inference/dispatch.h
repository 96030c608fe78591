// The dispatch handler hipplan.batchnorm_inference.dispatch.v1 (docs/dispatch-contracts.md).
#pragma once

#include "engine/dispatch.h"

namespace hipplan::engine::batchnorm_inference {

[[nodiscard]] const DispatchHandler& dispatch_handler();

}  // namespace hipplan::engine::batchnorm_inference
