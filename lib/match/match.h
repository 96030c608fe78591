// (graph, descriptor set, target) -> which kernels can run the graph, and why the others cannot.
// Pure: no device, no clock, no files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/launch_value.h"
#include "descriptor/descriptor.h"
#include "engine/dispatch.h"
#include "engine/registry.h"
#include "graph/graph.h"
#include "target/target.h"

namespace hipplan::match {

/// Where in the match a refusal came from.
enum class Stage : uint8_t { engine, pack, kernel };
[[nodiscard]] const char* stage_name(Stage stage);

/// One refusal. `pack` and `kernel` are empty where they do not apply.
struct Reason {
  Stage stage = Stage::engine;
  std::string engine, pack, kernel;  ///< names
  std::string by;                    ///< matcher symbol or rule that refused
  std::string reason;                ///< stable kebab-case id
  std::string text;                  ///< names the unsupported feature
};

/// A kernel that can run the graph on the target: launch values passed the handler's contract and
/// prepare().
struct Candidate {
  const descriptor::Engine* engine = nullptr;
  const descriptor::Pack* pack = nullptr;
  const descriptor::PackKernel* kernel = nullptr;
  const engine::DispatchHandler* handler = nullptr;
  LaunchValues values;
  uint64_t workspace_bytes = 0;
  std::shared_ptr<const engine::PreparedKernel> prepared;
};

/// The outcome for one engine: candidates in descriptor order (pack id, then position), maybe none.
struct EngineMatch {
  const descriptor::Engine* engine = nullptr;
  std::shared_ptr<const engine::Problem> problem;  ///< null when the graph itself was refused
  std::vector<Candidate> candidates;
};

struct MatchResult {
  std::shared_ptr<const descriptor::DescriptorSet> set;  ///< keeps the pointers alive
  std::vector<EngineMatch> engines;                      ///< in order of engine name
  std::vector<Reason> reasons;                           ///< every refusal, in order of discovery
  [[nodiscard]] bool served() const;
};

/// Never fails: "no kernel" is an answer, with its reasons.
[[nodiscard]] MatchResult match(const graph::Graph& graph,
                                std::shared_ptr<const descriptor::DescriptorSet> set,
                                const target::Description& target);

}  // namespace hipplan::match
