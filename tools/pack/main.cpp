// hipplan-pack: kernel sources and descriptors -> kernel archives.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(
      {"hipplan-pack",
       "Build, check and list packed kernels",
       "COMMAND ARGUMENT...",
       "Compiles HIP kernels and packs them with their descriptors into kernel archives, which "
       "hipplan-build takes the machine code from; checks such trees; lists archives.",
       {{"hipplan-pack build descriptors/conv_fwd --kernels kernels --arch gfx942,gfx1100 -o out",
         "compile one operation's kernels for two architectures"},
        {"hipplan-pack validate out/gfx942 --graph conv.json",
         "are the packed kernels sound, and do they serve a graph?"}}});
  std::vector<std::string> arguments, archs, graphs, engines;
  std::string output, compiler, kernels, cache;
  auto& app = tool.app();
  app.require_subcommand(1);
  auto* build =
      app.add_subcommand("build", "Compile kernels and write one packed tree per architecture");
  build->add_option("FOLDER", arguments, "Authored descriptor trees")
      ->type_name("FOLDER")
      ->required();
  build->add_option("--arch,-a", archs, "Architectures, separated by commas")
      ->type_name("TARGET")
      ->required()
      ->allow_extra_args(false);
  build->add_option("--output,-o", output, "Folder that gets one folder per architecture")
      ->type_name("FOLDER")
      ->required();
  build->add_option("--kernels", kernels, "Where the kernel sources are; else in the first tree")
      ->type_name("FOLDER");
  build
      ->add_option("--compiler", compiler,
                   "clang for AMD GPUs, clang or nvcc for NVIDIA GPUs; else one is searched for")
      ->type_name("FILE");
  build->add_option("--cache", cache, "Keeps compiled code objects between calls")
      ->type_name("FOLDER");
  auto* validate =
      app.add_subcommand("validate", "Check descriptor trees and the code objects that they name");
  validate->add_option("FOLDER", arguments, "Packed descriptor trees")
      ->type_name("FOLDER")
      ->required();
  validate->add_option("--graph,-g", graphs, "Graph that must be served")
      ->type_name("GRAPH")
      ->allow_extra_args(false);
  validate->add_option("--expect-engine", engines, "Engine that must be there")
      ->type_name("ENGINE")
      ->allow_extra_args(false);
  auto* list = app.add_subcommand("list", "List the entries of kernel archives");
  list->add_option("FILE", arguments, "kpack files")->type_name("FILE")->required();
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    StringList argument_list, arch_list, graph_list, engine_list;
    const std::string command = app.get_subcommands().front()->get_name();
    hipplan_pack_options options{};
    options.struct_size = sizeof(options);
    options.command = command.c_str();
    options.arguments = argument_list.view(arguments);
    options.archs = arch_list.view(archs);
    options.output = given(output);
    options.compiler = given(compiler);
    options.graphs = graph_list.view(graphs);
    options.expected_engines = engine_list.view(engines);
    options.kernels = given(kernels);
    options.cache = given(cache);
    return hipplan_tool_pack(&options, &io);
  });
}
