// Writes descriptor files again in their packed form.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "descriptor/descriptor.h"

namespace hipplan::descriptor {

/// Gives the packed source (kind kpack, file, toc_key, symbol, sha256, signature) of a kernel's
/// launch; null keeps the source as it is written.
using PackedSourceOf =
    std::function<const Source*(const Uuid& kernel, std::string_view launch_name)>;

/// Compact JSON of a pack or stand-alone kernel file for one architecture: kernel sources replaced,
/// "arch" set to [arch] on the file (and left out of inline kernels), "provenance" removed. Kernels
/// for which `keep` answers false are left out of packs.
[[nodiscard]] std::string print_packed(const json::Value& document, std::string_view arch,
                                       const PackedSourceOf& packed,
                                       const std::function<bool(const Uuid& kernel)>& keep);

}  // namespace hipplan::descriptor
