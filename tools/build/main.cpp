// hipplan-build: JSON graphs -> execution plans.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "common/tool.h"

using hipplan::tools::given;
using hipplan::tools::StringList;

namespace {
namespace fs = std::filesystem;

/// A folder of its own in TMPDIR, removed at the end. Without a path when it could not be made,
/// which errno explains.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (parent() / "hipplan-again-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  static fs::path parent() {
    const char* chosen = std::getenv("TMPDIR");
    return chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// What differs from this process: time zone, locale, home, the time that documents name. What
/// finds libraries and programs stays.
std::vector<std::string> other_environment(const std::string& folder) {
  std::vector<std::string> out = {"TZ=Asia/Kathmandu", "LC_ALL=C.UTF-8", "HOME=/nonexistent",
                                  "SOURCE_DATE_EPOCH=86400", "TMPDIR=" + folder};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS"})
    if (const char* value = std::getenv(name)) out.push_back(std::string(name) + "=" + value);
  return out;
}

/// Runs this program with `arguments` in `folder`, its output thrown away. What kept it from
/// starting as an errno, or 0.
int run_again(std::vector<std::string> arguments, const std::string& folder) {
  std::error_code failed;
  const std::string self = fs::read_symlink("/proc/self/exe", failed).string();
  arguments.insert(arguments.begin(), self);
  auto environment = other_environment(folder);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  for (const int stream : {1, 2})
    ::posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int refused = ::posix_spawn(&child, self.c_str(), &actions, nullptr,
                                    pointers(arguments).data(), pointers(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (refused != 0) return refused;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return 0;
}

struct Arguments {
  std::vector<std::string> graphs, targets, target_files, knobs;
  std::string output, engine, sign_key, device;
  bool benchmark = false;
  bool plan_only = false, why = false, dry_run = false, keep_going = false, unknown_keys = false,
       check_reproducible = false, plain_code = false;
};

void add_what_to_bake(CLI::App& app, Arguments& arguments) {
  app.add_option("GRAPH", arguments.graphs,
                 "Files, folders (searched for *.json), patterns, or - for standard input")
      ->type_name("GRAPH")
      ->required();
  app.add_option("--target,-t", arguments.targets,
                 "GPUs to bake for, separated by commas: gfx942, or a product such as mi300x")
      ->type_name("TARGET")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_option("--target-file", arguments.target_files,
                 "Description of a GPU that does not ship, to bake for; --target may name it too")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_option("--engine", arguments.engine,
                 "Take this engine: its name, or its id in decimal or 0x form")
      ->type_name("ENGINE")
      ->group("What to bake");
  app.add_option("--knob", arguments.knobs,
                 "Take only kernels with this knob's value, such as block_size=64")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->group("What to bake");
  app.add_flag("--benchmark", arguments.benchmark,
               "Time every kernel that can run the graph on the GPU of --device, take the fastest, "
               "and record the times in the plan")
      ->group("What to bake");
  app.add_option("--device", arguments.device,
                 "GPU to measure on; without --target the plans are for it")
      ->type_name("DEVICE")
      ->group("What to bake");
  app.add_flag("--allow-unknown-keys", arguments.unknown_keys,
               "Warn about unknown keys in graphs instead of refusing")
      ->group("What to bake");
}

void add_what_to_write(CLI::App& app, Arguments& arguments) {
  app.add_option("--output,-o", arguments.output,
                 "File to write, folder (ending in /) for one file per graph, or - for standard "
                 "output")
      ->type_name("FILE")
      ->group("What to write");
  app.add_option("--sign", arguments.sign_key, "Sign what is written with this Ed25519 key (PEM)")
      ->type_name("FILE")
      ->group("What to write");
  app.add_flag("--plan-only", arguments.plan_only, "Leave the graph out of the file")
      ->group("What to write");
  app.add_flag("--plain-code", arguments.plain_code,
               "Do not compress machine code: files are larger and restored sooner")
      ->group("What to write");
  app.add_flag("--keep-going", arguments.keep_going,
               "Write the plans that could be baked even when others could not")
      ->group("What to write");
  app.add_flag("--dry-run", arguments.dry_run, "Stop before writing")->group("What to write");
}

void add_checks(CLI::App& app, Arguments& arguments) {
  app.add_flag("--why", arguments.why, "Print how each decision was reached")
      ->group("Checks and answers");
  app.add_flag("--check-reproducible", arguments.check_reproducible,
               "Bake three times, once in another process in another folder, time zone and locale, "
               "and compare the bytes")
      ->group("Checks and answers");
}

/// Bakes the same in another process, into `again` in `folder`.
int bake_again(const Arguments& arguments, const hipplan_tool_io& io, const std::string& folder,
               const std::string& again) {
  std::vector<std::string> words = {"--quiet", "--no-progress", "--jobs", "1", "--keep-going", "-o",
                                    again};
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  const auto absolute = [](const std::string& path) { return fs::absolute(path).string(); };
  for (const auto& target : arguments.targets) add("--target", target);
  for (const auto& file : arguments.target_files) add("--target-file", absolute(file));
  for (const auto& knob : arguments.knobs) add("--knob", knob);
  add("--engine", arguments.engine);
  if (io.data_folder != nullptr) add("--data", absolute(io.data_folder));
  if (arguments.plan_only) words.emplace_back("--plan-only");
  if (arguments.unknown_keys) words.emplace_back("--allow-unknown-keys");
  words.emplace_back("--");
  for (const auto& graph : arguments.graphs) words.push_back(absolute(graph));
  return run_again(std::move(words), folder);
}

int build(const Arguments& arguments, const hipplan_tool_io& io) {
  StringList graph_list, target_list, file_list, knob_list;
  hipplan_build_options options{};
  options.struct_size = sizeof(options);
  options.graphs = graph_list.view(arguments.graphs);
  options.output = given(arguments.output);
  options.targets = target_list.view(arguments.targets);
  options.target_files = file_list.view(arguments.target_files);
  options.engine = given(arguments.engine);
  options.knobs = knob_list.view(arguments.knobs);
  options.plan_only = arguments.plan_only;
  options.why = arguments.why;
  options.dry_run = arguments.dry_run;
  options.keep_going = arguments.keep_going;
  options.allow_unknown_keys = arguments.unknown_keys;
  options.check_reproducible = arguments.check_reproducible;
  options.sign_key = given(arguments.sign_key);
  options.benchmark = arguments.benchmark;
  options.device = given(arguments.device);
  options.plain_code = arguments.plain_code;
  // Standard input is there for one process only, and measured times are of one moment.
  const bool from_stdin =
      std::find(arguments.graphs.begin(), arguments.graphs.end(), "-") != arguments.graphs.end();
  if (!arguments.check_reproducible || from_stdin || arguments.benchmark)
    return hipplan_tool_build(&options, &io);
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    std::fprintf(stderr,
                 "hipplan-build: error: %s: no folder could be made in it for the second bake: %s; "
                 "set TMPDIR to a folder that can be written\n",
                 TemporaryFolder::parent().c_str(), std::strerror(errno));
    return HIPPLAN_MACHINE;
  }
  const std::string again = folder.path() + "/again.hplan";
  if (const int refused = bake_again(arguments, io, folder.path(), again); refused != 0) {
    std::fprintf(stderr, "hipplan-build: error: the second bake cannot be started: %s\n",
                 std::strerror(refused));
    return HIPPLAN_MACHINE;
  }
  options.reproduced = again.c_str();
  return hipplan_tool_build(&options, &io);
}

hipplan::tools::About about() {
  return {
      "hipplan-build",
      "Bake execution plans from hipDNN JSON graphs",
      "GRAPH... --target TARGET[,TARGET...] -o OUT",
      "Every graph is baked for every target: engine, kernel and launch inputs are decided, and "
      "the kernel's machine code is put into the plan. No GPU is needed.\n"
      "OUT is a file that holds all plans, or a folder that gets one file per graph: it ends in /, "
      "is a folder, or is not there and has no extension while several graphs, a folder or a "
      "pattern are given. "
      "Nothing is written when a graph cannot be baked, unless \"--keep-going\" is given. The "
      "same graphs give the same bytes on every machine.",
      {{"hipplan-build conv.json --target gfx942,gfx1100 -o conv.hplan",
        "one graph for two GPUs, in one file"},
       {"hipplan-build graphs/ --target mi300x -o plans/", "a file for each graph of a folder"},
       {"hipplan-build conv.json --target gfx942 --dry-run --why",
        "which kernel would be taken, and why not the others"},
       {"hipplan-build conv.json --benchmark --device hip:0 -o conv.hplan",
        "for the GPU in this machine, by measured times"}}};
}

}  // namespace

int main(int argc, char** argv) {
  hipplan::tools::Tool tool(about());
  Arguments arguments;
  add_what_to_bake(tool.app(), arguments);
  add_what_to_write(tool.app(), arguments);
  add_checks(tool.app(), arguments);
  return tool.run(argc, argv, [&](const hipplan_tool_io& io) { return build(arguments, io); });
}
