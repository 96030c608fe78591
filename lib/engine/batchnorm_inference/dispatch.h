// The dispatch handler hipplan.batchnorm_inference.dispatch.v1 (docs/dispatch-contracts.md).
#pragma once

#include "engine/dispatch.h"

namespace hipplan::engine::batchnorm_inference {

[[nodiscard]] const DispatchHandler& dispatch_handler();

/// Whether layout "planes" serves: the dims after the channel join to one that x and y walk with
/// stride 1 and whose extent, like all other strides, is a multiple of four.
[[nodiscard]] bool planes_serves(const std::vector<int64_t>& dims,
                                 const std::vector<int64_t>& x_strides,
                                 const std::vector<int64_t>& y_strides);

}  // namespace hipplan::engine::batchnorm_inference
