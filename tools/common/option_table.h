// The options of a tool as plain data: what help, completion scripts and manual pages are made
// from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace hipplan::tools {

/// One option, flag or positional argument.
struct OptionRow {
  std::vector<std::string> names;  ///< "--target", "-t": long ones first; empty: positional
  std::string value;               ///< "TARGET", "bash|zsh|fish"; empty for flags
  std::string help, group, environment, fallback;
  bool required = false, repeats = false;
  [[nodiscard]] bool takes_value() const { return !value.empty(); }
};

/// A tool, or one of its commands.
struct CommandRow {
  std::string name, help;
  std::string usage;  ///< arguments that must be given, the app's footer; empty: made from the rows
  std::vector<OptionRow> positionals, options;
  std::vector<CommandRow> commands;
};

/// What a whole program says about itself besides its options.
struct Example {
  std::string command, meaning;
};
struct About {
  std::string name, summary;
  std::string usage;        ///< arguments after the name; empty: made from the table
  std::string description;  ///< paragraphs for the manual page
  std::vector<Example> examples;
};

/// Hidden options (those of the empty group) are left out.
[[nodiscard]] CommandRow table_of(const CLI::App& app);

/// "GRAPH...", "[FILE...]", "--output FOLDER": how an argument stands in a usage line.
[[nodiscard]] std::string usage_of(const CommandRow& command);
/// "-t, --target TARGET..."
[[nodiscard]] std::string names_of(const OptionRow& option);

/// What a value may be, by its name in the table.
enum class ValueKind { free, file, folder, graph, plan, assignment, target, device, engine, words };
[[nodiscard]] ValueKind kind_of(const std::string& value);
/// The words of "bash|zsh|fish".
[[nodiscard]] std::vector<std::string> words_of(const std::string& value);

/// Exit statuses with their meanings, the same for every tool.
struct StatusRow {
  const char *status, *meaning;
};
[[nodiscard]] const std::vector<StatusRow>& status_table();

/// Text of --help for the tool (`command` is its whole table) or one command of it.
[[nodiscard]] std::string help_text(const About& about, const CommandRow& tool,
                                    const CommandRow& command);
/// Manual page of section 1 in the man macros.
[[nodiscard]] std::string manual_page(const About& about, const CommandRow& tool,
                                      const std::string& version);
/// A script for "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(const std::string& name, const CommandRow& tool,
                                            const std::string& shell);

}  // namespace hipplan::tools
