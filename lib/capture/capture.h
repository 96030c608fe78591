// Selection -> plan: fetches the kernel's code, checks it against its descriptor and its handler,
// and writes down everything that restoring needs.
#pragma once

#include <memory>

#include "base/result.h"
#include "base/version.h"
#include "graph/graph.h"
#include "plan/plan.h"
#include "select/select.h"
#include "target/target.h"

namespace hipplan::capture {

struct Options {
  bool with_graph = true;    ///< put the graph's canonical JSON into the plan
  bool with_reasons = true;  ///< put the decision's record into the plan
  std::string provider_version = kVersion;
};

/// Captures plans and remembers opened archives and verified code objects between calls, so that
/// repeated captures cost little. Any thread may call capture().
class Capturer {
 public:
  Capturer();
  ~Capturer();
  Capturer(const Capturer&) = delete;
  Capturer& operator=(const Capturer&) = delete;

  /// Fails with unusable (archive missing, source kind that cannot be saved, handler that cannot
  /// save, runtime pass-by-value tensors) or damaged (digest, symbol or signature differs from the
  /// descriptor).
  Result<plan::Plan> capture(const select::Selection& selection, const graph::Graph& graph,
                             const target::Description& target, const Options& options);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hipplan::capture
