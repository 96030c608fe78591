// The packer: authored descriptor trees and kernel sources -> one packed tree per architecture.
// What it reads and writes: docs/archives.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "json/json.h"
#include "target/target.h"

namespace hipplan::pack {

struct BuildOptions {
  /// Authored descriptor trees. Files keep their place below the tree; when there are several
  /// trees, each one's folder name comes first.
  std::vector<std::filesystem::path> sources;
  /// Folder that "source" of hip kernels is relative to; empty: the first tree. It and its folder
  /// include/ are the include path.
  std::filesystem::path kernels;
  std::vector<std::string> arches;  ///< base architectures and generic families
  std::filesystem::path output;     ///< gets one folder per architecture
  std::string compiler;             ///< clang for AMD GPUs; empty: find_compiler() looks for one
  std::filesystem::path cache;      ///< keeps compiled code objects between calls; empty: none
  unsigned jobs = 1;                ///< compilers at a time, 0: one per hardware thread
  DiagnosticSink notes;             ///< called from the calling thread only
  /// Told after each code object, one call at a time. May be empty.
  std::function<void(size_t done, size_t total)> progress;
  /// Asked before each code object, from any thread; true ends with reason "interrupted".
  std::function<bool()> interrupted;
};

/// What came out for one architecture.
struct ArchReport {
  std::string arch;
  size_t packs = 0, kernels = 0, code_objects = 0;
  uint64_t archive_bytes = 0;
};

struct BuildReport {
  std::vector<ArchReport> arches;  ///< in the order asked for; an empty one has no output
  size_t compiled = 0, reused = 0;
  std::string compiler;  ///< its version line; empty when nothing had to be compiled
};

/// Builds everything, then puts each architecture's folder in place of the old one. On failure the
/// old output stays. Same input, same bytes, whatever the folders, the cache or `jobs`. Fails with
/// bad_input (what the trees or sources say is wrong), machine (no compiler, disk) or damaged.
Result<BuildReport> build(const BuildOptions& options);

void write_json(const BuildReport& report, json::Writer& writer);

struct ValidateOptions {
  std::vector<std::filesystem::path> roots;
  std::vector<std::filesystem::path> graphs;  ///< each must be served by some engine
  std::vector<target::Description> targets;   ///< devices that the graphs are tried on
  std::vector<std::string> expected_engines;
  unsigned jobs = 0;
};

struct ValidateReport {
  std::vector<std::string> engines;     ///< names that loaded
  std::vector<Diagnostic> diagnostics;  ///< of the loader, the archives, the engines and the graphs
  size_t files = 0, kernels = 0, code_objects = 0;
  std::set<Code> classes;  ///< of the errors among the diagnostics
  [[nodiscard]] bool ok() const { return classes.empty(); }
  /// Adds an error and its class.
  void fault(Code code, std::string reason, std::string where, std::string text);
};

/// Loads the trees, then reads every code object that they name and compares digest, symbol and
/// signature. Faults come back in the report; fails only when a root or a graph cannot be read.
Result<ValidateReport> validate(const ValidateOptions& options);

void write_json(const ValidateReport& report, json::Writer& writer);

}  // namespace hipplan::pack
