// hipplan-verify --execute: do plans compute what the CPU reference does.
#include <utility>

#include "base/join.h"
#include "commands/execution.h"
#include "commands/targets.h"
#include "commands/verify_parts.h"
#include "restore/restore.h"
#include "run/judge.h"

namespace hipplan::commands {
namespace {

/// The first output that is wrong.
Result<void> judge_outputs(const std::vector<run::OutputComparison>& outputs) {
  for (const auto& [uid, result] : outputs)
    if (!result.pass)
      return Error{.code = Code::negative,
                   .reason = "wrong-result",
                   .where = cat("output ", uid),
                   .what = "differs from the CPU reference",
                   .found = result.text()};
  return {};
}

Result<void> leave_out(const Error& error, PlanVerdict& verdict, Verification& v) {
  if (error.code == Code::interrupted) return error;
  verdict.not_executed = error;
  v.io.fail_quietly(HIPPLAN_MACHINE);
  auto& absence = v.absent[error.text()];
  absence.error = error;
  absence.targets.insert(verdict.entry.target);
  return {};
}

}  // namespace

void tell_absent(Verification& v) {
  for (const auto& [text, absence] : v.absent)
    v.io.fail(absence.error.within("plans for " + joined(absence.targets) + " are not executed"));
}

Result<void> execute_plan(const plan::Plan& plan, PlanVerdict& verdict, Verification& v) {
  constexpr uint64_t kSteps = 4;
  uint64_t step = v.executed++ * kSteps;
  const auto next = [&] {
    v.io.progress("executing plans", step++, v.to_execute * kSteps);
    return v.io.check_interrupted();
  };
  const DeviceRequest request{text_or_empty(v.options.device), plan.target, v.described};
  HIPPLAN_TRY(next());
  if (plan.graph.empty()) {
    verdict.not_executed =
        Error{.code = Code::bad_input, .reason = "no-graph", .what = "the plan carries no graph"};
    return {};
  }
  const auto opened = open_device(request, v.io);
  if (!opened) return leave_out(opened.error(), verdict, v);
  const auto& device = *opened;
  if (const auto note = note_on_loading(plan, *device); note && !std::exchange(v.noted, true))
    v.io.note(*note);
  HIPPLAN_TRY_ASSIGN(const auto executable,
                     restore::Executable::create(plan, restore::built_in_provider(), *device));
  HIPPLAN_TRY_ASSIGN(const auto graph, graph_of(plan, ""));
  HIPPLAN_TRY_ASSIGN(const auto inputs, run::random_inputs(graph, 0, v.io.jobs(), nullptr, [&v] {
                       return v.io.check_interrupted();
                     }));
  Judging judging;
  judging.jobs = v.io.jobs();
  judging.next_step = next;
  HIPPLAN_TRY_ASSIGN(auto compared,
                     execute_and_judge(*device, *executable, graph, inputs, judging));
  verdict.execution = {device->name(), std::move(compared)};
  return judge_outputs(verdict.execution->outputs);
}

}  // namespace hipplan::commands
