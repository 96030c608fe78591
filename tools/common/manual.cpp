// The manual page in the man macros.
#include <algorithm>

#include "common/option_table.h"

namespace hipplan::tools {
namespace {

/// Text as roff reads it back: backslashes, hyphens of options, and what starts a request.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

std::string bold(const std::string& text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string term(const OptionRow& option) {
  std::string out;
  for (auto name = option.names.rbegin(); name != option.names.rend(); ++name)
    out += (out.empty() ? "" : ", ") + bold(*name);
  if (option.takes_value())
    out += (out.empty() ? "" : " ") + ("\\fI" + roff(option.value) + "\\fR");
  return out;
}

void append_options(std::string& out, const std::vector<OptionRow>& options) {
  for (const auto& option : options) {
    out += ".TP\n" + term(option) + "\n" + roff(option.help) + ".";
    if (option.repeats && !option.names.empty()) out += " May be given several times.";
    if (!option.fallback.empty()) out += " Default: " + roff(option.fallback) + ".";
    if (!option.environment.empty())
      out += " Without it the environment variable " + bold(option.environment) + " counts.";
    out += "\n";
  }
}

std::vector<OptionRow> of_group(const CommandRow& tool, bool common) {
  std::vector<OptionRow> out;
  for (const auto& option : tool.options)
    if ((option.group == "Common") == common) out.push_back(option);
  return out;
}

void append_commands(std::string& out, const CommandRow& tool, const std::string& name) {
  if (tool.commands.empty()) return;
  out += ".SH COMMANDS\n";
  for (const auto& command : tool.commands) {
    out += ".SS " + bold(command.name) + "\n" + bold(name + " " + command.name) +
           roff(usage_of(command)) + "\n.PP\n" + roff(command.help) + ".\n";
    append_options(out, command.positionals);
    for (const auto& option : command.options)
      if (option.names.front() != "--help") append_options(out, {option});
  }
}

void append_paragraphs(std::string& out, const std::string& text) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += (at == 0 ? "" : ".PP\n") + roff(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
}

}  // namespace

std::string manual_page(const About& about, const CommandRow& tool, const std::string& version) {
  std::string upper = about.name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  std::string out = ".TH " + roff(upper) + " 1 \"\" \"hipplan " + version + "\" \"hipplan\"\n";
  out += ".SH NAME\n" + roff(about.name) + " \\- " + roff(about.summary) + "\n";
  out += ".SH SYNOPSIS\n" + bold(about.name) +
         roff(about.usage.empty() ? usage_of(tool) : " " + about.usage) + " [\\fIOPTION\\fR...]\n";
  out += ".SH DESCRIPTION\n";
  append_paragraphs(out, about.description);
  append_options(out, tool.positionals);
  append_commands(out, tool, about.name);
  const auto own = of_group(tool, false), common = of_group(tool, true);
  if (!own.empty()) out += ".SH OPTIONS\n";
  append_options(out, own);
  out += ".SH COMMON OPTIONS\n";
  append_options(out, common);
  out += ".SH EXIT STATUS\n";
  for (const auto& row : status_table())
    out += ".TP\n" + bold(row.status) + "\n" + roff(row.meaning) + "\n";
  out += ".PP\nWith several inputs the worst counts, in the order 130 6 3 5 4 2 1 0.\n";
  if (!about.examples.empty()) out += ".SH EXAMPLES\n";
  for (const auto& example : about.examples)
    out += ".PP\n" + roff(example.meaning) + ":\n.PP\n.EX\n" + roff(example.command) + "\n.EE\n";
  out += ".SH SEE ALSO\n";
  std::string others;
  for (const std::string other : {"build", "inspect", "pack", "run", "verify"})
    if (about.name != "hipplan-" + other)
      others += (others.empty() ? "" : ",\n") + (".BR hipplan\\-" + other + " (1)");
  return out + others + "\n";
}

}  // namespace hipplan::tools
