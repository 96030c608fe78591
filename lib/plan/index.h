// The index: a tree of 4 KiB pages, sorted by (graph key, target), each page under its parent's
// digest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/result.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// In front of a page's entries: level, number of entries, bytes used.
inline constexpr uint64_t kIndexPageHeaderBytes = 8;

struct BuiltIndex {
  Bytes pages;  ///< one short page when everything fits into one leaf
  uint32_t root_page = 0;
  Digest root;
};
/// `entries` in strictly ascending order of (graph key, target). How entries spread over pages
/// depends on the targets' lengths only.
[[nodiscard]] BuiltIndex build_index(const std::vector<EntryInfo>& entries);

/// Graph keys from `low` to `high`, both included.
struct KeyRange {
  Digest low, high;
  /// The keys whose hexadecimal text starts with `digits`; nothing when no key does.
  [[nodiscard]] static std::optional<KeyRange> of(std::string_view digits);
};

/// Reads pages of an index section, checking each against the digest its parent holds. Cheap to
/// copy.
class IndexReader {
 public:
  using Visit = std::function<bool(const EntryInfo&)>;
  IndexReader() = default;
  IndexReader(ByteView section, uint32_t root_page, const Digest& root, uint64_t entry_count,
              std::string where)
      : section_(section),
        root_page_(root_page),
        root_(root),
        entry_count_(entry_count),
        where_(std::move(where)) {}

  [[nodiscard]] Result<std::optional<EntryInfo>> find(const Digest& key,
                                                      std::string_view target) const;
  /// All entries in order; `visit` returns false to stop. Reads no page more than the section has
  /// and visits no entry more than the header counts, whatever the pages say.
  Result<void> for_each(const Visit& visit) const;
  /// The same for the entries whose graph keys lie in `range`, reading only the pages they are on.
  Result<void> for_each_in(const KeyRange& range, const Visit& visit) const;
  /// Walks the whole tree: order, first keys, counts, every page used exactly once; records must
  /// follow one another from 0 to `plans_bytes`.
  Result<void> check(uint64_t plans_bytes) const;

 private:
  struct Page;
  struct Child;
  struct Audit;
  struct Walk;
  [[nodiscard]] Result<Page> page(uint32_t number, const Digest& digest,
                                  std::optional<uint16_t> level) const;
  Result<bool> visit_below(const Page& page, const KeyRange& range, const Visit& visit,
                           Walk& walk) const;
  Result<void> check_below(const Page& page, Audit& audit) const;
  Result<void> check_leaf(const Page& page, Audit& audit, const std::string& place) const;

  ByteView section_;
  uint32_t root_page_ = 0;
  Digest root_;
  uint64_t entry_count_ = 0;
  std::string where_;
};

}  // namespace hipplan::plan
