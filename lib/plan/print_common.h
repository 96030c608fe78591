// What the text and the JSON form of "show" have in common. Inside lib/plan only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"
#include "plan/print.h"

namespace hipplan::plan {

struct ShownEntry {
  EntryInfo entry;
  Plan plan;  ///< without code
  std::vector<PartInfo> parts;
};

/// Calls `visit` for the entries to show; returns how many fit the options, shown or not.
Result<uint64_t> visit_shown(const File& file, const ShowOptions& options,
                             const std::function<void(const ShownEntry&)>& visit);

[[nodiscard]] const char* source_kind_name(SourceKind kind);

/// Text of a file as a terminal may see it: control characters (also the two-byte ones from U+0080
/// to U+009F) as \xNN, so that no file moves the cursor or fakes a line. Those in `keep` stay.
[[nodiscard]] std::string harmless(std::string_view text, std::string_view keep = "");

}  // namespace hipplan::plan
