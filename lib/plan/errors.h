// Short ways to make the errors of this module. Inside hipplan::plan the name Code means code
// objects.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "plan/reasons.h"

namespace hipplan::plan {

using ErrorCode = hipplan::Code;

[[nodiscard]] inline Error damaged(const Reason& reason, std::string where, std::string what,
                                   std::string expected = {}, std::string found = {}) {
  return {.code = ErrorCode::damaged,
          .reason = reason.text(),
          .where = std::move(where),
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found),
          .advice = "the bytes are not what was written; fetch or build the file again"};
}

[[nodiscard]] inline Error unusable(const Reason& reason, std::string where, std::string what,
                                    std::string expected = {}, std::string found = {},
                                    std::string advice = {}) {
  return {.code = ErrorCode::unusable,
          .reason = reason.text(),
          .where = std::move(where),
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found),
          .advice = std::move(advice)};
}

[[nodiscard]] inline Error bad_input(const Reason& reason, std::string where, std::string what,
                                     std::string expected = {}, std::string found = {},
                                     std::string advice = {}) {
  return {.code = ErrorCode::bad_input,
          .reason = reason.text(),
          .where = std::move(where),
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found),
          .advice = std::move(advice)};
}

[[nodiscard]] inline Error machine(const Reason& reason, std::string where, std::string what) {
  return {.code = ErrorCode::machine,
          .reason = reason.text(),
          .where = std::move(where),
          .what = std::move(what),
          .expected = {},
          .found = {},
          .advice = {}};
}

/// Text out of a file as it may appear in a message: at most 80 characters, control and non-ASCII
/// bytes as '?'.
[[nodiscard]] inline std::string quote(std::string_view text) {
  constexpr size_t kMost = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) out += (c >= 0x20 && c < 0x7f) ? c : '?';
  if (text.size() > kMost) out += "…";
  return out + "'";
}

/// The two version refusals, each with both numbers.
[[nodiscard]] inline Error version_error(const std::string& where, std::string_view thing,
                                         unsigned major, unsigned minor, unsigned own_major,
                                         unsigned own_minor) {
  const bool newer = major > own_major || (major == own_major && minor > own_minor);
  const std::string found = cat(major, ".", minor), own = cat(own_major, ".", own_minor);
  return unusable(newer ? Reason("format-too-new") : Reason("format-too-old"), where,
                  cat(thing, newer ? " was written in a newer format than this reader knows"
                                   : " was written in an older format than this reader reads"),
                  cat("format ", own_major, ".0 to ", own), "format " + found,
                  newer ? "use a newer hipplan" : "build the plan again");
}

}  // namespace hipplan::plan
