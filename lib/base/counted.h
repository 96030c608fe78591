// Numbers of things in sentences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hipplan {

/// "1 plan", "2 plans".
[[nodiscard]] inline std::string counted(uint64_t count, std::string_view thing) {
  return cat(count, " ", thing, count == 1 ? "" : "s");
}

}  // namespace hipplan
