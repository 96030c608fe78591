// hipplan-run: restore a plan from its bytes and execute it.
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/file.h"
#include "base/harmless.h"
#include "commands/execution.h"
#include "commands/io.h"
#include "commands/plans.h"
#include "commands/run_emulator.h"
#include "commands/targets.h"
#include "reference/reference.h"
#include "run/compare.h"
#include "run/inputs.h"
#include "run/judge.h"
#include "run/npy.h"

namespace hipplan::commands {
namespace {

/// "UID=FILE" arguments by uid.
using Assignments = std::map<int64_t, std::string>;

Result<Assignments> assignments(const hipplan_strings& list, const char* option) {
  Assignments out;
  for (const auto& item : items(list)) {
    const size_t equals = item.find('=');
    int64_t uid = 0;
    const char* stop = item.data() + std::min(equals, item.size());
    const auto read = std::from_chars(item.data(), stop, uid);
    const bool good = equals != std::string::npos && read.ec == std::errc() && read.ptr == stop &&
                      equals + 1 < item.size() && item.substr(equals + 1) != "-";
    if (!good)
      return usage_error(
          {.where = std::string(option) + " " + item, .what = "is not UID=FILE.npy"});
    if (!out.emplace(uid, item.substr(equals + 1)).second)
      return usage_error(
          {.where = std::string(option) + " " + item, .what = cat("uid ", uid, " is given twice")});
  }
  return out;
}

device::Counters operator-(const device::Counters& a, const device::Counters& b) {
  return {a.launches - b.launches,
          a.instructions - b.instructions,
          a.lane_instructions - b.lane_instructions,
          a.memory_bytes_read - b.memory_bytes_read,
          a.memory_bytes_written - b.memory_bytes_written,
          a.matrix_flops - b.matrix_flops};
}

/// Everything known about one run.
struct Session {
  const hipplan_run_options& options;
  Io& io;
  plan::Plan plan;
  graph::Graph graph;
  std::unique_ptr<device::Device> device;
  std::shared_ptr<const restore::Executable> executable;
  run::Buffers inputs, outputs;
  struct Compared {
    int64_t uid = 0;
    std::string against;
    run::Comparison result;
  };
  std::vector<Compared> comparisons;
  device::Counters counters;                   ///< of the first execution
  std::vector<device::Profile> profiles = {};  ///< of the first execution's launches
  Watch watch = {};                            ///< for --trace and --break
};

/// The target of the file's only plan, or empty: what "--device auto" falls back to.
Result<std::string> first_target(const plan::File& file, const std::string& graph_key) {
  std::string out;
  HIPPLAN_TRY(file.for_each_of(graph_key, [&](const plan::EntryInfo& entry) {
    out = entry.target;
    return false;
  }));
  return out;
}

Result<void> open_all(Session& session) {
  const auto& options = session.options;
  const std::string path = text_or_empty(options.file), key = text_or_empty(options.graph_key);
  HIPPLAN_TRY_ASSIGN(const auto file, open_file(path, plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto fallback, first_target(file, key));
  DeviceRequest request{text_or_empty(options.device), fallback, {}, {}};
  if (options.target_file != nullptr) {
    HIPPLAN_TRY_ASSIGN(auto described, pipeline::Targets::read(options.target_file));
    request.described.push_back(std::move(described));
  }
  HIPPLAN_TRY_ASSIGN(const auto description, describe_device(request, session.io));
  auto entry = resolve(file, key, description.arch);
  if (!entry) return entry.error().within(path);
  HIPPLAN_TRY_ASSIGN(session.plan, file.read_plan(*entry, true));
  HIPPLAN_TRY_ASSIGN(request.options, emulator_options(options, session.io, session.watch));
  HIPPLAN_TRY_ASSIGN(session.device, open_device(request, session.io));
  auto created =
      restore::Executable::create(session.plan, restore::built_in_provider(), *session.device);
  if (!created) return created.error().within(path);
  session.executable = std::move(created).value();
  HIPPLAN_TRY_ASSIGN(session.graph, graph_of(session.plan, text_or_empty(options.graph_file)));
  return {};
}

Result<const graph::Tensor*> tensor_of(const graph::Graph& graph, int64_t uid,
                                       const std::vector<size_t>& among, const char* kind) {
  std::string known;
  for (const size_t position : among) {
    if (graph.tensors[position].uid == uid) return &graph.tensors[position];
    known += cat(known.empty() ? "" : ", ", graph.tensors[position].uid);
  }
  return Error{.code = Code::bad_input,
               .reason = "unknown-uid",
               .where = cat("tensor uid ", uid),
               .what = cat("is no ", kind, " of the graph"),
               .expected = "one of " + known};
}

Result<Bytes> load_tensor(const graph::Tensor& tensor, const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path));
  HIPPLAN_TRY_ASSIGN(const auto npy, run::read_npy(file.view(), path));
  return run::tensor_from_npy(tensor, npy, path);
}

Result<void> make_inputs(Session& session) {
  HIPPLAN_TRY_ASSIGN(const auto files, assignments(session.options.inputs, "--input"));
  run::Buffers given;
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_inputs(), "input"));
    HIPPLAN_TRY_ASSIGN(given[uid], load_tensor(*tensor, path));
  }
  HIPPLAN_TRY_ASSIGN(session.inputs, run::random_inputs(session.graph, session.options.seed,
                                                        session.io.jobs(), &given));
  return {};
}

/// Runs once; when results are to be judged, runs again over another poison.
Result<void> execute(Session& session, bool judge) {
  const run::Execute once = [&](const run::Buffers& poisoned) {
    return run_once(*session.device, *session.executable, session.inputs, poisoned);
  };
  const auto before = session.device->counters();
  session.watch.on = true;
  HIPPLAN_TRY_ASSIGN(session.outputs, run::execute_once(session.graph, once));
  session.watch.on = false;
  note_unseen(session.options, session.watch, session.io);
  session.counters = session.device->counters() - before;
  session.profiles = session.device->take_profiles();
  if (!judge) return {};
  HIPPLAN_TRY(session.io.check_interrupted());
  return run::execute_again(session.graph, once, session.outputs);
}

run::Tolerance tolerance_of(const hipplan_run_options& options) {
  run::Tolerance out;
  if (options.absolute_tolerance >= 0) out.atol = options.absolute_tolerance;
  if (options.relative_tolerance >= 0) out.rtol = options.relative_tolerance;
  return out;
}

Result<void> check_reference(Session& session) {
  HIPPLAN_TRY_ASSIGN(auto results,
                     run::compare_with_reference(session.graph, session.inputs, session.outputs,
                                                 tolerance_of(session.options), session.io.jobs()));
  for (auto& [uid, result] : results)
    session.comparisons.push_back({uid, "CPU reference", std::move(result)});
  return {};
}

Result<void> check_files(Session& session, const Assignments& files) {
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_outputs(), "output"));
    HIPPLAN_TRY_ASSIGN(const auto expected, load_tensor(*tensor, path));
    HIPPLAN_TRY_ASSIGN(const ByteView got, run::output_of(session.outputs, uid));
    HIPPLAN_TRY_ASSIGN(auto result,
                       run::compare_buffers(*tensor, expected, got, tolerance_of(session.options),
                                            session.io.jobs()));
    session.comparisons.push_back({uid, path, std::move(result)});
  }
  return {};
}

Result<void> write_outputs(const Session& session) {
  HIPPLAN_TRY_ASSIGN(const auto files, assignments(session.options.outputs, "--output"));
  for (const auto& [uid, path] : files) {
    HIPPLAN_TRY_ASSIGN(const auto* tensor,
                       tensor_of(session.graph, uid, session.graph.external_outputs(), "output"));
    HIPPLAN_TRY_ASSIGN(const ByteView got, run::output_of(session.outputs, uid));
    HIPPLAN_TRY_ASSIGN(const auto npy, run::tensor_to_npy(*tensor, got));
    HIPPLAN_TRY(write_file(path, npy));
  }
  return {};
}

/// What the device counted in one execution.
void print_bench(Session& session) {
  auto& io = session.io;
  const auto& counters = session.counters;
  io.line(cat("instructions      ", counters.instructions));
  io.line(cat("lane instructions ", counters.lane_instructions));
  io.line(cat("bytes read        ", counters.memory_bytes_read));
  io.line(cat("bytes written     ", counters.memory_bytes_written));
  io.line(cat("matrix FLOP       ", counters.matrix_flops));
  io.line(cat("launches          ", counters.launches));
}

void write_counters(json::Writer& out, const device::Counters& c) {
  out.begin_object().member("launches", c.launches).member("instructions", c.instructions);
  out.member("lane_instructions", c.lane_instructions);
  out.member("memory_bytes_read", c.memory_bytes_read);
  out.member("memory_bytes_written", c.memory_bytes_written);
  out.member("matrix_flops", c.matrix_flops).end_object();
}

void write_comparison(json::Writer& out, const Session::Compared& compared) {
  const auto& c = compared.result;
  out.begin_object().member("uid", compared.uid).member("against", compared.against);
  out.member("pass", c.pass).member("elements", c.elements).member("failed", c.failed);
  out.member("max_abs_error", c.max_abs_error).member("rms_error", c.rms_error);
  out.key("worst_index").begin_array();
  for (const int64_t i : c.worst.index) out.value(i);
  out.end_array();
  out.member("worst_expected", c.worst.expected).member("worst_got", c.worst.got);
  out.member("worst_bound", c.worst.bound).member("worst_ratio", c.worst.ratio);
  out.end_object();
}

void print_json(Session& session, const std::optional<Error>& failure) {
  json::Writer out;
  out.begin_object()
      .member("schema", "hipplan.run/1")
      .member("file", text_or_empty(session.options.file));
  if (session.executable) {
    out.member("device", session.device->name()).member("target", session.plan.target);
    out.member("engine", session.plan.payload.engine_name);
    out.member("kernel", session.plan.payload.kernel_name);
    out.member("graph_key", session.plan.graph_key.hex()).member("seed", session.options.seed);
  }
  out.key("outputs").begin_array();
  for (const auto& [uid, bytes] : session.outputs)
    out.begin_object().member("uid", uid).member("sha256", sha256(bytes).hex()).end_object();
  out.end_array();
  out.key("comparisons").begin_array();
  for (const auto& compared : session.comparisons) write_comparison(out, compared);
  out.end_array();
  if (session.options.bench != 0) {
    out.key("counters");
    write_counters(out, session.counters);
  }
  if (session.options.counters != 0 && session.device) {
    out.key("launches");
    write_profiles(out, session.profiles, session.device->description());
  }
  if (failure) {
    out.key("error");
    write_error(out, *failure);
  }
  out.member("status", session.io.status()).end_object();
  session.io.line(out.text());
}

/// A word as a shell reads it back.
std::string shell_word(const std::string& text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-./:=,+@") == std::string::npos;
  if (plain && !text.empty()) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// The shortest decimal that reads back as `value`.
std::string shortest(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string repeat_line(const Session& session) {
  const auto& options = session.options;
  std::string out = cat("hipplan-run ", shell_word(text_or_empty(options.file)), " --device ",
                        session.device->name(), " --graph-key ",
                        session.plan.graph_key.hex().substr(0, 16), " --seed ", options.seed);
  const auto add = [&](const char* flag, const std::string& value) {
    out += cat(" ", flag, " ", shell_word(value));
  };
  const auto add_given = [&](const char* flag, const std::string& value) {
    if (!value.empty()) add(flag, value);
  };
  add_given("--data", session.io.given_data_folder());
  add_given("--modules", session.io.module_folder());
  add_given("--hip-library", session.io.hip_library());
  if (options.check != 0) out += " --check";
  if (options.graph_file != nullptr) add("--graph", options.graph_file);
  if (options.target_file != nullptr) add("--target-file", options.target_file);
  for (const auto& input : items(options.inputs)) add("--input", input);
  for (const auto& expect : items(options.expects)) add("--expect", expect);
  if (options.check_races != 0) out += " --check-races";
  if (options.check_uninitialized != 0) out += " --check-uninitialized";
  if (options.schedule_seed != 0) add("--schedule-seed", cat(options.schedule_seed));
  if (options.instruction_budget != 0) add("--instruction-budget", cat(options.instruction_budget));
  if (options.absolute_tolerance >= 0) add("--atol", shortest(options.absolute_tolerance));
  if (options.relative_tolerance >= 0) add("--rtol", shortest(options.relative_tolerance));
  return out;
}

void print_text(Session& session) {
  auto& io = session.io;
  const auto& payload = session.plan.payload;
  io.line(cat(harmless(payload.engine_name), ", kernel ", harmless(payload.kernel_name), " on ",
              session.device->name()));
  for (const auto& [uid, bytes] : session.outputs)
    io.line(cat("output ", uid, ": ", bytes.size(), " bytes, sha256 ",
                sha256(bytes).hex().substr(0, 16)));
  for (const auto& compared : session.comparisons)
    io.line(cat(compared.result.pass ? "pass" : "FAIL", ": output ", compared.uid, " against ",
                compared.against, ": ", compared.result.text()));
  if (session.options.bench != 0) print_bench(session);
  print_profiles(io, session.profiles, session.device->description());
}

Result<void> check_options(const hipplan_run_options& options) {
  const auto usage = [](const char* what, const char* advice) {
    return usage_error({.what = what, .advice = advice});
  };
  if (std::isnan(options.absolute_tolerance) || std::isnan(options.relative_tolerance))
    return usage("a tolerance is not a number", "give --atol and --rtol as numbers from 0 on");
  HIPPLAN_TRY_ASSIGN(const auto kind, kind_of(text_or_empty(options.device)));
  const bool emulated = kind == DeviceKind::emulator;
  if (!emulated && options.bench != 0)
    return usage("only an emulated device counts instructions and bytes",
                 "take an emulator, or leave out --bench");
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

/// No output is one of the files that are read.
Result<void> check_output_names(const hipplan_run_options& options, const Assignments& expects) {
  std::vector<std::string> read = {text_or_empty(options.file), text_or_empty(options.graph_file),
                                   text_or_empty(options.target_file)};
  HIPPLAN_TRY_ASSIGN(const auto inputs, assignments(options.inputs, "--input"));
  for (const auto& [uid, path] : inputs) read.push_back(path);
  for (const auto& [uid, path] : expects) read.push_back(path);
  HIPPLAN_TRY_ASSIGN(const auto outputs, assignments(options.outputs, "--output"));
  for (const auto& [uid, path] : outputs) HIPPLAN_TRY(refuse_overwrite(path, read));
  return {};
}

Result<void> work(Session& session) {
  const auto& options = session.options;
  HIPPLAN_TRY_ASSIGN(const auto expects, assignments(options.expects, "--expect"));
  HIPPLAN_TRY(check_output_names(options, expects));
  HIPPLAN_TRY(check_options(options));
  HIPPLAN_TRY(open_all(session));
  if (options.check != 0) HIPPLAN_TRY(reference::supported(session.graph));
  HIPPLAN_TRY(make_inputs(session));
  HIPPLAN_TRY(session.io.check_interrupted());
  HIPPLAN_TRY(execute(session, options.check != 0 || !expects.empty()));
  // The null device computes nothing: what stands in the outputs is no result.
  HIPPLAN_TRY_ASSIGN(const auto kind, kind_of(text_or_empty(options.device)));
  if (kind == DeviceKind::null) session.outputs.clear();
  HIPPLAN_TRY(write_outputs(session));
  HIPPLAN_TRY(session.io.check_interrupted());
  if (options.check != 0) HIPPLAN_TRY(check_reference(session));
  return check_files(session, expects);
}

}  // namespace

int run(const hipplan_run_options& options, Io& io) {
  Session session{options, io, {}, {}, nullptr, nullptr, {}, {}, {}, {}};
  std::optional<Error> failure;
  if (auto done = work(session); !done) {
    failure = done.error();
    io.fail(*failure);
  }
  bool wrong = false;
  for (const auto& compared : session.comparisons) wrong |= !compared.result.pass;
  if (wrong) io.fail_quietly(HIPPLAN_NEGATIVE);
  if (io.json())
    print_json(session, failure);
  else if (!failure)
    print_text(session);
  if (wrong || (failure && failure->code == Code::negative && session.executable))
    io.note("repeat with: " + repeat_line(session));
  return io.status();
}

}  // namespace hipplan::commands
