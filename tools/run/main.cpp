// hipplan-run: restore a plan and execute it.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

int main(int argc, char** argv) {
  hipplan::tools::Tool tool("hipplan-run", "Restore a plan from its file and execute it");
  std::string file, device = "auto", graph_key, graph_file, target_file;
  std::vector<std::string> inputs, outputs, expects;
  uint64_t seed = 0;
  bool check = false, bench = false;
  double absolute = -1, relative = -1;
  auto& app = tool.app();
  app.add_option("file", file, "Plan file, - for standard input, or BUNDLE.tar.zst:MEMBER")
      ->required();
  app.add_option("--device", device, "auto, emulator:ARCH or null:ARCH")->capture_default_str();
  app.add_option("--graph-key", graph_key, "Which graph's plan: first digits of its key");
  app.add_option("--graph", graph_file, "Graph of a plan that was saved without it");
  app.add_option("--target-file", target_file, "Description of a device that does not ship");
  app.add_option("--input", inputs, "Take an input from a file: UID=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--output", outputs, "Write an output to a file: UID=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--expect", expects, "Compare an output with a file: UID=FILE.npy")
      ->allow_extra_args(false);
  app.add_option("--seed", seed, "Seed of the random inputs")
      ->capture_default_str()
      ->allow_extra_args(false);
  app.add_flag("--check", check, "Compare with the CPU reference");
  app.add_flag("--bench", bench, "Print instruction and byte counts (emulator)");
  app.add_option("--atol", absolute, "Absolute tolerance instead of the derived one")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rtol", relative, "Relative tolerance instead of the derived one")
      ->check(CLI::NonNegativeNumber);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    StringList input_list, output_list, expect_list;
    hipplan_run_options options{};
    options.struct_size = sizeof(options);
    options.file = given(file);
    options.device = given(device);
    options.graph_key = given(graph_key);
    options.graph_file = given(graph_file);
    options.target_file = given(target_file);
    options.inputs = input_list.view(inputs);
    options.outputs = output_list.view(outputs);
    options.expects = expect_list.view(expects);
    options.seed = seed;
    options.check = check;
    options.bench = bench;
    options.absolute_tolerance = absolute;
    options.relative_tolerance = relative;
    return hipplan_tool_run(&options, &io);
  });
}
