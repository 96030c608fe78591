// The completion script for fish.
#include "common/completion.h"

namespace hipplan::tools {
namespace {

constexpr const char* kFishHead = R"sh(
function __hipplan_asked
  switch $argv[1]
    case targets
      hipplan-inspect --quiet list targets 2>/dev/null | string replace -r '^(\S+)\s+(\S+).*' '$1\n$2'
    case devices
      echo auto
      hipplan-inspect --quiet list devices 2>/dev/null | string replace -r '\s.*' ''
    case engines
      hipplan-inspect --quiet list engines 2>/dev/null | string replace -r '\s.*' ''
  end
end
)sh";

std::string fish_values(const std::string& value) {
  switch (kind_of(value)) {
    case ValueKind::free:
      return " -x";
    case ValueKind::file:
    case ValueKind::assignment:
    case ValueKind::graph:
    case ValueKind::plan:
      return " -r -F";
    case ValueKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::target:
      return " -x -a '(__fish_append , (__hipplan_asked targets))'";
    case ValueKind::device:
      return " -x -a '(__hipplan_asked devices)'";
    case ValueKind::engine:
      return " -x -a '(__hipplan_asked engines)'";
    case ValueKind::words:
      return " -x -a '" + joined(words_of(value), " ") + "'";
  }
  return "";
}

void fish_options(std::string& out, const std::string& head,
                  const std::vector<OptionRow>& options) {
  for (const auto& option : options) {
    out += head;
    for (const auto& name : option.names)
      out += name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1);
    out += (option.takes_value() ? fish_values(option.value) : "") + " -d " +
           shell_quoted(option.help) + "\n";
  }
}

}  // namespace

std::string fish_script(const std::string& name, const CommandRow& tool) {
  const std::string head = "complete -c " + name;
  std::string out = "# fish completion for " + name + kFishHead;
  for (const auto& command : tool.commands)
    out += head + " -n __fish_use_subcommand -a " + command.name + " -d " +
           shell_quoted(command.help) + "\n";
  fish_options(out, head, tool.options);
  for (const auto& command : tool.commands) {
    const std::string inside = head + " -n '__fish_seen_subcommand_from " + command.name + "'";
    fish_options(out, inside, command.options);
    if (!command.positionals.empty() &&
        kind_of(command.positionals.front().value) == ValueKind::words)
      // Not -x: behind the word may be a file.
      out += inside + " -a '" + joined(words_of(command.positionals.front().value), " ") + "'\n";
  }
  return out;
}

}  // namespace hipplan::tools
