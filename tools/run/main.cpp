// hipplan-run: restore a plan and execute it.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {

struct Arguments {
  std::string file, device = "auto", target, graph_key, graph_file, target_file, trace, break_pc,
                    cache, trust;
  std::vector<std::string> inputs, outputs, expects;
  uint64_t seed = 0, schedule_seed = 0, budget = 0;
  uint32_t samples = 0;
  bool cold = false, replay = false, require_signed = false;
  bool check = false, bench = false, races = false, uninitialized = false, counters = false;
  double absolute = -1, relative = -1;
};

void add_plan_and_device(CLI::App& app, Arguments& arguments) {
  app.add_option("PLAN", arguments.file,
                 "Plan file, - for standard input, or BUNDLE.tar.zst:MEMBER")
      ->type_name("PLAN")
      ->required();
  app.add_option(
         "--device", arguments.device,
         "emulator:ARCH, hip:NUMBER or cuda:NUMBER computes, null:ARCH only launches, auto is "
         "the emulator of the plan's target, or cuda:0 for an NVIDIA plan")
      ->type_name("DEVICE")
      ->capture_default_str();
  app.add_option("--graph-key", arguments.graph_key,
                 "Which graph's plan: its name, or first digits of its key; KEY/TARGET stands for "
                 "--target too")
      ->type_name("KEY");
  app.add_option("--target,-t", arguments.target,
                 "Which target's plan: gfx942, or a product such as mi300x; without it the plan "
                 "for the device, or the file's first plan")
      ->type_name("TARGET");
  app.add_option("--graph", arguments.graph_file, "Graph of a plan that was saved without it")
      ->type_name("GRAPH");
  app.add_option("--target-file", arguments.target_file,
                 "Description of a device that does not ship")
      ->type_name("FILE");
  app.add_flag("--require-signed", arguments.require_signed,
               "Refuse a file that no trusted key has signed");
  app.add_option("--trust", arguments.trust, "Folder of the public keys (*.pem) to trust")
      ->type_name("FOLDER");
}

void add_data(CLI::App& app, Arguments& arguments) {
  app.add_option("--input", arguments.inputs, "Take the input tensor UID from a .npy file")
      ->type_name("UID=FILE")
      ->allow_extra_args(false)
      ->group("Data");
  app.add_option("--seed", arguments.seed, "Seed of the random inputs")
      ->type_name("NUMBER")
      ->capture_default_str()
      ->allow_extra_args(false)
      ->check(hipplan::tools::kWholeNumber)
      ->group("Data");
  app.add_option("--output", arguments.outputs, "Write the output tensor UID to a .npy file")
      ->type_name("UID=FILE")
      ->allow_extra_args(false)
      ->group("Data");
}

void add_checks(CLI::App& app, Arguments& arguments) {
  app.add_flag("--check", arguments.check, "Compare every output with the CPU reference")
      ->group("Checks");
  app.add_option("--expect", arguments.expects, "Compare the output tensor UID with a .npy file")
      ->type_name("UID=FILE")
      ->allow_extra_args(false)
      ->group("Checks");
  app.add_option("--atol", arguments.absolute, "Absolute tolerance instead of the derived one")
      ->type_name("NUMBER")
      ->check(hipplan::tools::kTolerance)
      ->group("Checks");
  app.add_option("--rtol", arguments.relative, "Relative tolerance instead of the derived one")
      ->type_name("NUMBER")
      ->check(hipplan::tools::kTolerance)
      ->group("Checks");
}

void add_measurement(CLI::App& app, Arguments& arguments) {
  app.add_flag("--bench", arguments.bench,
               "Time executions on a GPU: samples between device events that hold no cost of "
               "starting; an emulated device prints its counts instead")
      ->group("Measurement");
  app.add_option("--samples", arguments.samples, "Samples that --bench takes (7)")
      ->type_name("NUMBER")
      ->check(hipplan::tools::whole_number(1, 10000, "10000"))
      ->group("Measurement");
  app.add_option("--cache", arguments.cache,
                 "What --bench leaves of the tensors in the last level cache: cold lets copies of "
                 "them take turns, warm uses the same again")
      ->type_name("cold|warm")
      ->group("Measurement");
  app.add_flag("--replay-graph", arguments.replay,
               "Start the launches that --bench times as one recorded graph")
      ->group("Measurement");
  app.add_flag("--cold", arguments.cold,
               "Print how long opening, decoding, checking, loading and the first launch take")
      ->group("Measurement");
}

void add_emulator(CLI::App& app, Arguments& arguments) {
  app.add_flag("--counters", arguments.counters,
               "Count per launch: instructions by class, lanes, cache lines, bank conflicts, "
               "occupancy, and a roofline estimate")
      ->group("Emulator");
  app.add_flag("--check-races", arguments.races,
               "A race between two wavefronts on LDS or global memory is an error")
      ->group("Emulator");
  app.add_flag("--check-uninitialized", arguments.uninitialized,
               "A read of memory or LDS that nothing has written is an error")
      ->group("Emulator");
  app.add_option("--schedule-seed", arguments.schedule_seed,
                 "Run workgroups and wavefronts in an order drawn from this number; 0: in turn")
      ->type_name("NUMBER")
      ->check(hipplan::tools::kWholeNumber)
      ->group("Emulator");
  app.add_option("--instruction-budget", arguments.budget,
                 "Instructions after which a wavefront counts as endless")
      ->type_name("NUMBER")
      ->check(hipplan::tools::kWholeNumber)
      ->group("Emulator");
  app.add_option(
         "--trace", arguments.trace,
         "Print what a wavefront (0 when not given) does: instruction, EXEC, changed registers")
      ->type_name("WORKGROUP[:WAVEFRONT]")
      ->group("Emulator");
  app.add_option(
         "--break", arguments.break_pc,
         "Print the registers of the wavefront of --trace (0:0), instead of its "
         "instructions, when it gets to an address, which is hexadecimal with or without 0x")
      ->type_name("PC")
      ->group("Emulator");
}

int run(const Arguments& arguments, const hipplan_tool_io& io) {
  StringList input_list, output_list, expect_list;
  hipplan_run_options options{};
  options.struct_size = sizeof(options);
  options.file = given(arguments.file);
  options.device = given(arguments.device);
  options.graph_key = given(arguments.graph_key);
  options.graph_file = given(arguments.graph_file);
  options.target_file = given(arguments.target_file);
  options.inputs = input_list.view(arguments.inputs);
  options.outputs = output_list.view(arguments.outputs);
  options.expects = expect_list.view(arguments.expects);
  options.seed = arguments.seed;
  options.check = arguments.check;
  options.bench = arguments.bench;
  options.absolute_tolerance = arguments.absolute;
  options.relative_tolerance = arguments.relative;
  options.check_races = arguments.races;
  options.check_uninitialized = arguments.uninitialized;
  options.schedule_seed = arguments.schedule_seed;
  options.instruction_budget = arguments.budget;
  options.counters = arguments.counters;
  options.trace = given(arguments.trace);
  options.break_pc = given(arguments.break_pc);
  options.cold = arguments.cold;
  options.replay_graph = arguments.replay;
  options.samples = arguments.samples;
  options.cache = given(arguments.cache);
  options.target = given(arguments.target);
  options.require_signed = arguments.require_signed;
  options.trust = given(arguments.trust);
  return hipplan_tool_run(&options, &io);
}

hipplan::tools::About about() {
  return {
      "hipplan-run",
      "Restore a plan from its file and execute it",
      "PLAN --device DEVICE [--check]",
      "Restores the plan from its bytes and executes it with random inputs, or with inputs from "
      ".npy files. No graph is matched, no kernel selected and nothing compiled.\n"
      "Results that are judged come from two runs over differently poisoned outputs, so that an "
      "element that the kernel does not write cannot pass.",
      {{"hipplan-run conv.hplan --device emulator:gfx942 --check",
        "run on an emulated MI300X and compare with the CPU"},
       {"hipplan-run conv.hplan --input 1=x.npy --output 3=y.npy",
        "inputs from a file, results to a file"},
       {"hipplan-run conv.hplan --device hip:0 --bench --cold",
        "how long it takes to restore, and to execute"},
       {"hipplan-run conv.hplan --check-races --check-uninitialized --counters",
        "look for wrong memory accesses, and count"}}};
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(about());
  Arguments arguments;
  add_plan_and_device(tool.app(), arguments);
  add_data(tool.app(), arguments);
  add_checks(tool.app(), arguments);
  add_measurement(tool.app(), arguments);
  add_emulator(tool.app(), arguments);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) { return run(arguments, io); });
}
