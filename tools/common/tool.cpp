#include "common/tool.h"

#include <fcntl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/completion.h"
#include "common/terminal.h"

extern char** environ;

namespace hipplan::tools {
namespace {

volatile std::sig_atomic_t caught_signal = 0;

extern "C" void on_signal(int number) {
  // The second signal ends the program at once.
  if (caught_signal != 0) std::_Exit(128 + number);
  caught_signal = number;
}

void catch_signals() {
  struct sigaction action{};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A file that grows beyond its limit is an error of the write, not the end of the program.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

/// Standard streams that are closed would be taken by the next files opened. Opened the wrong way
/// round, they fail when used.
void keep_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) (void)!::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
}

struct Session {
  Terminal& terminal;
  bool write_failed = false;
};

void on_result(void* user, const char* bytes, size_t size) {
  auto* session = static_cast<Session*>(user);
  session->terminal.clear_progress();
  if (std::fwrite(bytes, 1, size, stdout) != size) session->write_failed = true;
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

Tool::Tool(std::string name, const std::string& description)
    : name_(std::move(name)), app_(description, name_) {
  app_.set_help_flag("-h,--help", "Print this help and exit");
  app_.fallthrough();
  app_.get_formatter()->column_width(34);
  app_.add_flag("--json", json_, "Print results as one JSON document")->group("Common");
  app_.add_option("--jobs,-j", jobs_, "Worker threads (0: one per hardware thread)")
      ->group("Common");
  app_.add_flag("--quiet,-q", quiet_, "No notes and no progress")->group("Common");
  app_.add_flag("--no-progress", no_progress_, "No progress")->group("Common");
  app_.add_option("--data", data_, "Folder with kernels/ and targets/")
      ->envname("HIPPLAN_DATA")
      ->group("Common");
  app_.add_option("--modules", modules_, "Folder with the emulator's modules")
      ->envname("HIPPLAN_MODULES")
      ->group("Common");
  app_.add_option("--completion", completion_, "Print a completion script: bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->group("Common");
  app_.add_flag("--version", version_, "Print versions and exit")->group("Common");
}

void Tool::warn_unknown_environment() const {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, "HIPPLAN_", 8) != 0) continue;
    const std::string variable(*entry, std::strcspn(*entry, "="));
    if (variable != "HIPPLAN_DATA" && variable != "HIPPLAN_MODULES")
      std::fprintf(stderr, "%s: warning: environment variable %s is not known\n", name_.c_str(),
                   variable.c_str());
  }
}

/// -1 to go on, else the exit status.
int Tool::parse(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app_.help().c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    for (int i = 1; i < argc; ++i) {
      // These two answer whatever else is missing.
      if (std::strcmp(argv[i], "--version") == 0) version_ = true;
      if (std::strcmp(argv[i], "--completion") == 0 && i + 1 < argc &&
          CLI::IsMember({"bash", "zsh", "fish"})(argv[i + 1]).empty())
        completion_ = argv[i + 1];
    }
    if (!version_ && completion_.empty()) {
      std::fprintf(stderr, "%s: error: %s; try %s --help\n", name_.c_str(), error.what(),
                   name_.c_str());
      return HIPPLAN_BAD_INPUT;
    }
  }
  if (version_) {
    std::printf("%s %s\n%s", name_.c_str(), hipplan_version(), hipplan_format_versions());
    return 0;
  }
  if (!completion_.empty()) {
    std::fputs(completion_script(app_, name_, completion_).c_str(), stdout);
    return 0;
  }
  return -1;
}

int Tool::run(int argc, char** argv, const std::function<int(const hipplan_tool_io&)>& command) {
  keep_standard_streams();
  if (const int status = parse(argc, argv); status >= 0)
    return std::fflush(stdout) == 0 ? status : HIPPLAN_MACHINE;
  warn_unknown_environment();
  catch_signals();
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
  const int status = command(io);
  terminal.clear_progress();
  if (std::fflush(stdout) != 0 || session.write_failed) {
    std::fprintf(stderr, "%s: error: standard output: cannot write: %s\n", name_.c_str(),
                 std::strerror(errno));
    return HIPPLAN_MACHINE;
  }
  return status == HIPPLAN_INTERRUPTED && caught_signal != 0 ? 128 + caught_signal : status;
}

}  // namespace hipplan::tools
