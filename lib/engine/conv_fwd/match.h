// Convolution forward, alone or with a bias added to its result: what of the dialect is served, and
// the launch values of hipplan.conv_fwd.dispatch.v1.
#pragma once

#include "engine/registry.h"

namespace hipplan::engine::conv_fwd {

[[nodiscard]] const Natives& natives();

}  // namespace hipplan::engine::conv_fwd
