// One kernel against a bound problem: from metadata to a launch that is known to work.
#pragma once

#include "match/match.h"

namespace hipplan::match {

/// A refusal and who pronounced it.
struct Verdict {
  std::string by;
  engine::Refusal refusal;
};

/// What judging the kernels of one pack needs.
struct PackContext {
  const graph::Graph& graph;
  const target::Description& target;
  const descriptor::Pack& pack;
  const engine::Problem& problem;
  const engine::DispatchHandler& handler;
  engine::LaunchMaker make_launch;
};

/// Runs, in order: kernel-scope matchers, launch names, launch maker, the handler's contract, the
/// handler's prepare(), and the bindings against the graph's tensors. Fills everything of `out`
/// that depends on the kernel, or says why not.
std::optional<Verdict> judge_kernel(const PackContext& context,
                                    const descriptor::PackKernel& kernel, Candidate& out);

}  // namespace hipplan::match
