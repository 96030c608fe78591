// The stable reason codes of verification, in the order of the checks.
#pragma once

#include <string_view>
#include <vector>

#include "commands/io.h"

namespace hipplan::commands {

struct ReasonInfo {
  std::string_view reason;
  std::string_view error_class;
  std::string_view meaning;
};
[[nodiscard]] const std::vector<ReasonInfo>& verify_reasons();
void print_reasons(Io& io);

}  // namespace hipplan::commands
