// Text out of files and names, as a terminal may see it.
#pragma once

#include <string>
#include <string_view>

namespace hipplan {

/// Control characters (also the two-byte ones from U+0080 to U+009F) as \xNN, so that no file moves
/// the cursor or fakes a line. Those in `keep` stay.
[[nodiscard]] std::string harmless(std::string_view text, std::string_view keep = "");

}  // namespace hipplan
