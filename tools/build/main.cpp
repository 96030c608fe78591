// hipplan-build: JSON graphs -> execution plans.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

int main(int argc, char** argv) {
  hipplan::tools::Tool tool("hipplan-build", "Bake execution plans from hipDNN JSON graphs");
  std::vector<std::string> graphs, targets, target_files, knobs;
  std::string output, engine;
  bool plan_only = false, why = false, dry_run = false, keep_going = false, unknown_keys = false,
       check_reproducible = false;
  auto& app = tool.app();
  app.add_option("graphs", graphs, "Graph files, folders, patterns, or - for standard input")
      ->required();
  app.add_option("-o,--output", output,
                 "File to write, or a folder (ending in /) for one file per graph");
  app.add_option("--target,-t", targets, "Architectures or target names, separated by commas")
      ->allow_extra_args(false);
  app.add_option("--target-file", target_files, "Target description file")->allow_extra_args(false);
  app.add_option("--engine", engine, "Take this engine: name, or decimal or 0x id");
  app.add_option("--knob", knobs, "Fix a knob: NAME=VALUE")->allow_extra_args(false);
  app.add_flag("--plan-only", plan_only, "Leave the graph out of the file");
  app.add_flag("--why", why, "Print how each decision was reached");
  app.add_flag("--dry-run", dry_run, "Stop before writing");
  app.add_flag("--keep-going", keep_going,
               "Write the plans that could be baked even when others could not");
  app.add_flag("--allow-unknown-keys", unknown_keys,
               "Warn about unknown keys in graphs instead of refusing");
  app.add_flag("--check-reproducible", check_reproducible, "Bake twice and compare the bytes");
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    StringList graph_list, target_list, file_list, knob_list;
    hipplan_build_options options{};
    options.struct_size = sizeof(options);
    options.graphs = graph_list.view(graphs);
    options.output = given(output);
    options.targets = target_list.view(targets);
    options.target_files = file_list.view(target_files);
    options.engine = given(engine);
    options.knobs = knob_list.view(knobs);
    options.plan_only = plan_only;
    options.why = why;
    options.dry_run = dry_run;
    options.keep_going = keep_going;
    options.allow_unknown_keys = unknown_keys;
    options.check_reproducible = check_reproducible;
    return hipplan_tool_build(&options, &io);
  });
}
