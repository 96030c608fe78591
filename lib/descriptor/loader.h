// Reads descriptor trees from disk. Rules: docs/descriptors.md.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "descriptor/descriptor.h"

namespace hipplan::descriptor {

struct LoadOptions {
  bool keep_documents = false;  ///< fill Origin::document, for tools that write descriptors again
  unsigned jobs = 0;            ///< threads that parse files; 0: one per hardware thread
  /// Engines left out: names, decimal or 0xHEX engine ids, or UED UUIDs.
  std::vector<std::string> disabled_engines = {};
};

struct Loaded {
  std::shared_ptr<const DescriptorSet> set;  ///< never null; holds what survived
  /// In order of discovery. `where` is the file (with line and column where known), `reason` one of
  /// the ids of docs/descriptors.md.
  std::vector<Diagnostic> diagnostics;
  size_t files_read = 0;
  [[nodiscard]] bool has_errors() const;
};

/// Loads every root in the order given; a later root cannot override an earlier one. A faulty file
/// costs that file and what refers to it, and is told in the diagnostics. Fails with bad_input only
/// when a root is missing or not a folder.
Result<Loaded> load(const std::vector<std::filesystem::path>& roots,
                    const LoadOptions& options = {});

/// One file given as text, for tests and fuzzing: parsed under `name`, whose suffix decides the
/// kind, as if it were the only file of a tree.
Loaded load_text(std::string_view name, std::string_view text);

}  // namespace hipplan::descriptor
