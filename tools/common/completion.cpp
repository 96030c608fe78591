// Completion scripts. Words that depend on the installation (targets, devices, engines) are asked
// of hipplan-inspect when they are needed.
#include "common/completion.h"

namespace hipplan::tools {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string function_name(const std::string& tool) {
  std::string out = "_" + tool;
  for (char& c : out) c = c == '-' ? '_' : c;
  return out;
}

std::string completion_script(const std::string& name, const CommandRow& tool,
                              const std::string& shell) {
  if (shell == "bash") return bash_script(name, tool);
  return shell == "zsh" ? zsh_script(name, tool) : fish_script(name, tool);
}

}  // namespace hipplan::tools
