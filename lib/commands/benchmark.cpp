#include "commands/benchmark.h"

#include <algorithm>
#include <map>

#include "commands/targets.h"
#include "commands/timing.h"
#include "match/match.h"
#include "restore/restore.h"
#include "select/select.h"

namespace hipplan::commands {
namespace {

/// What became of one candidate.
struct Outcome {
  match::Candidate candidate;
  std::vector<Digest> code;  ///< of its code objects
  Result<TimedPlan> timed;
};

std::string id_of(const match::Candidate& candidate) {
  return candidate.kernel->kernel->id.text();
}

/// Outcomes as selection takes them, by kernel id.
class MeasuredTimes final : public select::Timings {
 public:
  explicit MeasuredTimes(const std::vector<Outcome>& outcomes) {
    for (const auto& outcome : outcomes)
      if (outcome.timed.ok())
        seconds_[id_of(outcome.candidate)] = outcome.timed->measured.statistics.robust_mean * 1e-6;
  }
  [[nodiscard]] std::optional<double> seconds(const match::Candidate& candidate) const override {
    const auto found = seconds_.find(id_of(candidate));
    return found == seconds_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::map<std::string, double> seconds_;
};

/// Every selection that could be made under the request: the survivors of each engine.
Result<std::vector<select::Selection>> selections(const match::MatchResult& matched,
                                                  const graph::Graph& graph,
                                                  const target::Description& target,
                                                  const select::Request& request) {
  std::vector<select::Selection> out;
  HIPPLAN_TRY_ASSIGN(auto first, select::select(matched, graph, target, request));
  const bool pinned = !request.engine.empty() || first.engine_rule == select::Rule::preferred;
  const auto others = pinned ? std::vector<std::string>{} : first.other_engines;
  out.push_back(std::move(first));
  for (const auto& name : others) {
    select::Request one = request;
    one.engine = name;
    HIPPLAN_TRY_ASSIGN(auto other, select::select(matched, graph, target, one));
    out.push_back(std::move(other));
  }
  return out;
}

/// Takes the candidates that failed out of the match, with the reason.
void drop_failed(const std::vector<Outcome>& outcomes, match::MatchResult& matched) {
  for (const auto& outcome : outcomes) {
    if (outcome.timed.ok()) continue;
    const auto& failed = outcome.candidate;
    for (auto& engine : matched.engines)
      std::erase_if(engine.candidates, [&](const auto& c) { return c.kernel == failed.kernel; });
    matched.reasons.push_back({match::Stage::kernel, failed.engine->name, failed.pack->name,
                               failed.kernel->kernel->name, "benchmark", "benchmark-failed",
                               outcome.timed.error().text()});
  }
}

Error all_failed(const std::vector<Outcome>& outcomes, const std::string& device) {
  Error out = outcomes.front().timed.error();
  out.where = device;
  out.found.clear(), out.expected.clear(), out.advice.clear();
  out.what = "no kernel could be measured:";
  for (const auto& outcome : outcomes)
    out.what +=
        cat(" ", outcome.candidate.kernel->kernel->name, ": ", outcome.timed.error().text(), ";");
  out.what.pop_back();
  return out;
}

/// Measured outcomes, fastest first.
std::vector<const Outcome*> by_time(const std::vector<Outcome>& outcomes) {
  std::vector<const Outcome*> out;
  for (const auto& outcome : outcomes)
    if (outcome.timed.ok()) out.push_back(&outcome);
  std::stable_sort(out.begin(), out.end(), [](const Outcome* a, const Outcome* b) {
    return a->timed->measured.statistics.robust_mean < b->timed->measured.statistics.robust_mean;
  });
  return out;
}

bool fragile(const Outcome& best, const Outcome& next) {
  const auto &a = best.timed->measured, &b = next.timed->measured;
  return bench::within_noise(a.statistics, a.microseconds.size(), b.statistics,
                             b.microseconds.size());
}

void write_identity(json::Writer& out, const Outcome& outcome) {
  out.member("engine", outcome.candidate.engine->name);
  out.member("kernel", outcome.candidate.kernel->kernel->name);
  out.member("id", id_of(outcome.candidate)).key("code").begin_array();
  for (const auto& digest : outcome.code) out.value(digest.hex());
  out.end_array();
}

/// The plan's "measurements": schema hipplan.measurements/1.
std::string print_measurements(const std::vector<Outcome>& outcomes, bench::Cache cache) {
  const auto measured = by_time(outcomes);
  json::Writer out;
  out.begin_object().member("schema", "hipplan.measurements/1");
  out.key("device");
  write_device(out, measured.front()->timed->facts);
  out.member("clock", bench::clock_name(measured.front()->timed->measured.clock));
  out.member("cache", cache == bench::Cache::warm ? "warm" : "cold");
  out.member("fragile", measured.size() > 1 && fragile(*measured[0], *measured[1]));
  out.key("kernels").begin_array();
  for (const auto* outcome : measured) {
    out.begin_object();
    write_identity(out, *outcome);
    out.member("copies", outcome->timed->copies);
    out.member("stays_cold", outcome->timed->stays_cold);
    write_samples(out, outcome->timed->measured);
    out.end_object();
  }
  out.end_array().key("failed").begin_array();
  for (const auto& outcome : outcomes) {
    if (outcome.timed.ok()) continue;
    out.begin_object();
    write_identity(out, outcome);
    out.key("error");
    write_error(out, outcome.timed.error());
    out.end_object();
  }
  out.end_array().end_object();
  return out.text();
}

}  // namespace

struct Benchmark::State {
  Io& io;
  std::unique_ptr<device::Device> device;

  Result<TimedPlan> time(const plan::Plan& plan, const graph::Graph& graph,
                         const run::Buffers& inputs) {
    HIPPLAN_TRY_ASSIGN(const auto executable,
                       restore::Executable::create(plan, restore::built_in_provider(), *device));
    run::Buffers outputs;
    Judging judging;
    judging.reference = false;
    judging.next_step = [this](const char*) { return io.check_interrupted(); };
    judging.ran_once = [&](const run::Buffers& first) -> Result<void> {
      outputs = first;
      return {};
    };
    HIPPLAN_TRY(execute_and_judge(*device, *executable, graph, inputs, judging));
    TimingRequest request;
    request.expected = &outputs;
    return time_plan(*device, *executable, graph, inputs, request, io);
  }

  /// Every candidate of the selections; an interruption is the only error.
  Result<std::vector<Outcome>> measure(const std::vector<select::Selection>& all,
                                       const graph::Graph& graph, capture::Capturer& capturer,
                                       const capture::Options& capture_options) {
    const auto check = [this] { return io.check_interrupted(); };
    HIPPLAN_TRY_ASSIGN(const auto inputs, run::random_inputs(graph, 0, io.jobs(), nullptr, check));
    uint64_t total = 0, done = 0;
    for (const auto& selection : all) total += selection.ranking.size();
    std::vector<Outcome> out;
    for (select::Selection selection : all)
      for (const auto& ranked : selection.ranking) {
        HIPPLAN_TRY(check());
        io.progress("measuring kernels", done++, total);
        selection.chosen = *ranked.candidate;
        auto plan = capturer.capture(selection, graph, device->description(), capture_options);
        Outcome outcome{selection.chosen,
                        {},
                        plan ? time(*plan, graph, inputs) : Result<TimedPlan>(plan.error())};
        if (!outcome.timed && outcome.timed.error().code == Code::interrupted)
          return outcome.timed.error();
        if (plan)
          for (const auto& image : plan->payload.kernels) outcome.code.push_back(image.sha256);
        out.push_back(std::move(outcome));
      }
    io.progress("measuring kernels", total, total);
    return out;
  }

  void note_fragile(const std::vector<Outcome>& outcomes) {
    const auto measured = by_time(outcomes);
    if (measured.size() < 2 || !fragile(*measured[0], *measured[1])) return;
    io.note(cat(measured[0]->candidate.kernel->kernel->name, " (",
                bench::text_of(measured[0]->timed->measured), ") is faster than ",
                measured[1]->candidate.kernel->kernel->name, " (",
                bench::text_of(measured[1]->timed->measured), ") by no more than noise"));
  }
};

Benchmark::Benchmark(std::unique_ptr<State> state) : state_(std::move(state)) {}
Benchmark::~Benchmark() = default;

const target::Description& Benchmark::description() const {
  return state_->device->description();
}

Result<std::unique_ptr<Benchmark>> Benchmark::open(const std::string& device, Io& io) {
  HIPPLAN_TRY_ASSIGN(const auto kind, kind_of(device));
  if (kind == DeviceKind::emulator || kind == DeviceKind::null)
    return usage_error({.where = "--device " + device.substr(0, 80),
                        .what = "has no time to measure: only a GPU has",
                        .expected = "hip:NUMBER or cuda:NUMBER"});
  HIPPLAN_TRY_ASSIGN(auto opened, open_device({device, "", {}, {}}, io));
  HIPPLAN_TRY(opened->make_event());
  return std::unique_ptr<Benchmark>(
      new Benchmark(std::make_unique<State>(State{io, std::move(opened)})));
}

Result<pipeline::Baked> Benchmark::bake(const graph::Graph& graph, pipeline::Catalog& catalog,
                                        capture::Capturer& capturer,
                                        const pipeline::BakeOptions& options,
                                        const DiagnosticSink& sink, std::string* explanation) {
  const auto& target = description();
  HIPPLAN_TRY_ASSIGN(auto descriptors, catalog.descriptors(target.arch, sink));
  match::MatchResult matched = match::match(graph, std::move(descriptors), target);
  if (!matched.served())
    return pipeline::bake_matched(std::move(matched), graph, target, capturer, options,
                                  explanation);
  HIPPLAN_TRY_ASSIGN(const auto all, selections(matched, graph, target, options.request));
  HIPPLAN_TRY_ASSIGN(const auto outcomes, state_->measure(all, graph, capturer, options.capture));
  if (by_time(outcomes).empty()) return all_failed(outcomes, state_->device->name());
  drop_failed(outcomes, matched);
  state_->note_fragile(outcomes);
  const MeasuredTimes times(outcomes);
  pipeline::BakeOptions measured = options;
  measured.request.timings = &times;
  HIPPLAN_TRY_ASSIGN(auto baked, pipeline::bake_matched(std::move(matched), graph, target, capturer,
                                                        measured, explanation));
  baked.plan.measurements = print_measurements(outcomes, bench::Cache::cold);
  return baked;
}

}  // namespace hipplan::commands
