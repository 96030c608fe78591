// GPUs behind the CUDA driver.
#pragma once

#include <memory>

#include "device/driver_gate.h"
#include "device/driver_runtime.h"

namespace hipplan::device::cuda {

struct Api;

/// An opened driver library: the file that is named, or libcuda.so.1.
using Runtime = DriverRuntime<Api>;

/// Device `index` of `runtime`. `description` supplies the figures that the driver does not tell;
/// its architecture must be the device's. Out of range is machine, reason no-device. The device's
/// primary context is held as long as the device is. `longest_hold`: a gate opens by itself after
/// so long.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description,
                                            std::chrono::milliseconds longest_hold = kLongestHold);

}  // namespace hipplan::device::cuda

namespace hipplan::device {
extern template class DriverRuntime<cuda::Api>;
}
