// Where tests find the graphs, descriptor sets and archives that other projects wrote.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hipplan::test {

/// Folder of upstream data: HIPPLAN_UPSTREAM_DATA when set, else ../shared/upstream-data beside the
/// checkout. Empty when neither exists; a test then says so and skips.
inline std::filesystem::path upstream_data() {
  if (const char* set = std::getenv("HIPPLAN_UPSTREAM_DATA")) return set;
  const auto beside = std::filesystem::path(HIPPLAN_SOURCE_DIR) / ".." / "shared" / "upstream-data";
  return std::filesystem::exists(beside) ? std::filesystem::canonical(beside)
                                         : std::filesystem::path();
}

}  // namespace hipplan::test
