// Whether this machine has the memory that executing a plan takes.
#pragma once

#include "base/result.h"
#include "graph/graph.h"

namespace hipplan::commands {

/// Fails with machine, reason "out-of-memory", with both sizes, where the graph's tensors cannot be
/// held: inputs, what the outputs start as and become, and the same once more where `emulated`
/// device memory is the machine's own. Asked first, since what is taken bit by bit may end with
/// another process being killed.
Result<void> check_memory(const graph::Graph& graph, bool emulated);

}  // namespace hipplan::commands
