// Order of the kernels of one engine.
#pragma once

#include "select/select.h"

namespace hipplan::select {

/// An engine's candidates, best first, with what ranked them.
struct EngineRanking {
  const match::EngineMatch* engine = nullptr;
  std::vector<Ranked> ranking;
  bool measured = false;   ///< all were measured, so that times decide
  std::string score_unit;  ///< empty without a usable heuristic
  bool score_maximize = false;
};

/// Ranks `survivors` (candidates of `engine`). Measured times decide only when every survivor has
/// one.
EngineRanking rank_kernels(const match::EngineMatch& engine,
                           const std::vector<const match::Candidate*>& survivors,
                           const target::Description& target, const Timings* timings);

/// Whether engine `a` is preferred to `b` by their best kernels, and by which rule.
struct EngineOrder {
  bool first_wins = false;
  Rule rule = Rule::id;
};
EngineOrder compare_engines(const EngineRanking& a, const EngineRanking& b);

// Knobs ------------------------------------------------------------------------------------------

/// Candidates of `engine` on which every knob holds. Fails with bad_input for a knob that the
/// engine does not have and for a value that no candidate has (the message lists the legal ones).
Result<std::vector<const match::Candidate*>> apply_knobs(const match::EngineMatch& engine,
                                                         const std::vector<Knob>& knobs);
/// "64", "true", "0.5", "float", "[1, 2]".
[[nodiscard]] std::string value_text(const ValueData& value);

// Texts ------------------------------------------------------------------------------------------

/// Refusals that say the same, with the kernels they are about.
struct ReasonGroup {
  const match::Reason* reason = nullptr;  ///< the first of them
  std::vector<std::string> kernels;
};
[[nodiscard]] std::vector<ReasonGroup> grouped(const std::vector<match::Reason>& reasons);
/// A line for each engine that came closest to serving the graph, with the reason that tells most.
/// When none has its nodes: a line on the graph's nodes, then one for each engine.
[[nodiscard]] std::vector<std::string> refusal_lines(const match::MatchResult& matched,
                                                     std::string_view engine);

}  // namespace hipplan::select
