// GPUs behind a HIP runtime.
#pragma once

#include <memory>

#include "device/driver_gate.h"
#include "device/driver_runtime.h"

namespace hipplan::device::hip {

struct Api;

/// An opened HIP library: the file that is named, or the newest installed libamdhip64.
using Runtime = DriverRuntime<Api>;

/// Device `index` of `runtime`. `description` supplies the figures that the runtime does not tell;
/// its architecture must be the device's. Out of range is machine, reason no-device.
/// `longest_hold`: a gate opens by itself after so long.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description,
                                            std::chrono::milliseconds longest_hold = kLongestHold);

}  // namespace hipplan::device::hip

namespace hipplan::device {
extern template class DriverRuntime<hip::Api>;
}
