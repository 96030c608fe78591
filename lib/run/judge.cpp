#include "run/judge.h"

namespace hipplan::run {
namespace {

Error negative(const char* reason, int64_t uid, const std::string& what, std::string found = {}) {
  return {.code = Code::negative,
          .reason = reason,
          .where = cat("tensor uid ", uid),
          .what = what,
          .found = std::move(found)};
}

/// Gaps between strided elements must keep what was in them.
Result<void> check_gaps(const graph::Graph& graph, const Buffers& outputs, std::byte poison) {
  for (const size_t position : graph.external_outputs()) {
    const auto& tensor = graph.tensors[position];
    const auto found = outputs.find(tensor.uid);
    if (found == outputs.end()) continue;
    if (const auto at = touched_gap(tensor, found->second, poison))
      return negative("touched-gap", tensor.uid, "the kernel wrote between the tensor's elements",
                      cat("a changed byte at offset ", *at));
  }
  return {};
}

}  // namespace

Result<Buffers> execute_once(const graph::Graph& graph, const Execute& execute, std::byte poison) {
  HIPPLAN_TRY_ASSIGN(const auto poisoned, poisoned_outputs(graph, poison));
  HIPPLAN_TRY_ASSIGN(auto outputs, execute(poisoned));
  HIPPLAN_TRY(check_gaps(graph, outputs, poison));
  return outputs;
}

Result<void> execute_again(const graph::Graph& graph, const Execute& execute,
                           const Buffers& first) {
  HIPPLAN_TRY_ASSIGN(const auto second, execute_once(graph, execute, kSecondPoison));
  for (const size_t position : graph.external_outputs()) {
    const auto& tensor = graph.tensors[position];
    if (first.count(tensor.uid) == 0) continue;
    HIPPLAN_TRY_ASSIGN(const ByteView again, output_of(second, tensor.uid));
    HIPPLAN_TRY_ASSIGN(const auto same, compare_buffers(tensor, first.at(tensor.uid), again));
    if (!same.pass)
      return negative("unstable-result", tensor.uid,
                      "two runs over differently poisoned outputs disagree; some elements are not "
                      "written, or the kernel is not deterministic",
                      same.text());
  }
  return {};
}

Result<ByteView> output_of(const Buffers& outputs, int64_t uid) {
  const auto found = outputs.find(uid);
  if (found == outputs.end())
    return negative("missing-output", uid, "the plan writes no such output");
  return ByteView(found->second);
}

Result<std::vector<OutputComparison>> compare_with_reference(const graph::Graph& graph,
                                                             const Buffers& inputs,
                                                             const Buffers& outputs,
                                                             const Tolerance& tolerance,
                                                             unsigned jobs) {
  HIPPLAN_TRY_ASSIGN(const auto expected, reference::evaluate(graph, views(inputs), jobs));
  std::vector<OutputComparison> out;
  for (const auto& [uid, output] : expected) {
    const auto& tensor = graph.tensors[*graph.tensor_by_uid(uid)];
    HIPPLAN_TRY_ASSIGN(const ByteView got, output_of(outputs, uid));
    HIPPLAN_TRY_ASSIGN(auto result, compare(tensor, output, got, tolerance, jobs));
    out.push_back({uid, std::move(result)});
  }
  return out;
}

}  // namespace hipplan::run
