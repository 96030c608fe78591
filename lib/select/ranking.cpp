#include "select/ranking.h"

#include <algorithm>

namespace hipplan::select {
namespace {

int64_t priority_of(const Ranked& entry) {
  return entry.candidate->kernel->kernel->priority;
}
const Uuid& id_of(const Ranked& entry) {
  return entry.candidate->kernel->kernel->id;
}

/// Whether `a` has the better score; a kernel with a score is better than one without.
std::optional<bool> better_score(const EngineRanking& in, const Ranked& a, const Ranked& b) {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  if (!a.score || *a.score == *b.score) return std::nullopt;
  return (*a.score > *b.score) == in.score_maximize;
}

struct Verdict {
  bool first_wins;
  Rule rule;
};

/// Measured time, heuristic score, priority (higher first), kernel id.
Verdict compare(const EngineRanking& in, const Ranked& a, const Ranked& b) {
  if (in.measured && *a.measured_seconds != *b.measured_seconds)
    return {*a.measured_seconds < *b.measured_seconds, Rule::measured};
  if (const auto better = better_score(in, a, b)) return {*better, Rule::heuristic};
  if (priority_of(a) != priority_of(b)) return {priority_of(a) > priority_of(b), Rule::priority};
  return {id_of(a) < id_of(b), Rule::id};
}

/// The engine's scorer for this architecture, or null when its heuristic cannot rank here.
const engine::Scorer* scorer_of(const descriptor::Engine& engine,
                                const target::Description& target) {
  const descriptor::Heuristic* heuristic = engine.heuristic_for(target.arch.base);
  if (heuristic == nullptr || heuristic->adapter != descriptor::Adapter::native) return nullptr;
  return engine::find_scorer(heuristic->symbol);
}

}  // namespace

EngineRanking rank_kernels(const match::EngineMatch& engine,
                           const std::vector<const match::Candidate*>& survivors,
                           const target::Description& target, const Timings* timings) {
  EngineRanking out;
  out.engine = &engine;
  const engine::Scorer* scorer = scorer_of(*engine.engine, target);
  if (scorer != nullptr) out.score_unit = scorer->unit, out.score_maximize = scorer->maximize;
  for (const match::Candidate* candidate : survivors) {
    Ranked entry;
    entry.candidate = candidate;
    if (timings != nullptr) entry.measured_seconds = timings->seconds(*candidate);
    if (scorer != nullptr)
      entry.score = scorer->score(
          *engine.problem, engine::Metadata(*engine.engine->schema, candidate->kernel->values),
          target);
    out.ranking.push_back(entry);
  }
  out.measured = !out.ranking.empty() &&
                 std::all_of(out.ranking.begin(), out.ranking.end(),
                             [](const Ranked& r) { return r.measured_seconds.has_value(); });
  std::sort(out.ranking.begin(), out.ranking.end(),
            [&](const Ranked& a, const Ranked& b) { return compare(out, a, b).first_wins; });
  for (size_t i = 1; i < out.ranking.size(); ++i)
    out.ranking[i].lost_by = compare(out, out.ranking[i - 1], out.ranking[i]).rule;
  return out;
}

EngineOrder compare_engines(const EngineRanking& a, const EngineRanking& b) {
  const Ranked &first = a.ranking.front(), &second = b.ranking.front();
  if (a.measured && b.measured && *first.measured_seconds != *second.measured_seconds)
    return {*first.measured_seconds < *second.measured_seconds, Rule::measured};
  const bool comparable = !a.score_unit.empty() && a.score_unit == b.score_unit &&
                          a.score_maximize == b.score_maximize && first.score && second.score;
  if (comparable && *first.score != *second.score)
    return {(*first.score > *second.score) == a.score_maximize, Rule::heuristic};
  if (priority_of(first) != priority_of(second))
    return {priority_of(first) > priority_of(second), Rule::priority};
  return {a.engine->engine->id < b.engine->engine->id, Rule::id};
}

}  // namespace hipplan::select
