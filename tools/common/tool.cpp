#include "common/tool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error_fields.h"
#include "base/harmless.h"
#include "common/option_table.h"
#include "common/terminal.h"
#include "common/usage.h"

extern char** environ;

namespace hipplan::tools {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void on_signal(int number) {
  // The second signal ends the program at once.
  if (caught_signal != 0) std::_Exit(128 + number);
  caught_signal = number;
}

/// What on_bus_error says; made before, since a signal's handler makes no strings.
std::string bus_error_text;

/// A mapped file became shorter while it was read: nothing can go on from there.
extern "C" void on_bus_error(int) {
  (void)!::write(STDERR_FILENO, bus_error_text.data(), bus_error_text.size());
  std::_Exit(HIPPLAN_MACHINE);
}

void catch_signals(const std::string& tool) {
  bus_error_text = tool +
                   ": error: a file became shorter while it was read; replace files instead of "
                   "writing over them, and run it again\n";
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A file that grows beyond its limit is an error of the write, not the end of the program.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
  action.sa_handler = on_bus_error;
  sigaction(SIGBUS, &action, nullptr);
}

/// Standard streams that are closed would be taken by the next files opened. Opened the wrong way
/// round, they fail when used.
void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) (void)!::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

struct Session {
  Terminal& terminal;
  int write_error = 0;  ///< errno of the first write that failed
};

void on_result(void* user, const char* bytes, size_t size) {
  auto* session = static_cast<Session*>(user);
  session->terminal.clear_progress();
  if (std::fwrite(bytes, 1, size, stdout) != size && session->write_error == 0)
    session->write_error = errno != 0 ? errno : EIO;
}
void on_message(void* user, hipplan_severity severity, const char* text) {
  static_cast<Session*>(user)->terminal.message(severity, text);
}
void on_progress(void* user, const char* what, uint64_t done, uint64_t total) {
  static_cast<Session*>(user)->terminal.progress(what, done, total);
}
int on_interrupted(void*) {
  return caught_signal;
}

}  // namespace

hipplan_strings StringList::view(const std::vector<std::string>& owner) {
  pointers_.clear();
  for (const auto& text : owner) pointers_.push_back(text.c_str());
  return {pointers_.data(), pointers_.size()};
}

namespace {

constexpr uint64_t kMostJobs = 65536;

}  // namespace

Tool::Tool(About about)
    : about_(std::move(about)), name_(about_.name), app_(about_.summary, name_) {
  catch_signals(name_);
  keep_standard_streams();
  app_.set_help_flag("-h,--help", "Print this help and exit")->group("Common");
  app_.fallthrough();
  app_.add_flag("--json", json_, "Print results as one JSON document")->group("Common");
  app_.add_option("--jobs,-j", jobs_, "Worker threads; 0: one per hardware thread")
      ->type_name("COUNT")
      ->check(whole_number(0, kMostJobs, std::to_string(kMostJobs)))
      ->group("Common");
  app_.add_flag("--quiet,-q", quiet_, "No notes and no progress")->group("Common");
  app_.add_flag("--no-progress", no_progress_, "No progress")->group("Common");
  app_.add_option("--data", data_, "Where kernels/ and targets/ are")
      ->type_name("FOLDER")
      ->envname("HIPPLAN_DATA")
      ->group("Common");
  app_.add_option("--modules", modules_, "Where the emulator's modules are")
      ->type_name("FOLDER")
      ->envname("HIPPLAN_MODULES")
      ->group("Common");
  app_.add_option("--hip-library", hip_library_,
                  "The HIP runtime to open; the newest installed else")
      ->type_name("FILE")
      ->envname("HIPPLAN_HIP_LIBRARY")
      ->group("Common");
  app_.add_option("--cuda-library", cuda_library_, "The CUDA driver to open; libcuda.so.1 else")
      ->type_name("FILE")
      ->envname("HIPPLAN_CUDA_LIBRARY")
      ->group("Common");
  app_.add_option("--completion", completion_, "Print a completion script for a shell and exit")
      ->type_name("bash|zsh|fish")
      ->check(one_of({"bash", "zsh", "fish"}))
      ->group("Common");
  app_.add_flag("--version", version_, "Print versions and exit")->group("Common");
  app_.add_flag("--man", manual_, "Print the manual page and exit")->group("");
}

void Tool::warn_unknown_environment() const {
  const auto options = app_.get_options();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "HIPPLAN_", 8) != 0) continue;
    const std::string variable(*entry, std::strcspn(*entry, "="));
    const bool known = std::any_of(options.begin(), options.end(), [&](const CLI::Option* option) {
      return option->get_envname() == variable;
    });
    if (!known)
      std::fprintf(stderr, "%s: warning: environment variable %s is not known\n", name_.c_str(),
                   harmless(variable).c_str());
  }
}

namespace {

/// For a text without control characters.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// The name of an option that was given without a value, or empty. A list of targets that holds
/// only commas and spaces has none either.
std::string option_without_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_size() == 0 || option->count() == 0) continue;
    const bool list = option->get_type_name() == "TARGET";
    for (const std::string& value : option->results())
      if (value.find_first_not_of(list ? ", " : "") == std::string::npos)
        return option->get_positional() ? option->get_type_name()
                                        : "--" + option->get_lnames().front();
  }
  for (const CLI::App* command : app.get_subcommands())
    if (auto name = option_without_value(*command); !name.empty()) return name;
  return "";
}

bool stands_in(const char* word, int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc,
                     [&](const char* given) { return std::strcmp(given, word) == 0; });
}

/// The shell of --completion, or empty.
std::string shell_in(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], "--completion") == 0 &&
        CLI::IsMember({"bash", "zsh", "fish"})(argv[i + 1]).empty())
      return argv[i + 1];
  return "";
}

}  // namespace

/// A usage error: on standard error, and as the document where one was asked for.
int Tool::refuse(const Error& raw, bool json) const {
  Error shown = raw;
  for (std::string* text :
       {&shown.where, &shown.what, &shown.expected, &shown.found, &shown.advice})
    *text = harmless(*text);
  std::fprintf(stderr, "%s: error: %s; try %s --help\n", name_.c_str(), shown.text().c_str(),
               name_.c_str());
  const int status = exit_code(shown.code);
  if (!json) return status;
  std::string fields;
  for_each_field(shown, [&](std::string_view name, std::string_view text) {
    fields += cat(fields.empty() ? "" : ",", "\n    \"", name, "\": ", json_text(text));
  });
  std::printf(
      "{\n  \"schema\": \"hipplan.error/1\",\n  \"error\": {%s\n  },\n  \"status\": %d\n}\n",
      fields.c_str(), status);
  return status;
}

std::string Tool::help() const {
  const CommandRow tool = table_of(app_);
  const auto named = app_.get_subcommands();
  if (!named.empty())
    for (const auto& command : tool.commands)
      if (command.name == named.front()->get_name()) return help_text(about_, tool, command);
  return help_text(about_, tool, tool);
}

/// -1 to go on, else the exit status.
int Tool::parse(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    // These answer whatever else is missing.
    version_ = stands_in("--version", argc, argv);
    manual_ = stands_in("--man", argc, argv);
    completion_ = shell_in(argc, argv);
    if (!version_ && !manual_ && completion_.empty())
      return refuse(usage_fault(error, app_, {argv + 1, argv + argc}),
                    stands_in("--json", argc, argv));
  }
  if (version_)
    std::printf("%s %s\n%s", name_.c_str(), hipplan_version(), hipplan_format_versions());
  else if (manual_)
    std::fputs(manual_page(about_, table_of(app_), hipplan_version()).c_str(), stdout);
  else if (!completion_.empty())
    std::fputs(completion_script(name_, table_of(app_), completion_).c_str(), stdout);
  else if (const auto name = option_without_value(app_); !name.empty())
    return refuse(
        {.code = Code::bad_input, .reason = "usage", .where = name, .what = "the value is empty"},
        json_);
  else
    return -1;
  return 0;
}

/// The exit status once everything that was printed is out.
int Tool::finish_output(int status, int write_error) const {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  if (write_error == 0 && flushed && std::ferror(stdout) == 0) return status;
  if (write_error == 0) write_error = errno != 0 ? errno : EIO;
  std::fprintf(stderr, "%s: error: standard output: cannot write: %s\n", name_.c_str(),
               std::strerror(write_error));
  return HIPPLAN_MACHINE;
}

int Tool::run(int argc, char** argv, const std::function<int(const hipplan_tool_io&)>& command) {
  if (const int status = parse(argc, argv); status >= 0) return finish_output(status, 0);
  warn_unknown_environment();
  Terminal terminal(name_, quiet_, no_progress_ || quiet_);
  Session session{terminal};
  hipplan_tool_io io{};
  io.struct_size = sizeof(io);
  io.user = &session;
  io.result = on_result;
  io.message = on_message;
  io.progress = on_progress;
  io.interrupted = on_interrupted;
  io.json = json_ ? 1 : 0;
  io.jobs = jobs_;
  io.data_folder = given(data_);
  io.module_folder = given(modules_);
  io.hip_library = given(hip_library_);
  io.cuda_library = given(cuda_library_);
  const int status = command(io);
  terminal.clear_progress();
  return finish_output(
      status == HIPPLAN_INTERRUPTED && caught_signal != 0 ? 128 + caught_signal : status,
      session.write_error);
}

}  // namespace hipplan::tools
