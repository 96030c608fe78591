// What a file is made of, out of its plans' provenance: for bills of materials.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// A thing with a name and a digest: a code object, a kernel source, a descriptor.
struct Material {
  std::string name, sha256;
  friend auto operator<=>(const Material&, const Material&) = default;
};

/// All of a file's plans together; each list is sorted and holds a thing once.
struct Materials {
  std::string file_name, file_sha256;
  std::vector<Material> code_objects, dependencies;
  std::vector<std::string> builders;   ///< "urn:hipplan:0.1.0"
  std::vector<std::string> compilers;  ///< "clang version 22.1.8"
};

/// Fails with negative, reason "no-provenance", when a plan carries none.
Result<Materials> materials_of(const File& file);

/// SPDX 2.3 in its JSON form; the document's namespace comes from the file's digest and its time of
/// making is `seconds` since 1970.
void print_spdx(json::Writer& out, const Materials& materials, int64_t seconds);
/// CycloneDX 1.5 in its JSON form; it holds no time.
void print_cyclonedx(json::Writer& out, const Materials& materials);

}  // namespace hipplan::plan
