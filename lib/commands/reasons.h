// The stable reason codes of verification, in the order of the checks.
#pragma once

#include <vector>

#include "commands/io.h"
#include "plan/reasons.h"

namespace hipplan::commands {

/// Every reason with which hipplan-verify refuses a file or a plan: of files first, then of code
/// objects, provider, device and results, then of bundles and of what was asked.
[[nodiscard]] const std::vector<plan::ReasonFacts>& verify_reasons();
void print_reasons(Io& io);

}  // namespace hipplan::commands
