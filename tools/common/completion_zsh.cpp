// The completion script for zsh.
#include "common/completion.h"

namespace hipplan::tools {
namespace {

constexpr const char* kZshHead = R"sh(
_hipplan_asked() { # list column...: words that hipplan-inspect lists
  local -a found
  local line
  hipplan-inspect --quiet list $1 2>/dev/null | while read -r line; do
    found+=(${${(z)line}[${2:-1}]})
    if [[ $1 == targets ]]; then found+=(${${(z)line}[2]}); fi
  done
  if [[ $1 == devices ]]; then found+=(auto); fi
  if [[ $1 == targets ]]; then _values -s , $1 ${(u)found}; else compadd -a found; fi
}
)sh";

std::string zsh_action(const std::string& value) {
  switch (kind_of(value)) {
    case ValueKind::free:
      return " ";
    case ValueKind::file:
    case ValueKind::assignment:
      return "_files";
    case ValueKind::folder:
      return "_files -/";
    case ValueKind::graph:
      return "_files -g \"*.json\"";
    case ValueKind::plan:
      return "_files -g \"*.(hplan|tar.zst|co)\"";
    case ValueKind::target:
      return " _hipplan_asked targets";
    case ValueKind::device:
      return " _hipplan_asked devices";
    case ValueKind::engine:
      return " _hipplan_asked engines";
    case ValueKind::words:
      return "(" + joined(words_of(value), " ") + ")";
  }
  return " ";
}

/// Text inside the brackets of an _arguments specification.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void zsh_options(std::string& out, const std::vector<OptionRow>& options, const char* indent) {
  for (const auto& option : options)
    for (const auto& name : option.names) {
      std::string spec = option.repeats ? "*" : "(" + joined(option.names, " ") + ")";
      spec += name + "[" + zsh_text(option.help) + "]";
      if (option.takes_value())
        spec += ":" + zsh_text(option.value) + ":" + zsh_action(option.value);
      out += std::string(" \\\n") + indent + shell_quoted(spec);
    }
}

void zsh_positionals(std::string& out, const CommandRow& command, const char* indent) {
  for (const auto& argument : command.positionals) {
    const bool words = kind_of(argument.value) == ValueKind::words;
    out += std::string(" \\\n") + indent +
           shell_quoted((words ? "1:" : "*:") + zsh_text(argument.value) + ":" +
                        zsh_action(argument.value));
    // Behind the word may be a file.
    if (words) out += std::string(" \\\n") + indent + shell_quoted("*:PLAN:" + zsh_action("PLAN"));
  }
}

}  // namespace

std::string zsh_script(const std::string& name, const CommandRow& tool) {
  std::string out = "#compdef " + name + kZshHead + function_name(name) + "() {\n";
  if (tool.commands.empty()) {
    out += "  _arguments -s";
    zsh_options(out, tool.options, "    ");
    zsh_positionals(out, tool, "    ");
    return out + "\n}\n" + function_name(name) + " \"$@\"\n";
  }
  out += "  local state line\n  local -a commands\n  commands=(\n";
  for (const auto& command : tool.commands)
    out += "    " + shell_quoted(zsh_text(command.name) + ":" + command.help) + "\n";
  out += "  )\n  _arguments -s -C";
  zsh_options(out, tool.options, "    ");
  out +=
      " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n"
      "      _describe command commands\n";
  if (!tool.positionals.empty())
    out += "      " + zsh_action(tool.positionals.front().value) + "\n";
  out += "      ;;\n    rest)\n      case $line[1] in\n";
  for (const auto& command : tool.commands) {
    out += "        " + command.name + ") _arguments -s";
    zsh_options(out, command.options, "          ");
    zsh_options(out, tool.options, "          ");
    zsh_positionals(out, command, "          ");
    out += " ;;\n";
  }
  if (!tool.positionals.empty())
    out += "        *) " + zsh_action(tool.positionals.front().value) + " ;;\n";
  return out + "      esac ;;\n  esac\n}\n" + function_name(name) + " \"$@\"\n";
}

}  // namespace hipplan::tools
