// All references of a file, each once. Inside lib/plan only.
#pragma once

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

#include "plan/layout.h"

namespace hipplan::plan {

/// Memory follows the number of distinct objects.
class RefSet {
 public:
  void add(const ObjectRef& ref) {
    refs_.push_back(ref);
    if (refs_.size() >= next_compaction_) compact();
  }
  /// By section, and there in the order of the file: objects of one frame are neighbours.
  std::vector<ObjectRef> finish() {
    compact();
    return std::move(refs_);
  }

 private:
  static auto order(const ObjectRef& r) {
    return std::tie(r.type, r.offset, r.inner_offset, r.stored_bytes, r.frame_bytes, r.compression,
                    r.raw_bytes, r.sha256);
  }
  void compact() {
    std::sort(refs_.begin(), refs_.end(),
              [](const ObjectRef& a, const ObjectRef& b) { return order(a) < order(b); });
    const auto same = [](const ObjectRef& a, const ObjectRef& b) { return order(a) == order(b); };
    refs_.erase(std::unique(refs_.begin(), refs_.end(), same), refs_.end());
    next_compaction_ = std::max<size_t>(4096, refs_.size() * 2);
  }
  std::vector<ObjectRef> refs_;
  size_t next_compaction_ = 4096;
};

/// Those of one section, out of what RefSet::finish() gives.
[[nodiscard]] inline std::span<const ObjectRef> refs_of_section(std::span<const ObjectRef> refs,
                                                                uint16_t type) {
  const auto of_type =
      std::equal_range(refs.begin(), refs.end(), ObjectRef{.type = type, .sha256 = {}},
                       [](const ObjectRef& a, const ObjectRef& b) { return a.type < b.type; });
  return {of_type.first, of_type.second};
}

/// The objects of the frame in which the first one lies.
[[nodiscard]] inline std::span<const ObjectRef> refs_of_first_frame(
    std::span<const ObjectRef> refs) {
  const auto last = std::find_if(refs.begin(), refs.end(), [&](const ObjectRef& r) {
    return r.offset != refs.front().offset;
  });
  return refs.first(static_cast<size_t>(last - refs.begin()));
}

}  // namespace hipplan::plan
