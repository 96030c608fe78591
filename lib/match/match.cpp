#include "match/match.h"
#include "base/join.h"

#include <algorithm>
#include <array>

#include "base/join.h"
#include "match/kernel.h"
#include "target/nvidia.h"

namespace hipplan::match {
namespace {

using descriptor::Engine;
using descriptor::Pack;
using descriptor::PackKernel;
using engine::Refusal;
using ProblemPointer = std::shared_ptr<const engine::Problem>;

/// "x.y.z" as numbers; missing or malformed parts are 0.
std::array<int64_t, 3> version_of(std::string_view text) {
  std::array<int64_t, 3> out{};
  size_t part = 0;
  for (const char c : text) {
    if (c == '.') {
      if (++part == out.size()) break;
    } else if (c >= '0' && c <= '9') {
      out[part] = std::min<int64_t>(out[part] * 10 + (c - '0'), 1'000'000'000);
    }
  }
  return out;
}

/// Rank of a pack or kernel on the target: place in the lookup order of the best architecture that
/// it lists; an empty list serves every target, last. Nothing when it serves another target only.
std::optional<size_t> arch_rank(const std::vector<std::string>& listed,
                                const std::vector<std::string>& order) {
  if (listed.empty()) return order.size();
  for (size_t i = 0; i < order.size(); ++i)
    if (std::binary_search(listed.begin(), listed.end(), order[i])) return i;
  return std::nullopt;
}

/// Judges one engine. Reasons go to the result as they are found.
class EngineJudge {
 public:
  EngineJudge(const graph::Graph& graph, const target::Description& target,
              const std::vector<std::string>& arch_order, std::vector<Reason>& reasons)
      : graph_(graph), target_(target), arch_order_(arch_order), reasons_(reasons) {}

  EngineMatch run(const Engine& engine) {
    EngineMatch out;
    out.engine = &engine;
    engine_ = &engine;
    if (refused_by_version()) return out;
    if (!engine.graph_match.empty()) {
      out.problem = bind(Stage::engine, {}, engine.graph_match);
      if (out.problem == nullptr) return out;
    }
    for (const Pack* pack : best_shards(engine)) judge_pack(*pack, out);
    return out;
  }

 private:
  void refuse(Stage stage, std::string pack, std::string kernel, std::string by, Refusal refusal) {
    reasons_.push_back({stage, engine_->name, std::move(pack), std::move(kernel), std::move(by),
                        std::move(refusal.reason), std::move(refusal.text)});
  }

  /// A graph may ask for attributes that an older engine does not know.
  bool refused_by_version() {
    const std::string floor = graph_.min_engine_api_version.value_or("1.0.0");
    if (version_of(engine_->sdk_version) >= version_of(floor)) return false;
    refuse(Stage::engine, {}, {}, "sdk_version",
           {"engine-too-old", "the graph needs engine interface " + floor +
                                  ", the engine is written for " + engine_->sdk_version});
    return true;
  }

  /// Asks a graph matcher, once for the whole engine however often it is named.
  ProblemPointer bind(Stage stage, const std::string& pack, const std::string& symbol) {
    const engine::GraphMatch& answer = ask(symbol);
    if (const auto* problem = std::get_if<ProblemPointer>(&answer)) return *problem;
    refuse(stage, pack, {}, symbol, std::get<Refusal>(answer));
    return nullptr;
  }

  const engine::GraphMatch& ask(const std::string& symbol) {
    for (const auto& [name, answer] : asked_)
      if (name == symbol) return answer;
    const engine::GraphMatcher matcher = engine::find_graph_matcher(symbol);
    asked_.emplace_back(
        symbol, matcher == nullptr
                    ? Refusal{"unregistered-symbol", "matcher '" + symbol + "' is not registered"}
                    : matcher(graph_));
    return asked_.back().second;
  }

  /// For each pack id the shard that fits the target best; the others are refused.
  std::vector<const Pack*> best_shards(const Engine& engine) {
    std::vector<const Pack*> out;
    size_t held = 0;  // rank of out.back()
    for (const Pack* pack : engine.packs) {
      const auto rank = arch_rank(pack->arch, arch_order_);
      if (!rank) {
        refuse(Stage::pack, pack->name, {}, "arch",
               {"arch", "the pack is for " + joined(pack->arch) + ", the target is " +
                            arch_order_.front()});
      } else if (out.empty() || out.back()->id != pack->id) {
        out.push_back(pack);
        held = *rank;
      } else {
        const bool better = *rank < held;
        const Pack* loser = better ? out.back() : pack;
        if (better) out.back() = pack, held = *rank;
        refuse(
            Stage::pack, loser->name, {}, "arch",
            {"arch-shard", "the pack also exists for an architecture that fits the target better"});
      }
    }
    return out;
  }

  /// The problem that this pack's kernels are judged against; null when the pack is out.
  ProblemPointer pack_problem(const Pack& pack, ProblemPointer problem) {
    for (const descriptor::Matcher* matcher : pack.matchers) {
      if (matcher->scope != descriptor::Scope::graph) continue;
      ProblemPointer bound = bind(Stage::pack, pack.name, matcher->symbol);
      if (bound == nullptr) return nullptr;
      if (problem == nullptr) problem = std::move(bound);
    }
    if (problem == nullptr)
      refuse(Stage::pack, pack.name, {}, "graph_match",
             {"no-graph-matcher", "neither the engine nor the pack names a graph matcher"});
    return problem;
  }

  void judge_pack(const Pack& pack, EngineMatch& out) {
    const ProblemPointer problem = pack_problem(pack, out.problem);
    if (problem == nullptr) return;
    if (out.problem == nullptr) out.problem = problem;
    const engine::DispatchHandler* handler = engine::find_by_name(pack.dispatch->symbol);
    const engine::LaunchMaker maker = engine::find_launch_maker(pack.dispatch->symbol);
    if (handler == nullptr || maker == nullptr)
      return refuse(
          Stage::pack, pack.name, {}, pack.dispatch->symbol,
          {"unregistered-symbol", "dispatch '" + pack.dispatch->symbol + "' is not registered"});
    const PackContext context{graph_, target_, pack, *problem, *handler, maker};
    for (const PackKernel& kernel : pack.kernels) judge(context, kernel, out);
  }

  void judge(const PackContext& context, const PackKernel& kernel, EngineMatch& out) {
    if (!arch_rank(kernel.kernel->arch, arch_order_))
      return refuse(Stage::kernel, context.pack.name, kernel.kernel->name, "arch",
                    {"arch", "the kernel is for " + joined(kernel.kernel->arch) +
                                 ", the target is " + arch_order_.front()});
    Candidate candidate{engine_, &context.pack, &kernel, &context.handler, {}, 0, nullptr};
    if (auto verdict = judge_kernel(context, kernel, candidate))
      return refuse(Stage::kernel, context.pack.name, kernel.kernel->name, std::move(verdict->by),
                    std::move(verdict->refusal));
    out.candidates.push_back(std::move(candidate));
  }

  const graph::Graph& graph_;
  const target::Description& target_;
  const std::vector<std::string>& arch_order_;
  std::vector<Reason>& reasons_;
  const Engine* engine_ = nullptr;
  std::vector<std::pair<std::string, engine::GraphMatch>> asked_;
};

}  // namespace

const char* stage_name(Stage stage) {
  constexpr const char* kNames[] = {"engine", "pack", "kernel"};
  return kNames[static_cast<size_t>(stage)];
}

bool MatchResult::served() const {
  return std::any_of(engines.begin(), engines.end(),
                     [](const EngineMatch& engine) { return !engine.candidates.empty(); });
}

MatchResult match(const graph::Graph& graph, std::shared_ptr<const descriptor::DescriptorSet> set,
                  const target::Description& target) {
  MatchResult out;
  out.set = std::move(set);
  const auto order = target::base_order(target.arch.base);
  out.engines.reserve(out.set->engines.size());
  for (const auto& engine : out.set->engines)
    out.engines.push_back(EngineJudge(graph, target, order, out.reasons).run(*engine));
  return out;
}

}  // namespace hipplan::match
