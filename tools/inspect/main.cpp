// hipplan-inspect: look into plan files; never needs a GPU.
#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {

struct Arguments {
  std::string command = "show", graph_key, output, part;
  std::vector<std::string> words, targets;
};

struct Command {
  const char* name;
  const char* help;
  const char* words;  ///< what its positional arguments are
  bool chooses;       ///< takes --graph-key and --target
  bool writes;        ///< takes -o
};
constexpr Command kCommands[] = {
    {"show", "Print what files hold (the default)", "Plan files, bundles, code objects", true,
     false},
    {"diff", "Compare two files; exit 1 when they differ", "Two plan files", false, false},
    {"list", "List what this installation has", "engines, kernels, targets, devices or handlers",
     true, false},
    {"extract", "Take a part out of a file", "Plan file", true, true},
    {"size", "Print what takes how much space", "Plan file", false, false},
    {"disasm", "Print a plan's machine code as text", "Plan file or code object", true, false},
    {"resolve", "Say which plan a target gets and why not the others", "Plan file", true, false},
    {"why", "Print how a plan's decisions were reached", "Plan file", true, false},
    {"bundle", "Pack a folder of plans into one .tar.zst file", "Folder", false, true},
    {"unbundle", "Unpack a bundle into a folder", "Bundle", false, true},
};

void add_part(CLI::App& app, Arguments& arguments, const char* name, const char* help) {
  app.add_flag_callback(
      std::string("--") + name, [&arguments, name] { arguments.part = name; }, help);
}

void add_command(CLI::App& app, Arguments& arguments, const Command& command) {
  auto* sub = app.add_subcommand(command.name, command.help);
  sub->callback([&arguments, &command] { arguments.command = command.name; });
  sub->add_option("words", arguments.words, command.words)->type_name("ARG");
  if (command.chooses) {
    sub->add_option("--graph-key", arguments.graph_key, "First digits of a graph's key");
    sub->add_option("--target,-t", arguments.targets, "Architecture")->allow_extra_args(false);
  }
  if (command.writes)
    sub->add_option("-o,--output", arguments.output, "Where to write; - is standard output");
  if (std::string(command.name) == "extract") {
    add_part(*sub, arguments, "plan", "The plan as a file of its own");
    add_part(*sub, arguments, "graph", "The graph's JSON");
    add_part(*sub, arguments, "code", "The code objects");
    add_part(*sub, arguments, "envelope", "The bare envelope");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool("hipplan-inspect", "Look into execution plans without a GPU");
  Arguments arguments;
  for (const auto& command : kCommands) add_command(tool.app(), arguments, command);
  tool.app().add_option("files", arguments.words, "Files to show when no command is named");
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) {
    StringList word_list, target_list;
    hipplan_inspect_options options{};
    options.struct_size = sizeof(options);
    options.command = arguments.command.c_str();
    options.arguments = word_list.view(arguments.words);
    options.graph_key = given(arguments.graph_key);
    options.targets = target_list.view(arguments.targets);
    options.part = given(arguments.part);
    options.output = given(arguments.output);
    return hipplan_tool_inspect(&options, &io);
  });
}
