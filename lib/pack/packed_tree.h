// The files of one architecture's packed tree, in memory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "pack/jobs.h"
#include "pack/pack.h"
#include "pack/survey.h"

namespace hipplan::pack {

struct PackedTree {
  ArchReport report;
  std::map<std::string, Bytes> files;  ///< path below the architecture's folder -> content
};

/// Path of the archive below the architecture's folder.
[[nodiscard]] std::string archive_path(const std::string& arch);

/// Lays out descriptors, provenance and the archive. Fails with bad_input: missing symbol, key
/// collision, two trees with one path.
Result<PackedTree> make_tree(const ArchWork& work, const Jobs& jobs,
                             const descriptor::DescriptorSet& set,
                             const std::vector<std::filesystem::path>& roots,
                             const Compiler& compiler);

}  // namespace hipplan::pack
