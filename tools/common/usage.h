// What is wrong with the arguments of a call.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace hipplan::tools {

/// A failure to parse in the form of all messages: where, what, expected, found, what to do.
/// `words` are the arguments of the call, without the program's name. Of commands and options that
/// are not there the nearest ones are named.
[[nodiscard]] Error usage_fault(const CLI::ParseError& error, const CLI::App& app,
                                const std::vector<std::string>& words);

}  // namespace hipplan::tools
