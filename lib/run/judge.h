// Executing a plan and judging its outputs, whatever device runs it.
#pragma once

#include <functional>
#include <vector>

#include "run/compare.h"
#include "run/inputs.h"

namespace hipplan::run {

/// Runs the plan once; its outputs start as `poisoned` and are returned by uid.
using Execute = std::function<Result<Buffers>(const Buffers& poisoned)>;

/// Runs once over poisoned outputs. Fails with negative, reason "touched-gap", when bytes between a
/// tensor's elements were written.
Result<Buffers> execute_once(const graph::Graph& graph, const Execute& execute,
                             std::byte poison = kPoison);

/// Runs over another poison and compares with `first`, the outputs of execute_once: an element that
/// the kernel leaves alone cannot be the same both times. Fails with negative, reason
/// "unstable-result" or "touched-gap".
Result<void> execute_again(const graph::Graph& graph, const Execute& execute, const Buffers& first);

/// The bytes of an output. Fails with negative, reason "missing-output".
Result<ByteView> output_of(const Buffers& outputs, int64_t uid);

struct OutputComparison {
  int64_t uid = 0;
  Comparison result;
};
/// Compares every output of the graph with the CPU reference on `inputs`, in order of uid.
Result<std::vector<OutputComparison>> compare_with_reference(const graph::Graph& graph,
                                                             const Buffers& inputs,
                                                             const Buffers& outputs,
                                                             const Tolerance& tolerance = {},
                                                             unsigned jobs = 0);

}  // namespace hipplan::run
