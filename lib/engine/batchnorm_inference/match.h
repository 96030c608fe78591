// Batchnorm inference from mean and inverse variance: what of the dialect is served, and the
// launch values of hipplan.batchnorm_inference.dispatch.v1.
#pragma once

#include "engine/registry.h"

namespace hipplan::engine::batchnorm_inference {

[[nodiscard]] const Natives& natives();

}  // namespace hipplan::engine::batchnorm_inference
