// hipplan-run: restore a plan from its bytes and execute it.
#include <cmath>

#include "commands/commands.h"
#include "commands/graphs.h"
#include "commands/memory_need.h"
#include "commands/plans.h"
#include "commands/run_session.h"
#include "reference/reference.h"

namespace hipplan::commands {
namespace {

/// The target of the file's first plan, or empty: what "--device auto" falls back to.
Result<std::string> first_target(const plan::File& file, const std::string& graph_key) {
  std::string out;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const plan::EntryInfo& entry) {
    out = entry.target;
    return false;
  }));
  return out;
}

Result<void> check_options(const hipplan_run_options& options, DeviceKind kind) {
  const auto usage = [](const char* what, const char* advice) {
    return usage_error({.what = what, .advice = advice});
  };
  if (std::isnan(options.absolute_tolerance) || std::isnan(options.relative_tolerance))
    return usage("a tolerance is not a number", "give --atol and --rtol as numbers from 0 on");
  // Callers in C that set nothing hand in zeros.
  const bool judged = options.check != 0 || options.expects.count != 0;
  if (!judged && (options.absolute_tolerance > 0 || options.relative_tolerance > 0))
    return usage("--atol and --rtol say how results are judged", "pass --check or --expect too");
  HIPPLAN_TRY(check_measurement_options(options, kind));
  const bool emulated = kind == DeviceKind::emulator;
  if (!emulated &&
      (options.check_races != 0 || options.check_uninitialized != 0 || options.schedule_seed != 0 ||
       options.instruction_budget != 0 || options.counters != 0 || options.trace != nullptr ||
       options.break_pc != nullptr))
    return usage("only an emulated device has checks, seeded order, counters and traces",
                 "take an emulator");
  if (options.check != 0 || options.expects.count != 0 || options.outputs.count != 0)
    return refuse_null(kind);
  return {};
}

Result<void> open_all(Session& session) {
  const auto& options = session.options;
  const std::string path = text_or_empty(options.file);
  HIPPLAN_TRY_ASSIGN(session.trust,
                     asked_trust(options.require_signed != 0, text_or_empty(options.trust)));
  HIPPLAN_TRY_ASSIGN(const auto opened, open_trusted(path, plan::Check::lookup, session.trust));
  const plan::File& file = opened.file;
  std::string asked = text_or_empty(options.graph_key);
  session.target = text_or_empty(options.target);
  HIPPLAN_TRY(split_plan_name(asked, session.target));
  const auto chosen = graph_digits(file, asked);
  if (!chosen) return chosen.error().within(path);
  const std::string& key = *chosen;
  HIPPLAN_TRY_ASSIGN(auto fallback, first_target(file, key));
  if (fallback.empty()) return no_such_graph(file, key).within(path);
  std::optional<target::Arch> wanted;
  if (!session.target.empty()) {
    HIPPLAN_TRY_ASSIGN(wanted, arch_of(session.target, session.io));
    fallback = wanted->text();
    // Whether there is such a plan does not hang on devices.
    const auto there = resolve(file, key, *wanted);
    if (!there) return with_list(there.error(), file).within(path);
    if (const auto note = note_on_taken({*there}, *wanted)) session.io.note(*note);
  }
  DeviceRequest request{text_or_empty(options.device), fallback, {}, {}};
  HIPPLAN_TRY_ASSIGN(session.kind, kind_of(request.name, fallback));
  HIPPLAN_TRY(check_options(options, session.kind));
  if (options.target_file != nullptr) {
    HIPPLAN_TRY_ASSIGN(auto described, pipeline::Targets::read(options.target_file));
    request.described.push_back(std::move(described));
  }
  HIPPLAN_TRY_ASSIGN(const auto arch, arch_of_device(request, session.io));
  auto entry = resolve(file, key, wanted.value_or(arch));
  if (!entry) return with_list(entry.error(), file).within(path);
  HIPPLAN_TRY_ASSIGN(session.plan, file.read_plan(*entry, true));
  HIPPLAN_TRY_ASSIGN(request.options, emulator_options(options, session.io, session.watch));
  HIPPLAN_TRY_ASSIGN(session.device, open_device(request, session.io));
  if (const auto note = note_on_loading(session.plan, *session.device)) session.io.note(*note);
  if (options.cold == 0) {  // --cold restores later, and times it
    auto created =
        restore::Executable::create(session.plan, restore::built_in_provider(), *session.device);
    if (!created) return created.error().within(path);
    session.executable = std::move(created).value();
  }
  HIPPLAN_TRY_ASSIGN(session.graph, graph_of(session.plan, text_or_empty(options.graph_file)));
  return {};
}

/// Runs once, or, when results are to be judged, twice, and compares.
Result<void> execute(Session& session, bool judge) {
  auto& io = session.io;
  Judging judging;
  judging.twice = judge;
  judging.reference = session.options.check != 0;
  judging.tolerance = tolerance_of(session.options);
  judging.jobs = io.jobs();
  judging.next_step = [&](const char* name) { return session.next_step(name); };
  const auto before = session.device->counters();
  judging.ran_once = [&](const run::Buffers& outputs) -> Result<void> {
    session.watch.on = false;
    note_unseen(session.options, session.watch, io);
    session.counters = bench::difference(session.device->counters(), before);
    session.profiles = session.device->take_profiles();
    // The null device computes nothing: what stands in the outputs is no result.
    if (session.kind != DeviceKind::null) session.outputs = outputs;
    return {};
  };
  judging.judged = [&]() -> Result<void> {
    HIPPLAN_TRY(write_outputs(session));
    return io.check_interrupted();
  };
  session.watch.on = true;
  HIPPLAN_TRY_ASSIGN(auto results, execute_and_judge(*session.device, *session.executable,
                                                     session.graph, session.inputs, judging));
  for (auto& [uid, result] : results)
    session.comparisons.push_back({uid, "CPU reference", std::move(result)});
  return {};
}

Result<void> work(Session& session) {
  const auto& options = session.options;
  HIPPLAN_TRY_ASSIGN(const auto expects, assignments(options.expects, "--expect"));
  HIPPLAN_TRY(check_output_names(options, expects));
  // What "auto" is, the plan tells; then the options are judged.
  const std::string device = text_or_empty(options.device);
  if (!device.empty() && device != "auto") {
    HIPPLAN_TRY_ASSIGN(session.kind, kind_of(device));
    HIPPLAN_TRY(check_options(options, session.kind));
  }
  HIPPLAN_TRY(open_all(session));
  if (options.check != 0) HIPPLAN_TRY(reference::supported(session.graph));
  const bool judge = options.check != 0 || !expects.empty();
  // Inputs, one run or two, the reference, files, the measurement.
  session.steps =
      3u + (judge ? 1 : 0) + (options.check != 0 ? 1 : 0) + (options.bench != 0 ? 1 : 0);
  HIPPLAN_TRY(check_memory(session.graph, session.kind == DeviceKind::emulator));
  HIPPLAN_TRY(session.next_step("inputs"));
  HIPPLAN_TRY(make_inputs(session));
  HIPPLAN_TRY(session.io.check_interrupted());
  if (options.cold != 0) HIPPLAN_TRY(run_cold(session, text_or_empty(options.file)));
  HIPPLAN_TRY(execute(session, judge));
  HIPPLAN_TRY(session.next_step("comparison"));
  HIPPLAN_TRY(check_files(session, expects));
  if (options.bench == 0) return {};
  HIPPLAN_TRY(session.next_step("measurement"));
  return run_bench(session);
}

}  // namespace

int run(const hipplan_run_options& options, Io& io) {
  Session session{options, io};
  std::optional<Error> failure;
  if (auto done = work(session); !done) {
    failure = done.error();
    io.fail(*failure);
  }
  session.long_work.end();
  bool wrong = false;
  for (const auto& compared : session.comparisons) wrong |= !compared.result.pass;
  if (wrong) io.fail_quietly(HIPPLAN_NEGATIVE);
  for (const auto& [uid, against, result] : session.comparisons)
    if (const auto warning = warning_on_not_finite(uid, result, against)) io.warn(*warning);
  if (io.json())
    print_json(session, failure);
  else if (!failure)
    print_text(session);
  if (wrong || (failure && failure->code == Code::negative && session.executable))
    io.note("repeat with: " + repeat_line(session));
  return io.status();
}

}  // namespace hipplan::commands
