// The completion script for bash.
#include "common/completion.h"

namespace hipplan::tools {
namespace {

/// The word that stands for a value in the scripts: "target", "file", "words a b c".
std::string kind_word(const std::string& value) {
  switch (kind_of(value)) {
    case ValueKind::free:
      return "nothing";
    case ValueKind::file:
      return "file";
    case ValueKind::folder:
      return "folder";
    case ValueKind::graph:
      return "graph";
    case ValueKind::plan:
      return "plan";
    case ValueKind::assignment:
      return "assignment";
    case ValueKind::target:
      return "target";
    case ValueKind::device:
      return "device";
    case ValueKind::engine:
      return "engine";
    case ValueKind::words:
      return "words " + joined(words_of(value), " ");
  }
  return "nothing";
}

std::string positional_kind(const CommandRow& command) {
  return command.positionals.empty() ? "nothing" : kind_word(command.positionals.front().value);
}

constexpr const char* kBashHead = R"sh(
# _hipplan_values WORD KIND [WORDS...]: fills COMPREPLY with what WORD may become.
_hipplan_values() {
  local word=$1 kind=$2 before= list= matches= i
  shift 2
  case $kind in
    target) list=$(hipplan-inspect --quiet list targets 2>/dev/null | while read -r arch name _; do echo "$arch $name"; done)
      if [[ $word == *,* ]]; then before=${word%,*},; word=${word##*,}; fi ;;
    device) list="auto $(hipplan-inspect --quiet list devices 2>/dev/null | while read -r name _; do echo "$name"; [[ $name != emulator:* ]] || echo "null:${name#*:}"; done)" ;;
    engine) list=$(hipplan-inspect --quiet list engines 2>/dev/null | while read -r name _; do echo "$name"; done) ;;
    words) list=$* ;;
    assignment) if [[ $word != *=* ]]; then return; fi
      before=${word%%=*}=; word=${word#*=}; kind=file ;;
  esac
  case $kind in
    target|device|engine|words) mapfile -t COMPREPLY < <(compgen -P "$before" -W "$list" -- "$word") ;;
    folder) mapfile -t COMPREPLY < <(compgen -d -- "$word"); compopt -o filenames 2>/dev/null ;;
    plan|graph|file)
      case $kind in
        plan) matches=$(for i in hplan tar.zst co; do compgen -f -X "!*.$i" -- "$word"; done; compgen -d -- "$word") ;;
        graph) matches=$(compgen -f -X '!*.json' -- "$word"; compgen -d -- "$word") ;;
      esac
      [[ -n $matches ]] || matches=$(compgen -P "$before" -f -- "$word")
      [[ -z $matches ]] || mapfile -t COMPREPLY <<<"$matches"
      compopt -o filenames 2>/dev/null ;;
  esac
  return 0
}
)sh";

constexpr const char* kBashBody = R"sh(
  local line=${COMP_LINE:0:COMP_POINT} words= current= previous= command= word= i
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then words+=(''); fi
  current=${words[${#words[@]}-1]}
  previous=${words[${#words[@]}-2]}
  if [[ $current == --*=* ]]; then previous=${current%%=*}; current=${current#*=}; fi
  COMPREPLY=()
)sh";

/// bash replaces only what follows the last ':' or '='; the rest must not be repeated.
constexpr const char* kBashTail = R"sh(
  if [[ $COMP_WORDBREAKS == *:* && $current == *[:=]* ]]; then
    word=${current%"${current##*[:=]}"}
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$word"}; done
  fi
}
)sh";

/// One line per option that takes a value: when it stands before the cursor, its kind is completed.
void bash_values(std::string& out, const std::string& command,
                 const std::vector<OptionRow>& options) {
  for (const auto& option : options) {
    if (!option.takes_value()) continue;
    std::vector<std::string> patterns;
    for (const auto& name : option.names)
      patterns.push_back(command == "*" ? "*' " + name + "'" : shell_quoted(command + " " + name));
    out += "    " + joined(patterns, "|") + ") _hipplan_values \"$current\" " +
           kind_word(option.value) + " ;;\n";
  }
}

std::string option_names(const std::vector<OptionRow>& options) {
  std::string out;
  for (const auto& option : options) out += (out.empty() ? "" : " ") + joined(option.names, " ");
  return out;
}

}  // namespace

std::string bash_script(const std::string& name, const CommandRow& tool) {
  std::vector<std::string> commands;
  for (const auto& command : tool.commands) commands.push_back(command.name);
  std::string out =
      "# bash completion for " + name + kBashHead + function_name(name) + "() {" + kBashBody;
  if (!commands.empty())
    out += "  for word in \"${words[@]:1:${#words[@]}-2}\"; do\n    case $word in " +
           joined(commands, "|") + ") command=$word; break ;; esac\n  done\n";
  out += "  case \"$command $previous\" in\n";
  for (const auto& command : tool.commands) bash_values(out, command.name, command.options);
  bash_values(out, "*", tool.options);
  out += "    *)\n      if [[ $current == -* ]]; then\n        word=" +
         shell_quoted(option_names(tool.options)) + "\n        case $command in\n";
  for (const auto& command : tool.commands)
    out += "          " + command.name +
           ") word+=" + shell_quoted(" " + option_names(command.options)) + " ;;\n";
  out +=
      "        esac\n        _hipplan_values \"$current\" words \"$word\"\n      else\n"
      "        case $command in\n";
  for (const auto& command : tool.commands) {
    out +=
        "          " + command.name + ") _hipplan_values \"$current\" " + positional_kind(command);
    // Behind the word may be a file.
    if (positional_kind(command).starts_with("words "))
      out += "; [[ ${#COMPREPLY[@]} -gt 0 ]] || _hipplan_values \"$current\" plan";
    out += " ;;\n";
  }
  out += "          *) _hipplan_values \"$current\" " + positional_kind(tool);
  if (!commands.empty())
    out += "\n            mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -W " +
           shell_quoted(joined(commands, " ")) + " -- \"$current\")";
  return out + " ;;\n        esac\n      fi ;;\n  esac" + kBashTail + "complete -F " +
         function_name(name) + " " + name + "\n";
}

}  // namespace hipplan::tools
