// Shell completion made from the tool's own option table.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hipplan::tools {

/// `shell` is bash, zsh or fish.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& name,
                                            const std::string& shell);

}  // namespace hipplan::tools
