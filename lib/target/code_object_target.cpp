#include "target/code_object_target.h"

#include <algorithm>

#include "target/nvidia.h"

namespace hipplan::target {

bool code_loads_on(const Arch& code, const Arch& device) {
  if (!device.is_amd()) return nvidia_runs(code.base, device.base);
  const bool base =
      code.base == device.base || (code.is_generic() && generic_family(device.base) == code.base);
  const auto contradicts = [&](const auto& feature) {
    return std::any_of(device.features.begin(), device.features.end(), [&](const auto& other) {
      return other.first == feature.first && other.second != feature.second;
    });
  };
  return base && std::none_of(code.features.begin(), code.features.end(), contradicts);
}

}  // namespace hipplan::target
