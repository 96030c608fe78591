// Whether the place of each value is where its text stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace hipplan::test {

/// Offset of each line's first byte.
inline std::vector<size_t> line_starts(std::string_view text) {
  std::vector<size_t> starts{0};
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  return starts;
}

/// Path of the first value whose place does not show the first character of such a value; empty
/// when all are right.
inline std::string first_misplaced(const json::Value& value, std::string_view text,
                                   const std::vector<size_t>& lines,
                                   const std::string& path = "$") {
  const size_t at = value.line >= 1 && value.line <= lines.size()
                        ? lines[value.line - 1] + value.column - 1
                        : text.size();
  const char first = at < text.size() ? text[at] : '\0';
  constexpr std::string_view kFirst[] = {"n", "tf", "-0123456789", "-0123456789", "\"", "[", "{"};
  if (kFirst[static_cast<size_t>(value.kind)].find(first) == std::string_view::npos) return path;
  if (value.kind == json::Kind::string &&
      value.string.find_first_of("\\\"\n\t") == std::string::npos)
    if (const auto raw = text.substr(at + 1, value.string.size());
        raw.find('\\') == std::string_view::npos && raw != value.string)
      return path;
  for (size_t i = 0; i < value.items.size(); ++i)
    if (auto bad =
            first_misplaced(value.items[i], text, lines, path + "[" + std::to_string(i) + "]");
        !bad.empty())
      return bad;
  for (const auto& [key, member] : value.members)
    if (auto bad = first_misplaced(member, text, lines, path + "." + key); !bad.empty()) return bad;
  return {};
}

}  // namespace hipplan::test
