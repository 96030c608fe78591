// Reading and checking of the index: docs/plan-format.md, 2.5.
#include "plan/index.h"

#include <algorithm>
#include <tuple>

#include "base/interruption.h"
#include "plan/errors.h"
#include "plan/layout.h"

namespace hipplan::plan {
namespace {

constexpr uint16_t kMostLevels = 16;
// Fixed parts of an entry, in front of the target's length byte and text.
constexpr uint64_t kLeafFixed = 32 + 32 + 8 + 4 + 32, kInnerFixed = 32 + 4 + 8 + 32;

auto key_of(const EntryInfo& e) {
  return std::tie(e.graph_key, e.target);
}

}  // namespace

struct IndexReader::Child {
  Digest graph_key;
  std::string target;
  uint32_t page = 0;
  uint64_t entries = 0;
  Digest digest;
};

struct IndexReader::Page {
  uint32_t number = 0;
  uint16_t level = 0;
  std::vector<EntryInfo> entries;  // of a leaf
  std::vector<Child> children;     // of an inner page
};

/// How much of a tree has been read that may lead anywhere, also many times to one page.
struct IndexReader::Walk {
  uint64_t pages = 0, entries = 0;
};

struct IndexReader::Audit {
  std::vector<bool> used;
  std::optional<EntryInfo> last;
  uint64_t entries = 0, record_end = 0;
};

namespace {

/// Text behind the fixed part of an entry, and the entry's whole size.
std::optional<std::string_view> entry_target(ByteView content, uint64_t at, uint64_t fixed) {
  const auto length = load<uint8_t>(content, at + fixed);
  if (!length) return std::nullopt;
  const auto text = slice(content, at + fixed + 1, *length);
  if (!text) return std::nullopt;
  return as_text(*text);
}

}  // namespace

Result<IndexReader::Page> IndexReader::page(uint32_t number, const Digest& digest,
                                            std::optional<uint16_t> level) const {
  const std::string place = where_ + ": index page " + std::to_string(number);
  const uint64_t size = std::min<uint64_t>(kPageBytes, section_.size());
  const auto bytes = slice(section_, uint64_t{number} * kPageBytes, size);
  if (!bytes || size < kIndexPageHeaderBytes)
    return damaged("index-form", place, "page lies outside the index",
                   cat("inside ", section_.size(), " bytes"),
                   cat("offset ", uint64_t{number} * kPageBytes));
  if (const Digest actual = sha256(*bytes); actual != digest)
    return damaged("index-digest", place, "page does not match its digest", digest.hex(),
                   actual.hex());
  Page out;
  out.number = number;
  out.level = *load<uint16_t>(*bytes, 0);
  const auto count = *load<uint16_t>(*bytes, 2);
  const auto used = *load<uint32_t>(*bytes, 4);
  if (used > size || used < kIndexPageHeaderBytes || !all_zero(bytes->subspan(used)) ||
      count == 0 || out.level > kMostLevels || (level && out.level != *level))
    return damaged(
        "index-form", place, "page header or padding is wrong",
        cat(level ? cat("level ", *level) : cat("level up to ", kMostLevels),
            ", 1 entry or more, zeros behind the used bytes"),
        cat("level ", out.level, ", ", count, " entries, ", used, " of ", size, " bytes used"));
  const ByteView content = bytes->first(used);
  const uint64_t fixed = out.level == 0 ? kLeafFixed : kInnerFixed;
  uint64_t at = kIndexPageHeaderBytes;
  for (uint16_t i = 0; i < count; ++i) {
    const auto target = entry_target(content, at, fixed);
    if (!target)
      return damaged("index-form", place, cat("entry ", i, " does not fit its page"),
                     cat("inside ", used, " bytes"), cat("offset ", at));
    if (out.level == 0) {
      EntryInfo entry;
      entry.graph_key.bytes = *load<std::array<uint8_t, 32>>(content, at);
      entry.plan_digest.bytes = *load<std::array<uint8_t, 32>>(content, at + 32);
      entry.position = *load<uint64_t>(content, at + 64);
      entry.record_bytes = *load<uint32_t>(content, at + 72);
      entry.record_digest.bytes = *load<std::array<uint8_t, 32>>(content, at + 76);
      entry.target = *target;
      out.entries.push_back(std::move(entry));
    } else {
      Child child;
      child.graph_key.bytes = *load<std::array<uint8_t, 32>>(content, at);
      child.page = *load<uint32_t>(content, at + 32);
      child.entries = *load<uint64_t>(content, at + 36);
      child.digest.bytes = *load<std::array<uint8_t, 32>>(content, at + 44);
      child.target = *target;
      out.children.push_back(std::move(child));
    }
    at += fixed + 1 + target->size();
  }
  if (at != used)
    return damaged("index-form", place, "entries do not fill the page's used part",
                   cat(used, " bytes"), cat(at, " bytes"));
  return out;
}

Result<std::optional<EntryInfo>> IndexReader::find(const Digest& key,
                                                   std::string_view target) const {
  const auto before = [&](const auto& item) {
    return std::tuple(item.graph_key, std::string_view(item.target)) <= std::tuple(key, target);
  };
  HIPPLAN_TRY_ASSIGN(auto at, page(root_page_, root_, std::nullopt));
  while (at.level > 0) {
    // The last child whose first key is not above the key.
    const auto after = std::partition_point(at.children.begin(), at.children.end(), before);
    if (after == at.children.begin()) return std::optional<EntryInfo>();
    const Child child = *(after - 1);
    HIPPLAN_TRY_ASSIGN(at, page(child.page, child.digest, static_cast<uint16_t>(at.level - 1)));
  }
  const auto after = std::partition_point(at.entries.begin(), at.entries.end(), before);
  if (after == at.entries.begin()) return std::optional<EntryInfo>();
  const EntryInfo& entry = *(after - 1);
  if (entry.graph_key != key || entry.target != target) return std::optional<EntryInfo>();
  return std::optional<EntryInfo>(entry);
}

std::optional<KeyRange> KeyRange::of(std::string_view digits) {
  constexpr size_t kDigits = 64;
  if (digits.size() > kDigits) return std::nullopt;
  std::string lower(digits);
  for (char& c : lower)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const auto filled = [&](char with) {
    return Digest::from_hex(lower + std::string(kDigits - lower.size(), with));
  };
  const auto low = filled('0'), high = filled('f');
  if (!low || !high) return std::nullopt;
  return KeyRange{*low, *high};
}

Result<bool> IndexReader::visit_below(const Page& at, const KeyRange& range, const Visit& visit,
                                      Walk& walk) const {
  const std::string place = where_ + ": index";
  const uint64_t most_pages = (section_.size() + kPageBytes - 1) / kPageBytes;
  if (++walk.pages > most_pages)
    return damaged("index-form", place, "a page is used twice", cat(most_pages, " pages"),
                   "more pages on the way down");
  walk.entries += at.entries.size();
  if (walk.entries > entry_count_)
    return damaged("index-form", place, "there are more entries than the header counts",
                   cat(entry_count_), cat("at least ", walk.entries));
  for (const auto& entry : at.entries) {
    if (entry.graph_key < range.low) continue;
    HIPPLAN_TRY(check_interruption());
    if (entry.graph_key > range.high || !visit(entry)) return false;
  }
  for (size_t i = 0; i < at.children.size(); ++i) {
    const auto& child = at.children[i];
    if (child.graph_key > range.high) return false;
    // One key's targets may go on at the start of the next page.
    if (i + 1 < at.children.size() && at.children[i + 1].graph_key < range.low) continue;
    HIPPLAN_TRY_ASSIGN(const auto below,
                       page(child.page, child.digest, static_cast<uint16_t>(at.level - 1)));
    HIPPLAN_TRY_ASSIGN(const bool more, visit_below(below, range, visit, walk));
    if (!more) return false;
  }
  return true;
}

Result<void> IndexReader::for_each(const Visit& visit) const {
  return for_each_in(*KeyRange::of(""), visit);
}

Result<void> IndexReader::for_each_in(const KeyRange& range, const Visit& visit) const {
  HIPPLAN_TRY_ASSIGN(const auto root, page(root_page_, root_, std::nullopt));
  Walk walk;
  HIPPLAN_TRY(visit_below(root, range, visit, walk));
  return {};
}

Result<void> IndexReader::check_leaf(const Page& at, Audit& audit, const std::string& place) const {
  for (const auto& entry : at.entries) {
    if (audit.last && key_of(*audit.last) >= key_of(entry))
      return damaged("index-order", place, "entries are not in ascending order",
                     cat("above ", audit.last->graph_key.hex(), " ", quote(audit.last->target)),
                     cat(entry.graph_key.hex(), " ", quote(entry.target)));
    if (entry.position != audit.record_end || entry.record_bytes == 0)
      return damaged("index-order", place, "records do not follow one another",
                     cat("1 byte or more at ", audit.record_end),
                     cat(entry.record_bytes, " bytes at ", entry.position));
    audit.record_end += entry.record_bytes;
    audit.last = entry;
    ++audit.entries;
  }
  return {};
}

Result<void> IndexReader::check_below(const Page& at, Audit& audit) const {
  const std::string place = where_ + ": index page " + std::to_string(at.number);
  if (audit.used[at.number])
    return damaged("index-form", place, "page is used twice", "once", "twice");
  audit.used[at.number] = true;
  HIPPLAN_TRY(check_leaf(at, audit, place));
  for (const auto& child : at.children) {
    HIPPLAN_TRY_ASSIGN(const auto below,
                       page(child.page, child.digest, static_cast<uint16_t>(at.level - 1)));
    const bool leaf = below.level == 0;
    const auto& key = leaf ? below.entries[0].graph_key : below.children[0].graph_key;
    const auto& target = leaf ? below.entries[0].target : below.children[0].target;
    if (key != child.graph_key || target != child.target)
      return damaged("index-order", place, "first key is not the child's",
                     cat(key.hex(), " ", quote(target)),
                     cat(child.graph_key.hex(), " ", quote(child.target)));
    const uint64_t before = audit.entries;
    HIPPLAN_TRY(check_below(below, audit));
    if (audit.entries - before != child.entries)
      return damaged("index-count", place, "wrong number of entries below", cat(child.entries),
                     cat(audit.entries - before));
  }
  return {};
}

Result<void> IndexReader::check(uint64_t plans_bytes) const {
  const uint64_t size = section_.size();
  if (size > kPageBytes && size % kPageBytes != 0)
    return damaged("index-form", where_ + ": index", "not a whole number of pages",
                   cat("a multiple of ", kPageBytes), cat(size));
  Audit audit;
  audit.used.resize(static_cast<size_t>((size + kPageBytes - 1) / kPageBytes));
  HIPPLAN_TRY_ASSIGN(const auto root, page(root_page_, root_, std::nullopt));
  HIPPLAN_TRY(check_below(root, audit));
  if (std::find(audit.used.begin(), audit.used.end(), false) != audit.used.end())
    return damaged("index-form", where_ + ": index", "a page is not used", "every page once",
                   "a page that nothing names");
  if (audit.entries != entry_count_)
    return damaged("index-count", where_ + ": index", "wrong number of entries", cat(entry_count_),
                   cat(audit.entries));
  if (audit.record_end != plans_bytes)
    return damaged("index-order", where_ + ": index", "records do not fill the plans section",
                   cat(plans_bytes), cat(audit.record_end));
  return {};
}

}  // namespace hipplan::plan
