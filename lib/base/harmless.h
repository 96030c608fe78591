// Text out of files and names, as a terminal may see it.
#pragma once

#include <string>
#include <string_view>

namespace hipplan {

/// Control characters (also U+0080 to U+009F) as \xNN, and those that end a line or turn the
/// direction of text (U+2028, U+202E) as \uNNNN, so that no file moves the cursor or fakes a line;
/// U+FFFD for bytes that are no UTF-8.
/// What stands in `keep` stays.
[[nodiscard]] std::string harmless(std::string_view text, std::string_view keep = "");

}  // namespace hipplan
