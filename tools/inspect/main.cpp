// hipplan-inspect: look into plan files; never needs a GPU.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {

struct Arguments {
  std::string command;  ///< empty: none named, which shows files
  std::string graph_key, output, part;
  std::vector<std::string> words, targets;
  std::string key, trust, format, device;
  bool detached = false, force = false;
  int64_t date = -1;
  // What stands before the command word.
  std::string graph_key_before;
  std::vector<std::string> words_before, targets_before;
};

/// The end of the year 9999, the last that dates in documents can name.
constexpr int64_t kLastSecond = 253402300799;

/// Digits only, all of `text`; -1 where it is something else.
int64_t number_of(const std::string& text) {
  int64_t out = -1;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end ? out : -1;
}

/// Seconds since 1970 at "2024-05-17" or "2024-05-17T13:45:00Z"; -1 where it is no such time.
int64_t iso_time(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  constexpr size_t kDateOnly = 10;
  if (text.size() != kForm.size() && text.size() != kDateOnly) return -1;
  for (size_t i = 0; i < text.size(); ++i)
    if (kForm[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != kForm[i]) return -1;
  const auto part = [&](size_t at, size_t digits) -> int64_t {
    return at < text.size() ? number_of(text.substr(at, digits)) : 0;
  };
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(part(0, 4))),
                                         std::chrono::month(static_cast<unsigned>(part(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(part(8, 2)))};
  const int64_t hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return -1;
  constexpr int64_t kHours = 24, kMinutes = 60, kSeconds = 60;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * kHours + hour) * kMinutes + minute) * kSeconds + second;
}

int64_t date_of(const std::string& text) {
  const int64_t out = std::max(number_of(text), iso_time(text));
  if (out >= 0 && out <= kLastSecond) return out;
  throw CLI::ValidationError(
      "--date", "'" + text +
                    "' is no time from 1970 to 9999, such as 2024-05-17, "
                    "2024-05-17T13:45:00Z, or seconds since 1970 (SOURCE_DATE_EPOCH too)");
}

/// What -o takes.
enum class Output { none, file, folder };

struct Command {
  const char* name;
  const char* help;
  const char* value;     ///< name of its positional arguments, which says how they complete
  const char* words;     ///< what they are
  const char* usage;     ///< what must be given; null: one of the words of `value`
  bool chooses = false;  ///< takes --graph-key and --target; list --target only
  Output output = Output::none;
};
constexpr Command kCommands[] = {
    {"show", "Print what files hold (the default)", "PLAN", "Plan files, bundles, code objects",
     "PLAN...", true},
    {"diff", "Compare two files; exit 1 when they differ", "PLAN", "Two plan files", "PLAN PLAN"},
    {"list", "List a file's plans, a line each, or what this installation has",
     "plans|engines|kernels|targets|devices|handlers|instructions",
     "What to list; behind plans the plan file", nullptr, true},
    {"extract", "Take a part out of a file", "PLAN", "Plan file", "PLAN --PART -o FILE", true,
     Output::file},
    {"size", "Print what takes how much space", "PLAN", "Plan file", "PLAN"},
    {"disasm", "Print a plan's machine code as text", "PLAN", "Plan file or code object", "PLAN",
     true},
    {"resolve", "Say which plan a target gets and why not the others", "PLAN", "Plan file",
     "PLAN --target TARGET", true},
    {"why", "Print how a plan's decisions were reached", "PLAN", "Plan file", "PLAN", true},
    {"bundle", "Pack a folder of plans into one .tar.zst file", "FOLDER", "Folder of plans",
     "FOLDER -o FILE", false, Output::file},
    {"unbundle", "Unpack a bundle into a folder", "FILE", "Bundle", "FILE -o FOLDER", false,
     Output::folder},
    {"merge", "Put the plans of several files into one", "PLAN",
     "Plan files, folders, bundles (.tar.zst) or patterns", "PLAN... -o FILE", false, Output::file},
    {"split", "Write each plan of a file to a file of its own", "PLAN", "Plan file",
     "PLAN -o FOLDER", false, Output::folder},
    {"strip", "Keep the plans of some targets", "PLAN", "Plan file",
     "PLAN --keep-target TARGET[,TARGET...] -o FILE", false, Output::file},
    {"sign", "Sign files with an Ed25519 key", "PLAN", "Plan files, folders or patterns",
     "PLAN... --key FILE"},
    {"signatures", "List who has signed a file; hipplan-verify also checks its contents", "PLAN",
     "Plan file", "PLAN"},
    {"sbom", "Print a bill of materials", "PLAN", "Plan file", "PLAN"},
    {"target", "Describe a GPU of this machine as a target file", "", "", "--device DEVICE -o FILE",
     false, Output::file},
};

/// The parts exclude each other.
void add_parts(CLI::App& app, Arguments& arguments) {
  constexpr std::pair<const char*, const char*> kParts[] = {
      {"plan", "The plan as a file of its own"},
      {"graph", "The graph's JSON"},
      {"code", "The code objects"},
      {"envelope", "The bare envelope"},
      {"reasons", "How it was chosen, which why prints"},
      {"measurements", "The times that its kernel was chosen by"},
      {"evidence", "What came out when it was executed"},
      {"provenance", "Where its parts came from, an in-toto statement"}};
  std::vector<CLI::Option*> flags;
  for (const auto& [name, help] : kParts) {
    const std::string part = name;
    flags.push_back(
        app.add_flag_callback("--" + part, [&arguments, part] { arguments.part = part; }, help));
    flags.back()->group("Part to take");
    for (auto* other : flags)
      if (other != flags.back()) other->excludes(flags.back());
  }
}

/// What only one command takes.
void add_own_options(CLI::App& sub, Arguments& arguments, const std::string& name) {
  if (name == "extract") add_parts(sub, arguments);
  if (name == "strip")
    sub.add_option("--keep-target", arguments.targets, "GPUs whose plans stay")
        ->type_name("TARGET")
        ->allow_extra_args(false);
  if (name == "sign") {
    sub.add_option("--key", arguments.key, "Private key in PEM form")->type_name("FILE");
    sub.add_flag("--detached", arguments.detached, "Write the signature to PLAN.sig");
  }
  if (name == "signatures")
    sub.add_option("--trust", arguments.trust,
                   "Judge by the public keys (*.pem) of this folder; contents are not checked, "
                   "hipplan-verify does")
        ->type_name("FOLDER");
  if (name == "unbundle")
    sub.add_flag("--force", arguments.force, "Replace files of the same names that differ");
  if (name == "target")
    sub.add_option("--device", arguments.device, "Which GPU: hip:NUMBER or cuda:NUMBER")
        ->type_name("DEVICE");
  if (name != "sbom") return;
  sub.add_option("--format", arguments.format, "Which kind of document")
      ->type_name("spdx|cyclonedx");
  // The environment is read for every command; only this one uses it and may refuse it.
  sub.add_option_function<std::string>(
         "--date",
         [&arguments, &sub](const std::string& text) {
           if (sub.parsed()) arguments.date = date_of(text);
         },
         "Time the document names, UTC: 2024-05-17T13:45:00Z, 2024-05-17, or seconds since 1970")
      ->envname("SOURCE_DATE_EPOCH")
      ->type_name("TIME");
}

bool is_list(const Command& command) {
  return std::string_view(command.name) == "list";
}

/// --graph-key and --target.
void add_choice(CLI::App& sub, Arguments& arguments, const Command& command) {
  const bool list = is_list(command);
  sub.add_option("--graph-key", arguments.graph_key,
                 list ? "plans: those of this graph: its name, or the first digits of its key; "
                        "KEY/TARGET is one plan, as other commands print it"
                      : "Which graph: its name, or the first digits of its key; KEY/TARGET is one "
                        "plan, as other commands print it")
      ->type_name("KEY");
  auto* target =
      sub.add_option("--target,-t", arguments.targets,
                     list ? "plans: those that this GPU gets; kernels: those of these GPUs only; "
                            "instructions: those of the ISA documents of their families, which "
                            "several GPUs share"
                          : "Which GPU: architecture or product; the plan that it gets")
          ->type_name("TARGET")
          ->allow_extra_args(false);
  if (!list) target->expected(1);
}

/// What must be given behind a command's word.
std::string usage_of(const Command& command) {
  if (command.usage != nullptr) return command.usage;
  std::string out = command.value;
  constexpr std::string_view kOfFile = "plans";
  return out.insert(out.find(kOfFile) + kOfFile.size(), " PLAN");
}

void add_command(CLI::App& app, Arguments& arguments, const Command& command) {
  auto* sub = app.add_subcommand(command.name, command.help);
  sub->callback([&arguments, &command] { arguments.command = command.name; });
  sub->footer(usage_of(command));
  if (*command.value != '\0')
    sub->add_option("words", arguments.words, command.words)->type_name(command.value);
  if (command.chooses) add_choice(*sub, arguments, command);
  if (command.output != Output::none)
    sub->add_option("--output,-o", arguments.output,
                    command.output == Output::folder ? "Folder to write into"
                                                     : "Where to write; - is standard output")
        ->type_name(command.output == Output::folder ? "FOLDER" : "FILE");
  add_own_options(*sub, arguments, command.name);
}

/// Files and choices without a command, or before it: they count as if they stood behind it.
void add_before_command(CLI::App& app, Arguments& arguments) {
  app.add_option("files", arguments.words_before, "Files to show when no command is named")
      ->type_name("PLAN");
  auto* key =
      app.add_option("--graph-key", arguments.graph_key_before)->type_name("KEY")->group("");
  auto* target = app.add_option("--target,-t", arguments.targets_before)
                     ->type_name("TARGET")
                     ->allow_extra_args(false)
                     ->group("");
  app.callback([&arguments, key, target] {
    const auto& command = *std::find_if(
        std::begin(kCommands), std::end(kCommands),
        [&](const Command& c) { return arguments.command.empty() || arguments.command == c.name; });
    for (const auto* option : {key, target})
      if (option->count() != 0 && !command.chooses)
        throw CLI::ValidationError("--" + option->get_lnames().front(),
                                   arguments.command + " takes none");
    const auto put_first = [](std::vector<std::string>& before, std::vector<std::string>& list) {
      list.insert(list.begin(), before.begin(), before.end());
    };
    put_first(arguments.words_before, arguments.words);
    put_first(arguments.targets_before, arguments.targets);
    if (key->count() != 0 && !arguments.graph_key.empty())
      throw CLI::ValidationError("--graph-key", "is given twice");
    if (key->count() != 0) arguments.graph_key = arguments.graph_key_before;
  });
}

hipplan::tools::About about() {
  return {
      "hipplan-inspect",
      "Look into execution plans without a GPU",
      "[COMMAND] PLAN...",
      "Shows, compares and takes apart plan files; says which plan a target gets; disassembles "
      "machine code; lists what this installation has. Files of others are shown as far as their "
      "layout is known: code objects, kernel archives, hipDNN's plans, cubins, PTX.\n"
      "BUNDLE.tar.zst:MEMBER stands for a file inside a bundle, - for standard input. "
      "\"--graph-key\", \"--target\" and the common options stand before the command or behind "
      "it, the other options behind it.",
      {{"hipplan-inspect conv.hplan", "what is inside"},
       {"hipplan-inspect list plans library.hplan", "a line for each plan"},
       {"hipplan-inspect diff old.hplan new.hplan",
        "what changed; exit status 1 when anything did"},
       {"hipplan-inspect disasm conv.hplan --target gfx942", "the machine code"},
       {"hipplan-inspect extract conv.hplan --graph -o conv.json", "the graph it was baked from"}}};
}

int inspect(const Arguments& arguments, const hipplan_tool_io& io) {
  StringList word_list, target_list;
  hipplan_inspect_options options{};
  options.struct_size = sizeof(options);
  options.command = given(arguments.command);
  options.arguments = word_list.view(arguments.words);
  options.graph_key = given(arguments.graph_key);
  options.targets = target_list.view(arguments.targets);
  options.part = given(arguments.part);
  options.output = given(arguments.output);
  options.key = given(arguments.key);
  options.detached = arguments.detached;
  options.trust = given(arguments.trust);
  options.format = given(arguments.format);
  options.date = arguments.date;
  options.device = given(arguments.device);
  options.force = arguments.force;
  return hipplan_tool_inspect(&options, &io);
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(about());
  Arguments arguments;
  for (const auto& command : kCommands) add_command(tool.app(), arguments, command);
  add_before_command(tool.app(), arguments);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) { return inspect(arguments, io); });
}
