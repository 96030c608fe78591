#include "select/select.h"

#include <algorithm>

#include "base/spelling.h"
#include "select/ranking.h"

namespace hipplan::select {
namespace {

std::string engine_names(const descriptor::DescriptorSet& set) {
  std::string out;
  for (const auto& engine : set.engines) out += (out.empty() ? "" : ", ") + engine->name;
  return out.empty() ? "none" : out;
}

constexpr size_t kLongestName = 80;

/// The engine whose name, with or without its provider in front, is most like `text`; empty when
/// none is.
std::string nearest_engine(const descriptor::DescriptorSet& set, const std::string& text) {
  NearestWord nearest(text);
  std::string out;
  for (const auto& engine : set.engines) {
    const bool whole = nearest.look(engine->name);
    if (nearest.look(engine->name.substr(engine->name.find(':') + 1)) || whole) out = engine->name;
  }
  return out;
}

/// The engine that the request pins by name, decimal id or 0xHEX id; null when it pins none.
Result<const descriptor::Engine*> pinned_engine(const descriptor::DescriptorSet& set,
                                                const std::string& text) {
  if (text.empty()) return static_cast<const descriptor::Engine*>(nullptr);
  if (const auto* engine = set.find_engine(std::string_view(text))) return engine;
  std::string upper = text;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  for (const auto& engine : set.engines) {
    std::string hex = engine_id_text(engine->engine_id);
    hex[1] = 'X';
    if (text == std::to_string(engine->engine_id) || upper == hex) return engine.get();
  }
  const std::string nearest = nearest_engine(set, text.substr(0, kLongestName));
  return Error{.code = Code::bad_input,
               .reason = "unknown-engine",
               .where = cat("engine '", text.substr(0, kLongestName), "'"),
               .what = "is not in the descriptor set",
               .expected = cat("one of ", engine_names(set)),
               .advice = nearest.empty() ? "" : cat("did you mean ", nearest, "?")};
}

Error not_served(const match::MatchResult& matched, const graph::Graph& graph,
                 const target::Description& target, const descriptor::Engine* pinned) {
  return {.code = Code::negative,
          .reason = "not-served",
          .where = graph.name.empty() ? "graph" : cat("graph '", graph.name, "'"),
          .what = cat("no kernel", pinned == nullptr ? "" : " of engine " + pinned->name,
                      " serves it on ", target.arch.text()),
          .details = refusal_lines(matched, pinned == nullptr ? "" : pinned->name)};
}

/// Rankings of all engines that can serve under the request. A knob that one engine refuses is an
/// error only when no other engine takes it.
Result<std::vector<EngineRanking>> rank_engines(const match::MatchResult& matched,
                                                const target::Description& target,
                                                const Request& request,
                                                const descriptor::Engine* pinned) {
  std::vector<EngineRanking> out;
  std::optional<Error> knob_error;
  for (const match::EngineMatch& engine : matched.engines) {
    if (engine.candidates.empty() || (pinned != nullptr && engine.engine != pinned)) continue;
    auto survivors = apply_knobs(engine, request.knobs);
    if (survivors)
      out.push_back(rank_kernels(engine, *survivors, target, request.timings));
    else if (!knob_error)
      knob_error = std::move(survivors).error();
  }
  if (out.empty() && knob_error) return *knob_error;
  return out;
}

/// The engine to take, first, and the rule that put it before the next best.
struct EngineChoice {
  std::vector<EngineRanking> order;
  Rule rule = Rule::only;
};

EngineChoice choose_engine(std::vector<EngineRanking> engines, const graph::Graph& graph,
                           bool pinned) {
  EngineChoice out;
  const auto preferred = [&](const EngineRanking& entry) {
    return graph.preferred_engine_id &&
           entry.engine->engine->engine_id == *graph.preferred_engine_id;
  };
  std::sort(engines.begin(), engines.end(), [&](const EngineRanking& a, const EngineRanking& b) {
    if (preferred(a) != preferred(b)) return preferred(a);
    return compare_engines(a, b).first_wins;
  });
  out.order = std::move(engines);
  if (pinned)
    out.rule = Rule::pinned;
  else if (out.order.size() > 1)
    out.rule = preferred(out.order[0]) ? Rule::preferred
                                       : compare_engines(out.order[0], out.order[1]).rule;
  return out;
}

Rule kernel_rule(const EngineRanking& best, const Request& request) {
  if (best.ranking.size() > 1) return best.ranking[1].lost_by;
  return request.knobs.empty() || best.engine->candidates.size() == 1 ? Rule::only : Rule::pinned;
}

}  // namespace

const char* rule_name(Rule rule) {
  constexpr const char* kNames[] = {"only",     "pinned", "measured", "heuristic",
                                    "priority", "id",     "preferred"};
  return kNames[static_cast<size_t>(rule)];
}

Result<Selection> select(match::MatchResult matched, const graph::Graph& graph,
                         const target::Description& target, const Request& request) {
  HIPPLAN_TRY_ASSIGN(const descriptor::Engine* pinned, pinned_engine(*matched.set, request.engine));
  auto kept = std::make_shared<const match::MatchResult>(std::move(matched));
  HIPPLAN_TRY_ASSIGN(auto engines, rank_engines(*kept, target, request, pinned));
  if (engines.empty()) return not_served(*kept, graph, target, pinned);
  EngineChoice choice = choose_engine(std::move(engines), graph, pinned != nullptr);
  EngineRanking& best = choice.order.front();
  Selection out;
  out.match = std::move(kept);
  out.engine_rule = choice.rule;
  out.kernel_rule = kernel_rule(best, request);
  for (size_t i = 1; i < choice.order.size(); ++i)
    out.other_engines.push_back(choice.order[i].engine->engine->name);
  out.score_unit = std::move(best.score_unit);
  out.score_maximize = best.score_maximize;
  out.knobs = request.knobs;
  out.ranking = std::move(best.ranking);
  out.chosen = *out.ranking.front().candidate;
  return out;
}

}  // namespace hipplan::select
