// What the text and the JSON form of "show" have in common. Inside lib/plan only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/harmless.h"
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

}  // namespace hipplan::plan
