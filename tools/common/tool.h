// What every tool does the same way: common flags, messages, progress, signals, exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "common/option_table.h"
#include "common/values.h"
#include "hipplan/tools.h"

namespace hipplan {
struct Error;
}

namespace hipplan::tools {

/// Borrowed view of strings for the C interface; valid while `owner` is unchanged.
class StringList {
 public:
  [[nodiscard]] hipplan_strings view(const std::vector<std::string>& owner);

 private:
  std::vector<const char*> pointers_;
};
/// Null for an empty string: "not given".
[[nodiscard]] inline const char* given(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

/// One program run. Parses, calls the library, prints, and gives the exit status. Signals are
/// caught from its construction on, which is the first that main() does.
class Tool {
 public:
  explicit Tool(About about);
  [[nodiscard]] CLI::App& app() { return app_; }
  /// Parses the arguments and runs `command` with the callbacks set up. Usage errors give 2.
  int run(int argc, char** argv, const std::function<int(const hipplan_tool_io&)>& command);

 private:
  int parse(int argc, char** argv);
  int refuse(const Error& raw, bool json) const;
  int finish_output(int status, int write_error) const;
  [[nodiscard]] std::string help() const;
  void warn_unknown_environment() const;

  About about_;
  std::string name_;
  CLI::App app_;
  bool json_ = false, quiet_ = false, no_progress_ = false, version_ = false, manual_ = false;
  unsigned jobs_ = 0;
  std::string data_, modules_, hip_library_, cuda_library_, completion_;
};

}  // namespace hipplan::tools
