// Unresolved descriptors to a set: references, metadata tuples, and what has to go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "descriptor/parse.h"

namespace hipplan::descriptor {

/// `files` hold one descriptor per identity. Everything that cannot be resolved is left out and
/// told.
std::shared_ptr<const DescriptorSet> link(std::vector<ParsedFile> files,
                                          const std::vector<std::string>& disabled_engines,
                                          bool keep_documents,
                                          std::vector<Diagnostic>& diagnostics);

/// Completes a kernel's metadata in the schema's order: given values, widened ints, defaults. Adds
/// a reason and text to `fault` and gives nothing when a value is missing, mistyped or not
/// declared.
struct MetadataFault {
  const char* reason = "";
  std::string text;
};
std::optional<std::vector<ValueData>> complete_metadata(const Kernel& kernel,
                                                        const MetadataSchema& schema,
                                                        MetadataFault& fault);

}  // namespace hipplan::descriptor
