// Words that are nearly what somebody wrote.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hipplan {

/// Letters to add, take away, change, or swap with their neighbours to make one word of the other.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

/// Finds, of the words it is shown, the few most like what was written. Words of which more than a
/// third would have to change are not alike, and of equals the first ones count.
class NearestWords {
 public:
  NearestWords(std::string written, size_t most);
  /// Slips from `known` to what was written; nothing when it is not among the most alike up to now.
  [[nodiscard]] std::optional<size_t> slips(std::string_view known) const;
  /// Keeps what such a word stands for, once, with the fewest slips.
  void keep(size_t slips, const std::string& meaning);
  /// Whether as many are kept as were asked for.
  [[nodiscard]] bool is_full() const { return kept_.size() == most_; }
  /// So many slips are too many for any word.
  [[nodiscard]] size_t too_many() const { return too_many_; }
  /// What was kept, the most alike first.
  [[nodiscard]] std::vector<std::string> meanings() const;

 private:
  std::string written_;
  size_t most_, too_many_;
  std::vector<std::pair<size_t, std::string>> kept_{};
};

/// The same for the one most like what was written.
class NearestWord {
 public:
  explicit NearestWord(std::string written) : words_(std::move(written), 1) {}
  /// Whether `known` is the most alike up to now.
  bool look(std::string_view known);
  /// Empty when nothing was alike.
  [[nodiscard]] const std::string& word() const { return nearest_; }

 private:
  NearestWords words_;
  std::string nearest_{};
};

}  // namespace hipplan
