// hipplan-verify --execute: do plans compute what the CPU reference does.
#include <algorithm>
#include <utility>

#include "base/join.h"
#include "commands/execution.h"
#include "commands/memory_need.h"
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
  auto& absence = v.absent[error.text()];
  absence.error = error;
  absence.targets.insert(verdict.entry.target);
  return {};
}

}  // namespace

namespace {

/// None of any file was executed: a file whose plans have no device here is not what it was asked
/// for, and one that holds nothing for the device that was named is the wrong one for it.
void blame(FileVerdict& file, Verification& v) {
  const auto all = [&](const auto& are) {
    return !file.plans.empty() && std::all_of(file.plans.begin(), file.plans.end(), are);
  };
  const auto has_no_device = [](const PlanVerdict& plan) {
    return plan.not_executed && !lacks_graph(plan) && !is_for_others(plan);
  };
  file.idle = true;
  if (std::any_of(file.plans.begin(), file.plans.end(), has_no_device))
    file.status = worse(file.status, HIPPLAN_MACHINE);
  if (file.status != 0 || !v.device || !all(is_for_others)) return;
  file.failure = Error{.code = Code::unusable,
                       .reason = "target",
                       .what = "no plan in the file runs on the device, so none was executed",
                       .expected = "a plan for " + v.device->text(),
                       .advice = "name a device that the file holds plans for"};
  file.status = HIPPLAN_UNUSABLE;
  v.io.fail(file.failure->within(file.path));
}

}  // namespace

void judge_left_out(Verification& v) {
  for (const auto& [text, absence] : v.absent) {
    const Error error =
        absence.error.within("plans for " + joined(absence.targets) + " are not executed");
    if (v.ran != 0) {
      v.io.note(error.text());
      continue;
    }
    v.io.fail(error);
    v.io.fail_quietly(HIPPLAN_MACHINE);
  }
  if (v.options.execute == 0 || v.ran != 0) return;
  for (auto& file : v.files) blame(file, v);
}

Result<void> execute_plan(const plan::Plan& plan, const std::string& file, PlanVerdict& verdict,
                          Verification& v) {
  // A file may hold plans for several devices; those of the others are checked and no more.
  if (v.device && !restore::check_target(plan, *v.device)) {
    verdict.not_executed = Error{.code = Code::unusable,
                                 .reason = "target",
                                 .what = "the plan is not for " + v.device->text()};
    return {};
  }
  constexpr uint64_t kSteps = 5;
  uint64_t step = v.executed++ * kSteps;
  const std::string name = cat(file, ": ", short_name(verdict.entry));
  std::string subject = name;
  const auto next = [&](const char* what) {
    v.long_work.begin(subject, what, step++, v.to_execute * kSteps);
    return v.io.check_interrupted();
  };
  const DeviceRequest request{text_or_empty(v.options.device), plan.target, v.described};
  if (plan.graph.empty()) {
    verdict.not_executed =
        Error{.code = Code::bad_input, .reason = "no-graph", .what = "the plan carries no graph"};
    return {};
  }
  HIPPLAN_TRY(next("opening the device"));
  const auto opened = open_device(request, v.io);
  if (!opened) return leave_out(opened.error(), verdict, v);
  const auto& device = *opened;
  ++v.ran;
  if (const auto note = note_on_loading(plan, *device); note && !std::exchange(v.noted, true))
    v.io.note(*note);
  HIPPLAN_TRY_ASSIGN(const auto executable,
                     restore::Executable::create(plan, restore::built_in_provider(), *device));
  HIPPLAN_TRY_ASSIGN(const auto graph, graph_of(plan, ""));
  HIPPLAN_TRY(check_memory(graph, device->name().starts_with("emulator:")));
  subject = cat(name, graph.name.empty() ? "" : " (" + graph.name + ")", " on ", device->name());
  HIPPLAN_TRY(next("inputs"));
  HIPPLAN_TRY_ASSIGN(const auto inputs, run::random_inputs(graph, 0, v.io.jobs(), nullptr, [&v] {
                       return v.io.check_interrupted();
                     }));
  Judging judging;
  judging.jobs = v.io.jobs();
  judging.next_step = next;
  HIPPLAN_TRY_ASSIGN(auto compared,
                     execute_and_judge(*device, *executable, graph, inputs, judging));
  for (const auto& [uid, result] : compared)
    if (const auto warning = warning_on_not_finite(uid, result, "CPU reference"))
      v.io.warn(cat(name, ": ", *warning));
  verdict.execution = {device->name(), std::move(compared)};
  return judge_outputs(verdict.execution->outputs);
}

}  // namespace hipplan::commands
