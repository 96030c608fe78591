// hipplan-verify: is a plan intact, and usable where it is meant to run.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {

struct Arguments {
  std::vector<std::string> paths, targets, target_files;
  std::string device, trust, format;
  bool require_signed = false, require_plan = false, list_reasons = false, execute = false;
};

void add_what_to_hold(CLI::App& app, Arguments& arguments) {
  app.add_option("PLAN", arguments.paths, "Plan files, folders, bundles (.tar.zst) or patterns")
      ->type_name("PLAN");
  app.add_option("--target,-t", arguments.targets,
                 "GPUs that every graph in a file needs a plan for, separated by commas")
      ->type_name("TARGET")
      ->allow_extra_args(false)
      ->group("What a file must hold");
  app.add_option("--target-file", arguments.target_files,
                 "Description of a GPU that does not ship: of one that --target or --device names, "
                 "or, without "
                 "these, of one that every graph needs a plan for")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("What a file must hold");
  app.add_flag("--require-plan", arguments.require_plan, "Refuse a file without a plan")
      ->group("What a file must hold");
  app.add_flag("--require-signed", arguments.require_signed,
               "Refuse files that no trusted key has signed")
      ->group("What a file must hold");
  app.add_option("--trust", arguments.trust, "Folder of the public keys (*.pem) to trust")
      ->type_name("FOLDER")
      ->group("What a file must hold");
}

void add_execution(CLI::App& app, Arguments& arguments) {
  app.add_flag("--execute", arguments.execute,
               "Also run each plan and compare the results with the CPU reference")
      ->group("Execution");
  app.add_option(
         "--device", arguments.device,
         "Where to execute: auto (the emulator of a plan's target, cuda:0 for NVIDIA plans), "
         "emulator:ARCH, hip:NUMBER or cuda:NUMBER")
      ->type_name("DEVICE")
      ->group("Execution");
}

void add_answers(CLI::App& app, Arguments& arguments) {
  app.add_option("--format", arguments.format,
                 "Form of the report: for people, programs or CI systems")
      ->type_name("text|json|junit|sarif")
      ->check(hipplan::tools::one_of({"text", "json", "junit", "sarif"}))
      ->group("Answers");
  app.add_flag("--list-reasons", arguments.list_reasons,
               "Print the reason codes of all checks, in their order, and exit")
      ->group("Answers");
}

int verify(const Arguments& arguments, const hipplan_tool_io& io) {
  StringList path_list, target_list, file_list;
  hipplan_verify_options options{};
  options.struct_size = sizeof(options);
  options.paths = path_list.view(arguments.paths);
  options.targets = target_list.view(arguments.targets);
  options.target_files = file_list.view(arguments.target_files);
  options.require_plan = arguments.require_plan;
  options.list_reasons = arguments.list_reasons;
  options.execute = arguments.execute;
  options.device = given(arguments.device);
  options.require_signed = arguments.require_signed;
  options.trust = given(arguments.trust);
  options.format = given(arguments.format);
  hipplan_tool_io with_form = io;
  if (arguments.format == "json") with_form.json = 1;
  return hipplan_tool_verify(&options, &with_form);
}

hipplan::tools::About about() {
  return {
      "hipplan-verify",
      "Check that plans are intact and usable",
      "PLAN... [--target TARGET[,TARGET...]]",
      "Checks every byte against its digest, the structure, the machine code against what the "
      "plan says of it, and whether this provider can restore the plan. With targets, every graph "
      "in a file needs a plan that runs on each of them.\n"
      "No GPU is needed, not even to execute: AMD code objects run in an emulated GPU.",
      {{"hipplan-verify plans/ --target gfx942", "is a folder of plans good for an MI300X?"},
       {"hipplan-verify conv.hplan --execute", "do the plans also compute the right numbers?"}}};
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(about());
  Arguments arguments;
  add_what_to_hold(tool.app(), arguments);
  add_execution(tool.app(), arguments);
  add_answers(tool.app(), arguments);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) { return verify(arguments, io); });
}
