// Runs cases on a device from compiled code objects.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cases.h"
#include "device/device.h"

namespace hipplan::test {

/// A kernel's code and symbol.
struct Image {
  Bytes code;
  std::string symbol;
};
using FindImage = std::function<Result<Image>(const std::string& kernel)>;

/// Launches on `device`; both arguments must outlive the runner. Checks each image's signature
/// against the handler of the case on the way.
[[nodiscard]] Runner device_runner(device::Device& device, FindImage find);

}  // namespace hipplan::test
