// Code objects of earlier calls, found by everything that went into them.
#pragma once

#include <filesystem>
#include <string>

#include "pack/compiler.h"

namespace hipplan::pack {

/// One slot of the cache: NAME.hsaco, and NAME.deps with the digest of each file used. Writers
/// replace files atomically, so that several processes can share the folder.
class CompileCache {
 public:
  /// An empty `folder` makes a cache that never has anything.
  static Result<CompileCache> open(const std::filesystem::path& folder, const Compiler& compiler,
                                   const Unit& unit, const std::string& arch);
  /// Fills code and dependencies when the slot is there and every file still has its digest.
  [[nodiscard]] bool load(Compiled& out) const;
  /// A failure to save only costs the next call time.
  void save(const Compiled& compiled) const;

 private:
  std::filesystem::path folder_, kernels_;
  std::string name_;
};

}  // namespace hipplan::pack
