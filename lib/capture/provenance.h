// Where a plan's parts came from, as the plan's provenance section (docs/plan-format.md,
// "Provenance").
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capture/code_cache.h"
#include "json/json.h"

namespace hipplan::capture {

/// A packed descriptor and the record of how its kernels were made.
struct Sidecar {
  std::string descriptor_name;  ///< the file's name without folders
  Digest descriptor_sha256;     ///< zero when the file cannot be read any more
  json::Value record;           ///< null when there is none
};

/// Sidecars that were read, kept for the next plan. Thread-safe.
class SidecarCache {
 public:
  std::shared_ptr<const Sidecar> get(const std::string& descriptor_file);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Sidecar>> known_;
};

struct KernelOrigin {
  const descriptor::Source* source = nullptr;
  const descriptor::Kernel* kernel = nullptr;
  std::shared_ptr<const VerifiedCode> code;
  std::shared_ptr<const Sidecar> sidecar;
};

/// An in-toto statement with a SLSA provenance predicate, as JSON: the code objects are its
/// subjects; descriptors, kernel sources and the target's description its dependencies. Names are
/// those inside the descriptor tree; nothing depends on the machine, the folder or the time.
[[nodiscard]] std::string print_provenance(const std::vector<KernelOrigin>& kernels,
                                           const target::Description& target);

}  // namespace hipplan::capture
