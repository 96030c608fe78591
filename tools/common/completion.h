// What the completion scripts of the three shells have in common.
#pragma once

#include "base/join.h"
#include "common/option_table.h"

namespace hipplan::tools {

/// Text between single quotes, as all three shells read it back.
[[nodiscard]] std::string shell_quoted(const std::string& text);
/// "_hipplan_build"
[[nodiscard]] std::string function_name(const std::string& tool);

[[nodiscard]] std::string bash_script(const std::string& name, const CommandRow& tool);
[[nodiscard]] std::string zsh_script(const std::string& name, const CommandRow& tool);
[[nodiscard]] std::string fish_script(const std::string& name, const CommandRow& tool);

}  // namespace hipplan::tools
