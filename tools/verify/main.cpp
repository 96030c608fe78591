// hipplan-verify: is a plan intact, and usable where it is meant to run.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

int main(int argc, char** argv) {
  hipplan::tools::Tool tool("hipplan-verify", "Check that plans are intact and usable");
  std::vector<std::string> paths, targets, target_files;
  std::string device;
  bool require_plan = false, list_reasons = false, execute = false;
  auto& app = tool.app();
  app.add_option("paths", paths, "Plan files, folders, bundles (.tar.zst) or patterns");
  app.add_option("--target,-t", targets,
                 "Architectures that every graph in a file needs a plan for")
      ->allow_extra_args(false);
  app.add_option("--target-file", target_files, "Target description file")->allow_extra_args(false);
  app.add_flag("--require-plan", require_plan, "Refuse a file without a plan");
  app.add_flag("--execute", execute, "Run each plan and compare with the CPU reference");
  app.add_option("--device", device, "Device for --execute: auto, emulator:ARCH");
  app.add_flag("--list-reasons", list_reasons,
               "Print the reason codes of all checks, in their order");
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    StringList path_list, target_list, file_list;
    hipplan_verify_options options{};
    options.struct_size = sizeof(options);
    options.paths = path_list.view(paths);
    options.targets = target_list.view(targets);
    options.target_files = file_list.view(target_files);
    options.require_plan = require_plan;
    options.list_reasons = list_reasons;
    options.execute = execute;
    options.device = given(device);
    return hipplan_tool_verify(&options, &io);
  });
}
