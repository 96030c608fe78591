// Which packs and kernels of a descriptor set are built for an architecture.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "descriptor/descriptor.h"
#include "descriptor/loader.h"

namespace hipplan::pack {

struct PackWork {
  const descriptor::Pack* pack = nullptr;
  std::vector<const descriptor::Kernel*> kernels;  ///< never empty
};

struct ArchWork {
  std::string arch;
  std::vector<PackWork> packs;
};

/// A pack or kernel with an empty architecture list is built for every architecture; others only
/// for those that they name. Packs without kernels for `arch` are left out.
[[nodiscard]] ArchWork survey(const descriptor::DescriptorSet& set, const std::string& arch);

/// Kernels under one dispatch symbol must name one set of launches. Fails with bad_input, reason
/// "launch-set".
Result<void> check_launch_sets(const ArchWork& work);

/// Refuses trees that together hold no descriptor: bad_input, reason "open".
Result<void> require_descriptors(const std::vector<std::filesystem::path>& roots,
                                 const descriptor::Loaded& loaded);

}  // namespace hipplan::pack
