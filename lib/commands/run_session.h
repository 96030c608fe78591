// One call of hipplan-run: what its parts share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/execution.h"
#include "commands/io.h"
#include "commands/long_work.h"
#include "commands/plan_files.h"
#include "commands/run_emulator.h"
#include "commands/targets.h"
#include "commands/timing.h"
#include "run/compare.h"

namespace hipplan::commands {

/// "UID=FILE" arguments by uid.
using Assignments = std::map<int64_t, std::string>;

/// Host times of the steps from a file to a result, on a device whose context exists already.
struct ColdTimes {
  double open_us = 0;    ///< map the file, check header and directory, find the plan
  double decode_us = 0;  ///< read the plan, each digest that it needs checked
  double check_us = 0;   ///< provider, target, handler, launch values, argument lists
  /// Not on a device without a driver: an emulator's times say nothing about a GPU's.
  std::optional<double> load_us{};    ///< the driver takes the code object and finds the kernel
  std::optional<double> launch_us{};  ///< the first launch, to its end
  [[nodiscard]] double total_us() const {
    return open_us + decode_us + check_us + load_us.value_or(0) + launch_us.value_or(0);
  }
};

/// What --bench found.
struct BenchResult {
  std::optional<TimedPlan> timed{};  ///< nothing on an emulated device, which only counts
  uint64_t flops = 0;                ///< floating-point operations of the graph; 0: not counted
  std::string rate{};                ///< key of the target's rate for them; empty: none
};

/// Everything known about one run.
struct Session {
  const hipplan_run_options& options;
  Io& io;
  DeviceKind kind = DeviceKind::emulator;
  std::string
      target{};  ///< whose plan was asked for, by --target or in --graph-key; empty: the device's
  std::optional<Trust> trust{};  ///< given: the file must be signed
  plan::Plan plan{};
  graph::Graph graph{};
  std::unique_ptr<device::Device> device{};
  std::shared_ptr<const restore::Executable> executable{};
  run::Buffers inputs{}, outputs{};
  struct Compared {
    int64_t uid = 0;
    std::string against;
    run::Comparison result;
  };
  std::vector<Compared> comparisons{};
  device::Counters counters{};              ///< of the first execution
  std::vector<device::Profile> profiles{};  ///< of the first execution's launches
  Watch watch{};                            ///< for --trace and --break
  std::optional<BenchResult> bench{};
  std::optional<ColdTimes> cold{};
  LongWork long_work{io};
  uint64_t step = 0, steps = 1;  ///< of the work, for its progress

  /// Before each step: tells the progress, and stops when asked to.
  Result<void> next_step(const char* name) {
    long_work.begin(subject(), name, step++, steps);
    return io.check_interrupted();
  }
  /// "conv.hplan: 04151b225e3ac406/gfx942 (conv) on emulator:gfx942".
  [[nodiscard]] std::string subject() const;
};

// Data -------------------------------------------------------------------------------------------

Result<Assignments> assignments(const hipplan_strings& list, const char* option);
/// Inputs from files where they are given, else random.
Result<void> make_inputs(Session& session);
Result<void> write_outputs(const Session& session);
/// Compares outputs with files.
Result<void> check_files(Session& session, const Assignments& files);
/// No output is one of the files that are read, and those that hold tensors are there.
Result<void> check_output_names(const hipplan_run_options& options, const Assignments& expects);
[[nodiscard]] run::Tolerance tolerance_of(const hipplan_run_options& options);

// Measurement ------------------------------------------------------------------------------------

/// Whether --bench and --cold fit the device and each other: bad_input, reason "usage".
Result<void> check_measurement_options(const hipplan_run_options& options, DeviceKind kind);
/// --bench: times the plan (an emulated device counts), and checks that the outputs are still those
/// of the first execution.
Result<void> run_bench(Session& session);
/// --cold: opens, checks, loads and launches once more, from the file on, and times each step.
Result<void> run_cold(Session& session, const std::string& path);

// Reports ----------------------------------------------------------------------------------------

void print_text(Session& session);
void print_json(Session& session, const std::optional<Error>& failure);
/// Figures of --bench and --cold as lines, and as members of the current object.
void print_measurements(Session& session);
void write_measurements(Session& session, json::Writer& out);
/// The command that repeats this run.
[[nodiscard]] std::string repeat_line(const Session& session);

}  // namespace hipplan::commands
