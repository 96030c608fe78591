// Words that are nearly what somebody wrote.
#pragma once

#include <string>
#include <string_view>

namespace hipplan {

/// Letters to add, take away, change, or swap with their neighbours to make one word of the other.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b);

/// Finds, of the words it is shown, the one most like what was written. Words of which more than a
/// third would have to change are not alike, and of equals the first one counts.
class NearestWord {
 public:
  explicit NearestWord(std::string written);
  /// Whether `known` is the most alike up to now.
  bool look(std::string_view known);
  /// Empty when nothing was alike.
  [[nodiscard]] const std::string& word() const { return nearest_; }

 private:
  std::string written_, nearest_;
  size_t least_;  ///< slips that are too many
};

}  // namespace hipplan
