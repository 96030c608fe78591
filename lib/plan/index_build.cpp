// Making of the index: docs/plan-format.md, 2.5.
#include "plan/index.h"
#include "plan/layout.h"

namespace hipplan::plan {
namespace {

struct BuiltChild {
  Digest graph_key;
  std::string target;
  uint32_t page = 0;
  uint64_t entries = 0;
  Digest digest;
};

/// Fills pages of one level one after the other.
class LevelBuilder {
 public:
  LevelBuilder(Bytes& pages, uint16_t level) : pages_(pages), level_(level) {}

  void add(ByteView fixed, const Digest& key, const std::string& target, uint64_t entries) {
    const uint64_t need = fixed.size() + 1 + target.size();
    if (kIndexPageHeaderBytes + content_.size() + need > kPageBytes) close();
    if (count_ == 0) built_.push_back({key, target, 0, 0, {}});
    append(content_, fixed);
    append(content_, static_cast<uint8_t>(target.size()));
    append(content_, as_bytes(target));
    ++count_;
    built_.back().entries += entries;
  }
  std::vector<BuiltChild> finish() {
    close();
    return std::move(built_);
  }

 private:
  void close() {
    if (count_ == 0) return;
    Bytes page;
    append(page, level_);
    append(page, count_);
    append(page, static_cast<uint32_t>(kIndexPageHeaderBytes + content_.size()));
    append(page, ByteView(content_));
    page.resize(kPageBytes);
    built_.back().page = static_cast<uint32_t>(pages_.size() / kPageBytes);
    built_.back().digest = sha256(page);
    append(pages_, ByteView(page));
    content_.clear();
    count_ = 0;
  }
  Bytes& pages_;
  uint16_t level_;
  Bytes content_;
  uint16_t count_ = 0;
  std::vector<BuiltChild> built_;
};

std::vector<BuiltChild> build_leaves(const std::vector<EntryInfo>& entries, Bytes& pages) {
  LevelBuilder level(pages, 0);
  for (const auto& entry : entries) {
    Bytes fixed;
    append(fixed, entry.graph_key.bytes);
    append(fixed, entry.plan_digest.bytes);
    append(fixed, entry.position);
    append(fixed, entry.record_bytes);
    append(fixed, entry.record_digest.bytes);
    level.add(fixed, entry.graph_key, entry.target, 1);
  }
  return level.finish();
}

std::vector<BuiltChild> build_inner(const std::vector<BuiltChild>& below, uint16_t number,
                                    Bytes& pages) {
  LevelBuilder level(pages, number);
  for (const auto& child : below) {
    Bytes fixed;
    append(fixed, child.graph_key.bytes);
    append(fixed, child.page);
    append(fixed, child.entries);
    append(fixed, child.digest.bytes);
    level.add(fixed, child.graph_key, child.target, child.entries);
  }
  return level.finish();
}

}  // namespace

BuiltIndex build_index(const std::vector<EntryInfo>& entries) {
  BuiltIndex out;
  auto level = build_leaves(entries, out.pages);
  for (uint16_t number = 1; level.size() > 1; ++number)
    level = build_inner(level, number, out.pages);
  if (level.empty()) return out;
  out.root_page = level[0].page;
  out.root = level[0].digest;
  if (out.pages.size() == kPageBytes) {
    // One leaf: its zero tail is not stored.
    const auto used = *load<uint32_t>(out.pages, 4);
    out.pages.resize(align_up(used, kSectionAlignment));
    out.root = sha256(out.pages);
  }
  return out;
}

}  // namespace hipplan::plan
