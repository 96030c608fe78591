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

namespace {

/// One candidate, what became of it, and the plan of its graph that is chosen, if any is.
void show_candidate(Inspection& in, json::Writer& out, const Candidate& candidate,
                    const Candidate* best, const target::Arch& device) {
  const auto& entry = candidate.entry;
  const bool wins = best == &candidate;
  auto refusal = candidate.refusal;
  // Nothing is to be done where another plan of the graph is chosen.
  if (refusal && best != nullptr) refusal->advice.clear();
  const std::string winner = best == nullptr ? ""
                                             : cat("that for ", best->entry.target, " ",
                                                   precedence(best->entry.target, device));
  const std::string verdict = refusal ? "refused: " + refusal->text()
                              : wins  ? std::string("chosen")
                                      : "fits, not chosen: " + winner;
  if (!in.io.json())
    in.io.line(cat(entry.graph_key.hex().substr(0, 16), "/", entry.target, ": ", verdict));
  out.begin_object().member("graph_key", entry.graph_key.hex()).member("target", entry.target);
  out.member("plan_digest", entry.plan_digest.hex()).member("chosen", wins);
  if (refusal) {
    out.key("refusal");
    write_error(out, *refusal);
  } else if (!wins) {
    out.member("passed_over", winner);
  }
  out.end_object();
}

/// Nothing when each graph has a plan for the device.
std::optional<Error> unserved(const std::map<Digest, const Candidate*>& chosen,
                              const plan::File& file, const target::Arch& device) {
  std::vector<Digest> without;
  for (const auto& [key, best] : chosen)
    if (best == nullptr) without.push_back(key);
  if (without.empty()) return std::nullopt;
  if (without.size() == 1)
    return no_plan_runs(file, without.front().hex(), device).within(file.where());
  return Error{.code = Code::unusable,
               .reason = "target",
               .where = file.where(),
               .what = cat(without.size(), " graphs have no plan that runs on ", device.text(),
                           ", the first is ", without.front().hex().substr(0, 16)),
               .advice = "bake them for " + device.base};
}

}  // namespace

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
  for (const auto& candidate : candidates)
    show_candidate(in, out, candidate, chosen.at(candidate.entry.graph_key), arch);
  out.end_array();
  const auto refused = unserved(chosen, file, arch);
  if (refused) write_error(out.key("error"), *refused);
  out.end_object();
  if (in.io.json()) in.io.line(out.text());
  if (refused) return *refused;
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
