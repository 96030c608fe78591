#include "base/spelling.h"

#include <algorithm>
#include <utility>
#include <vector>

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

NearestWord::NearestWord(std::string written) : written_(std::move(written)) {
  constexpr size_t kShare = 3, kLongest = 80;
  least_ = written_.size() > kLongest ? 0 : written_.size() / kShare + 1;
}

bool NearestWord::look(std::string_view known) {
  const size_t longer = std::max(known.size(), written_.size());
  const size_t shorter = std::min(known.size(), written_.size());
  if (longer - shorter >= least_) return false;
  const size_t slips = edit_distance(known, written_);
  if (slips >= least_) return false;
  least_ = slips;
  nearest_ = known;
  return true;
}

}  // namespace hipplan
