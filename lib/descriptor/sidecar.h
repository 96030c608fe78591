// Where the record of how a packed descriptor's kernels were made lies.
#pragma once

#include <string>

namespace hipplan::descriptor {

/// "a/b.kdp.json" -> "a/b.provenance.json"; stand-alone kernels keep ".ukd" so that both fit.
[[nodiscard]] inline std::string provenance_path(const std::string& descriptor_path) {
  std::string stem =
      descriptor_path.substr(0, descriptor_path.size() - std::string(".json").size());
  if (stem.ends_with(".kdp")) stem.resize(stem.size() - std::string(".kdp").size());
  return stem + ".provenance.json";
}

}  // namespace hipplan::descriptor
