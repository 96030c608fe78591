// Match result -> one kernel, with the record of how it was chosen. Rules: docs/selection.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/launch_value.h"
#include "base/result.h"
#include "match/match.h"

namespace hipplan::select {

/// A knob: a metadata field named by the engine, fixed to a value.
struct Knob {
  std::string name;
  ValueData value;
};
/// Reads "name=value": integers, true/false, decimal numbers, else text. Fails with bad_input.
Result<Knob> parse_knob(std::string_view text);

/// Measured times, wherever they come from. Any thread.
class Timings {
 public:
  virtual ~Timings() = default;
  /// Seconds of one run of `candidate`, or nothing when it was not measured.
  [[nodiscard]] virtual std::optional<double> seconds(const match::Candidate& candidate) const = 0;
};

struct Request {
  std::string engine = {};       ///< name, or decimal or 0xHEX id; empty: any
  std::vector<Knob> knobs = {};  ///< all must hold
  const Timings* timings = nullptr;
};

/// What decided between the winner and the runner-up.
enum class Rule : uint8_t { only, pinned, measured, heuristic, priority, id, preferred };
[[nodiscard]] const char* rule_name(Rule rule);

/// A candidate in its final rank with everything that ranked it.
struct Ranked {
  const match::Candidate* candidate = nullptr;
  std::optional<double> measured_seconds;
  std::optional<double> score;  ///< in the unit of `score_unit`
  Rule lost_by = Rule::only;    ///< rule that put it behind the one before it; `only` for the first
};

/// The decision. Refers into `match`, which it keeps.
struct Selection {
  std::shared_ptr<const match::MatchResult> match;
  match::Candidate chosen;
  std::vector<Ranked> ranking;    ///< the chosen engine's survivors, best first; [0] is `chosen`
  Rule engine_rule = Rule::only;  ///< how the engine was chosen among several that could serve
  Rule kernel_rule = Rule::only;  ///< what put the winner before the runner-up
  std::vector<std::string> other_engines;  ///< engines that could serve too, in order of preference
  std::string score_unit;
  bool score_maximize = false;
  std::vector<Knob> knobs;
};

/// Fails with negative (reason "not-served", text naming each engine's reason) when no kernel
/// matched, and with bad_input for an unknown engine, unknown knob or a value that is not in the
/// catalog.
Result<Selection> select(match::MatchResult matched, const graph::Graph& graph,
                         const target::Description& target, const Request& request);

/// The "reasons" section of a plan: JSON, schema hipplan.reasons/1. No paths, times or host facts.
[[nodiscard]] std::string print_reasons(const Selection& selection);
/// The same for people; also for a graph that nothing serves.
[[nodiscard]] std::string explain(const Selection& selection);
[[nodiscard]] std::string explain(const match::MatchResult& matched);
/// explain() of the selection that print_reasons() recorded. Fails with unusable, reason
/// "reasons-version", for a record of another schema.
Result<std::string> explain_record(const std::string& reasons, const std::string& where);

}  // namespace hipplan::select
