// The versions of the formats that this library reads and writes.
#pragma once

#include <string>

namespace hipplan::commands {

/// One line a format, as --version prints them; the numbers are those the readers compare with.
[[nodiscard]] std::string format_versions();

}  // namespace hipplan::commands
