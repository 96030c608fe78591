// What groups of objects save, measured on a file.
#pragma once

#include <span>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/print.h"

namespace hipplan::plan {

/// Sections with groups. Decompresses each group once, and compresses what it holds alone. `refs`
/// are all references of the file, as RefSet::finish() gives them, and Check::full has found them
/// right.
[[nodiscard]] Result<std::vector<GroupedSection>> group_sizes(const File& file,
                                                              std::span<const ObjectRef> refs);

}  // namespace hipplan::plan
