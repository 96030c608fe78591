// hipplan-inspect diff, size, resolve, why: what files and their plans say.
#include "base/harmless.h"
#include "commands/graphs.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/diff.h"
#include "plan/print.h"
#include "select/select.h"

namespace hipplan::commands {

Result<void> diff(Inspection& in) {
  HIPPLAN_TRY(need(in, 2, "two files"));
  // The comparison trusts digests, so both files must be what their digests say.
  HIPPLAN_TRY_ASSIGN(const auto a, open_file(in.arguments[0], plan::Check::full));
  HIPPLAN_TRY_ASSIGN(const auto b, open_file(in.arguments[1], plan::Check::full));
  HIPPLAN_TRY_ASSIGN(const auto difference, plan::diff_files(a, b));
  if (in.io.json()) {
    json::Writer out;
    plan::diff_json(out, difference, in.arguments[0], in.arguments[1]);
    in.io.line(out.text());
  } else {
    in.io.result(plan::diff_text(difference, in.arguments[0], in.arguments[1]));
  }
  const bool differs =
      !difference.differences.empty() || difference.only_in_a != 0 || difference.only_in_b != 0;
  if (differs) in.io.fail_quietly(HIPPLAN_NEGATIVE);
  return {};
}

Result<void> size(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  // Sums are over what records say, and groups are decompressed: both must be right.
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::full));
  HIPPLAN_TRY_ASSIGN(const auto report, plan::size_report(file));
  if (!in.io.json()) {
    in.io.result(plan::size_text(report));
    return {};
  }
  json::Writer out;
  plan::size_json(out, report, in.arguments[0]);
  in.io.line(out.text());
  return {};
}

/// Why the plan for `target` comes before others that fit a device.
std::string precedence(const std::string& target, const target::Arch& device) {
  if (target == device.text()) return "is for this very target";
  if (target == device.base) return "is for the target's architecture";
  return "comes first in the file";
}

Result<void> resolve_command(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  if (in.targets.size() != 1)
    return inspect_usage(cat(in.targets.size(), " targets given"), "one --target");
  HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  const auto digits = graph_digits(file, in.graph_key);
  if (!digits) return digits.error().within(in.arguments[0]);
  HIPPLAN_TRY_ASSIGN(const auto candidates, judge(file, *digits, arch));
  if (candidates.empty()) return no_such_graph(file, *digits).within(in.arguments[0]);
  json::Writer out;
  out.begin_object().member("schema", "hipplan.resolve/1").member("path", in.arguments[0]);
  out.member("target", arch.text()).key("candidates").begin_array();
  const auto chosen = best_by_graph(candidates, arch);
  bool unserved = false;
  for (const auto& candidate : candidates) {
    const Candidate* best = chosen.at(candidate.entry.graph_key);
    const bool wins = best == &candidate;
    unserved |= best == nullptr;
    auto refusal = candidate.refusal;
    // Nothing is to be done where another plan of the graph is chosen.
    if (refusal && best != nullptr) refusal->advice.clear();
    const std::string winner = best == nullptr ? ""
                                               : cat("that for ", best->entry.target, " ",
                                                     precedence(best->entry.target, arch));
    const std::string verdict = refusal ? "refused: " + refusal->text()
                                : wins  ? std::string("chosen")
                                        : "fits, not chosen: " + winner;
    if (!in.io.json())
      in.io.line(cat(candidate.entry.graph_key.hex().substr(0, 16), "/", candidate.entry.target,
                     ": ", verdict));
    out.begin_object().member("graph_key", candidate.entry.graph_key.hex());
    out.member("target", candidate.entry.target)
        .member("plan_digest", candidate.entry.plan_digest.hex());
    out.member("chosen", wins);
    if (refusal) {
      out.key("refusal");
      write_error(out, *refusal);
    } else if (!wins) {
      out.member("passed_over", winner);
    }
    out.end_object();
  }
  out.end_array().end_object();
  if (in.io.json()) in.io.line(out.text());
  if (unserved && chosen.size() == 1)
    return no_plan_runs(file, chosen.begin()->first.hex(), arch).within(in.arguments[0]);
  if (unserved)
    return Error{.code = Code::unusable,
                 .reason = "target",
                 .where = in.arguments[0],
                 .what = "a graph has no plan that runs on " + arch.text(),
                 .advice = "bake one for " + arch.base};
  return {};
}

Result<void> why(Inspection& in) {
  HIPPLAN_TRY(need(in, 1, "one file"));
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(in.arguments[0], plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry, chosen_entry(in, file));
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, false));
  if (plan.reasons.empty())
    return Error{.code = Code::negative,
                 .reason = "no-reasons",
                 .where = in.arguments[0],
                 .what = "the plan carries no record of how it was chosen"};
  if (in.io.json()) {
    in.io.line(plan.reasons);
    return {};
  }
  HIPPLAN_TRY_ASSIGN(const auto text, select::explain_record(plan.reasons, in.arguments[0]));
  in.io.result(harmless(text, "\n"));
  return {};
}

}  // namespace hipplan::commands
