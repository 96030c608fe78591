#include "base/spelling.h"

#include <algorithm>

namespace hipplan {

size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table for the letters of `a` up to the last but one, the last, and this one.
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

NearestWords::NearestWords(std::string written, size_t most)
    : written_(std::move(written)), most_(most) {
  constexpr size_t kShare = 3, kLongest = 80;
  too_many_ = written_.size() > kLongest ? 0 : written_.size() / kShare + 1;
}

std::optional<size_t> NearestWords::slips(std::string_view known) const {
  const size_t least = kept_.size() < most_ ? too_many_ : std::min(too_many_, kept_.back().first);
  const size_t longer = std::max(known.size(), written_.size());
  const size_t shorter = std::min(known.size(), written_.size());
  if (longer - shorter >= least) return std::nullopt;
  const size_t out = edit_distance(known, written_);
  return out < least ? std::optional(out) : std::nullopt;
}

void NearestWords::keep(size_t slips, const std::string& meaning) {
  const auto same = [&](const auto& kept) { return kept.second == meaning; };
  const auto known = std::find_if(kept_.begin(), kept_.end(), same);
  if (known != kept_.end() && known->first <= slips) return;
  if (known != kept_.end()) kept_.erase(known);
  const auto worse = [&](const auto& kept) { return kept.first > slips; };
  kept_.insert(std::find_if(kept_.begin(), kept_.end(), worse), {slips, meaning});
  if (kept_.size() > most_) kept_.pop_back();
}

std::vector<std::string> NearestWords::meanings() const {
  std::vector<std::string> out;
  for (const auto& kept : kept_) out.push_back(kept.second);
  return out;
}

bool NearestWord::look(std::string_view known) {
  const auto slips = words_.slips(known);
  if (!slips) return false;
  nearest_ = known;
  words_.keep(*slips, nearest_);
  return true;
}

}  // namespace hipplan
