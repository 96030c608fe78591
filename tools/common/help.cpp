// The text of --help.
#include <algorithm>

#include "common/option_table.h"

namespace hipplan::tools {
namespace {

constexpr size_t kColumn = 28, kWidth = 96;

/// Appends `text` from column kColumn on, broken between words; what is written already starts at
/// column 0.
void append_column(std::string& out, size_t written, const std::string& text) {
  size_t column = written;
  const auto next_line = [&] {
    out += "\n" + std::string(kColumn, ' ');
    column = kColumn;
  };
  if (written + 2 > kColumn)
    next_line();
  else
    out.append(kColumn - written, ' ');
  column = kColumn;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (column > kColumn && column + 1 + (end - at) > kWidth) next_line();
    if (column > kColumn) out += ' ', ++column;
    out.append(text, at, end - at);
    column += end - at;
    at = end + 1;
  }
  out += "\n";
}

void append_row(std::string& out, const std::string& name, const std::string& help) {
  out += "  " + name;
  append_column(out, name.size() + 2, help);
}

std::string help_of(const OptionRow& option) {
  std::string out = option.help;
  if (!option.fallback.empty()) out += " (default: " + option.fallback + ")";
  if (!option.environment.empty()) out += " (environment: " + option.environment + ")";
  return out;
}

/// The options of each group under its heading, in order of their first member.
void append_options(std::string& out, const CommandRow& command) {
  std::vector<std::string> groups;
  for (const auto& option : command.options)
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  // What is common to all tools comes last.
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != "Common"; });
  for (const auto& group : groups) {
    out += "\n" + (group == "Common" ? "Common options" : group) + ":\n";
    for (const auto& option : command.options)
      if (option.group == group) append_row(out, names_of(option), help_of(option));
  }
}

}  // namespace

std::string help_text(const About& about, const CommandRow& tool, const CommandRow& command) {
  const bool whole = &tool == &command;
  std::string out = (whole ? about.summary : command.help) + ".\n\nUsage: " + about.name;
  if (!whole) out += " " + command.name;
  out += whole && !about.usage.empty() ? " " + about.usage : usage_of(command);
  out += " [OPTION...]\n";
  if (!command.positionals.empty()) out += "\n";
  for (const auto& argument : command.positionals)
    append_row(out, names_of(argument), argument.help);
  if (!command.commands.empty()) out += "\nCommands:\n";
  for (const auto& inner : command.commands) append_row(out, inner.name, inner.help);
  append_options(out, command);
  if (!whole) return out + "\nThe common options of " + about.name + " --help are taken too.\n";
  if (!about.examples.empty()) out += "\nExamples:\n";
  for (const auto& example : about.examples)
    out += "  " + example.command + "\n      " + example.meaning + "\n";
  out += "\nExit status:\n";
  for (const auto& row : status_table())
    out += "  " + std::string(row.status) + std::string(10 - std::string(row.status).size(), ' ') +
           row.meaning + "\n";
  if (!command.commands.empty())
    out += "\n" + about.name + " COMMAND --help tells more about a command.\n";
  return out;
}

}  // namespace hipplan::tools
