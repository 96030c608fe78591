// hipplan-run --bench and --cold.
#include <chrono>

#include "commands/plans.h"
#include "commands/run_session.h"
#include "run/work.h"

namespace hipplan::commands {
namespace {

/// The target's rate for products of that type: matrix units where they are named.
std::string rate_name(const target::Description& description, graph::DataType type) {
  const std::string name = graph::data_type_name(type);
  for (const std::string& key : {name + "_matrix", name})
    if (description.peak_tflops.count(key) != 0) return key;
  return {};
}

class Stopwatch {
 public:
  /// Microseconds since the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::micro> passed = now - last_;
    last_ = now;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

Result<void> check_measurement_options(const hipplan_run_options& options, DeviceKind kind) {
  const auto usage = [](const char* what, const char* advice) {
    return usage_error({.what = what, .advice = advice});
  };
  HIPPLAN_TRY(read_cache(text_or_empty(options.cache)));
  if (kind == DeviceKind::null && options.bench != 0)
    return usage("the null device computes nothing, so there is nothing to measure",
                 "take an emulator, which counts, or a GPU");
  if (options.bench == 0 &&
      (options.replay_graph != 0 || options.samples != 0 || options.cache != nullptr))
    return usage("--replay-graph, --samples and --cache say how --bench measures",
                 "pass --bench too");
  if (kind == DeviceKind::emulator && options.replay_graph != 0)
    return usage("an emulated device records no launches", "take a GPU");
  if (kind == DeviceKind::emulator && (options.samples != 0 || options.cache != nullptr))
    return usage("an emulated device counts, once and for all, and takes no samples of time",
                 "take a GPU, or leave out --samples and --cache");
  if (options.cold != 0 && text_or_empty(options.file) == "-")
    return usage("--cold opens the file again, and standard input cannot be", "name a file");
  return {};
}

Result<void> run_bench(Session& session) {
  BenchResult out;
  if (session.kind == DeviceKind::emulator) {
    session.bench = std::move(out);  // what it counts is the same every time
    return {};
  }
  TimingRequest request;
  HIPPLAN_TRY_ASSIGN(request.cache, read_cache(text_or_empty(session.options.cache)));
  request.samples = session.options.samples;
  request.replay = session.options.replay_graph != 0;
  request.expected = &session.outputs;
  HIPPLAN_TRY_ASSIGN(out.timed, time_plan(*session.device, *session.executable, session.graph,
                                          session.inputs, request, session.io));
  out.flops = run::flops_of(session.graph);
  out.rate = rate_name(session.device->description(), run::product_type(session.graph));
  session.bench = std::move(out);
  return {};
}

Result<void> run_cold(Session& session, const std::string& path) {
  ColdTimes out;
  device::Device& device = *session.device;
  const bool timed = device.facts().ok();
  HIPPLAN_TRY_ASSIGN(const auto poisoned, run::poisoned_outputs(session.graph));
  // A context that a driver makes late is made by its first call.
  HIPPLAN_TRY(device.synchronize());
  Stopwatch watch;
  HIPPLAN_TRY_ASSIGN(const auto opened, open_trusted(path, plan::Check::lookup, session.trust));
  const plan::File& file = opened.file;
  HIPPLAN_TRY_ASSIGN(const auto entry, file.find(session.plan.graph_key, session.plan.target));
  out.open_us = watch.lap();
  if (!entry)
    return Error{.code = Code::machine,
                 .reason = "io",
                 .where = path,
                 .what = "the file was changed while it was measured"};
  HIPPLAN_TRY_ASSIGN(auto plan, file.read_decisions(*entry));
  out.decode_us = watch.lap();
  const auto code = restore::check_code(plan);
  HIPPLAN_TRY_ASSIGN(auto prepared, restore::check_restorable(plan, restore::built_in_provider(),
                                                              &device.description().arch,
                                                              code ? nullptr : &code.error()));
  out.check_us = watch.lap();
  auto loaded = restore::Executable::load(std::move(plan), std::move(prepared), device, *code);
  const double load_us = watch.lap();
  if (!loaded) return loaded.error().within(path);
  session.executable = std::move(loaded).value();
  DeviceTensors tensors(device);
  HIPPLAN_TRY(add_tensors(tensors, *session.executable, session.inputs, poisoned));
  HIPPLAN_TRY(device.synchronize());
  watch.lap();
  HIPPLAN_TRY(session.executable->execute(device, tensors.addresses(), tensors.workspace()));
  HIPPLAN_TRY(device.synchronize());
  const double launch_us = watch.lap();
  (void)device.take_profiles();  // those of --counters are the first judged execution's
  if (timed) out.load_us = load_us, out.launch_us = launch_us;
  session.cold = out;
  return {};
}

}  // namespace hipplan::commands
