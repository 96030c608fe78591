// hipplan-pack: kernel sources and descriptors -> kernel archives.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {

struct Arguments {
  std::vector<std::string> words, archs, graphs, engines;
  std::string output, compiler, kernels, cache;
};

void add_build(CLI::App& app, Arguments& arguments) {
  auto* build =
      app.add_subcommand("build", "Compile kernels and write one packed tree per architecture");
  build->add_option("FOLDER", arguments.words, "Authored descriptor trees")
      ->type_name("FOLDER")
      ->required();
  build->add_option("--arch,-a", arguments.archs, "Architectures or products, separated by commas")
      ->type_name("TARGET")
      ->required()
      ->allow_extra_args(false);
  build->add_option("--output,-o", arguments.output, "Folder that gets one folder per architecture")
      ->type_name("FOLDER")
      ->required();
  build
      ->add_option("--kernels", arguments.kernels,
                   "Where the kernel sources are; else in the first tree")
      ->type_name("FOLDER");
  build
      ->add_option("--compiler", arguments.compiler,
                   "clang for AMD GPUs, clang or nvcc for NVIDIA GPUs; else one is searched for")
      ->type_name("FILE");
  build->add_option("--cache", arguments.cache, "Keeps compiled code objects between calls")
      ->type_name("FOLDER");
}

void add_validate(CLI::App& app, Arguments& arguments) {
  auto* validate =
      app.add_subcommand("validate", "Check descriptor trees and the code objects that they name");
  validate->add_option("FOLDER", arguments.words, "Packed descriptor trees")
      ->type_name("FOLDER")
      ->required();
  validate->add_option("--graph,-g", arguments.graphs, "Graph that must be served")
      ->type_name("GRAPH")
      ->allow_extra_args(false);
  validate->add_option("--expect-engine", arguments.engines, "Engine that must be there")
      ->type_name("ENGINE")
      ->allow_extra_args(false);
}

void add_list(CLI::App& app, Arguments& arguments) {
  auto* list = app.add_subcommand("list", "List the entries of kernel archives");
  list->add_option("FILE", arguments.words, "kpack files")->type_name("FILE")->required();
}

int pack(const std::string& command, const Arguments& arguments, const hipplan_tool_io& io) {
  StringList argument_list, arch_list, graph_list, engine_list;
  hipplan_pack_options options{};
  options.struct_size = sizeof(options);
  options.command = command.c_str();
  options.arguments = argument_list.view(arguments.words);
  options.archs = arch_list.view(arguments.archs);
  options.output = given(arguments.output);
  options.compiler = given(arguments.compiler);
  options.graphs = graph_list.view(arguments.graphs);
  options.expected_engines = engine_list.view(arguments.engines);
  options.kernels = given(arguments.kernels);
  options.cache = given(arguments.cache);
  return hipplan_tool_pack(&options, &io);
}

hipplan::tools::About about() {
  return {
      "hipplan-pack",
      "Build, check and list packed kernels",
      "COMMAND ARGUMENT...",
      "Compiles HIP kernels and packs them with their descriptors into kernel archives, which "
      "hipplan-build takes the machine code from; checks such trees; lists archives.",
      {{"hipplan-pack build descriptors/conv_fwd --kernels kernels --arch gfx942,gfx1100 -o out",
        "compile one operation's kernels for two architectures"},
       {"hipplan-pack validate out/gfx942 --graph conv.json",
        "are the packed kernels sound, and do they serve a graph?"}}};
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(about());
  auto& app = tool.app();
  Arguments arguments;
  app.require_subcommand(1);
  add_build(app, arguments);
  add_validate(app, arguments);
  add_list(app, arguments);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    return pack(app.get_subcommands().front()->get_name(), arguments, io);
  });
}
