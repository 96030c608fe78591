// hipplan-build: JSON graphs -> execution plans.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(
      {"hipplan-build",
       "Bake execution plans from hipDNN JSON graphs",
       "GRAPH... --target TARGET[,TARGET...] -o OUT",
       "Every graph is baked for every target: engine, kernel and launch inputs are decided, and "
       "the kernel's machine code is put into the plan. No GPU is needed.\n"
       "OUT is a file that holds all plans, or a folder (ending in /) that gets one file per "
       "graph. "
       "Nothing is written when a graph cannot be baked, unless \"--keep-going\" is given. The "
       "same "
       "graphs give the same bytes on every machine.",
       {{"hipplan-build conv.json --target gfx942,gfx1100 -o conv.hplan",
         "one graph for two GPUs, in one file"},
        {"hipplan-build graphs/ --target mi300x -o plans/", "a file for each graph of a folder"},
        {"hipplan-build conv.json --target gfx942 --dry-run --why",
         "which kernel would be taken, and why not the others"}}});
  std::vector<std::string> graphs, targets, target_files, knobs;
  std::string output, engine, sign_key;
  bool plan_only = false, why = false, dry_run = false, keep_going = false, unknown_keys = false,
       check_reproducible = false;
  auto& app = tool.app();
  app.add_option("GRAPH", graphs,
                 "Files, folders (searched for *.json), patterns, or - for standard input")
      ->type_name("GRAPH")
      ->required();
  app.add_option("--target,-t", targets,
                 "GPUs to bake for, separated by commas: gfx942, or a product such as mi300x")
      ->type_name("TARGET")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_option("--target-file", target_files, "Description of a GPU that does not ship")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_option("--engine", engine, "Take this engine: its name, or its id in decimal or 0x form")
      ->type_name("ENGINE")
      ->group("What to bake");
  app.add_option("--knob", knobs, "Take only kernels with this knob's value, such as block_size=64")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_flag("--allow-unknown-keys", unknown_keys,
               "Warn about unknown keys in graphs instead of refusing")
      ->group("What to bake");
  app.add_option("--output,-o", output,
                 "File to write, folder (ending in /) for one file per graph, or - for standard "
                 "output")
      ->type_name("FILE")
      ->group("What to write");
  app.add_option("--sign", sign_key, "Sign what is written with this Ed25519 key (PEM)")
      ->type_name("FILE")
      ->group("What to write");
  app.add_flag("--plan-only", plan_only, "Leave the graph out of the file")->group("What to write");
  app.add_flag("--keep-going", keep_going,
               "Write the plans that could be baked even when others could not")
      ->group("What to write");
  app.add_flag("--dry-run", dry_run, "Stop before writing")->group("What to write");
  app.add_flag("--why", why, "Print how each decision was reached")->group("Checks and answers");
  app.add_flag("--check-reproducible", check_reproducible, "Bake twice and compare the bytes")
      ->group("Checks and answers");
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
    options.sign_key = given(sign_key);
    return hipplan_tool_build(&options, &io);
  });
}
