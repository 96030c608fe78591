// Words in one text.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace hipplan {

/// "a, b, c"; empty for no words.
template <class Words>
[[nodiscard]] std::string joined(const Words& words, std::string_view between = ", ") {
  std::string out;
  bool first = true;
  for (const auto& word : words) {
    if (!std::exchange(first, false)) out += between;
    out += word;
  }
  return out;
}

}  // namespace hipplan
