// What to say of an option that is not expected where it stands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hipplan::tools {

/// After a parse that left something over: whose option the first of it is, or which option has a
/// name like it. Empty when there is nothing to say.
[[nodiscard]] std::string advice_on_unexpected(const CLI::App& app);

}  // namespace hipplan::tools
