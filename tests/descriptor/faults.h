// The table of faults: what may be wrong with a descriptor set, and what the loader says to it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hipplan::test {

/// One edit of the sound set and what the loader must say about it, first diagnostic first.
struct Fault {
  const char* name;
  const char* file;
  std::string from, to;
  std::vector<std::string> told;
  size_t engines;  ///< that survive
};

/// The files of the sound set by name, and every edit that is tried on it.
[[nodiscard]] std::map<std::string, std::string> sound_files();
[[nodiscard]] std::vector<Fault> faults();

}  // namespace hipplan::test
