#include "common/option_table.h"

#include <algorithm>
#include <map>

namespace hipplan::tools {
namespace {

/// The name of the value without what checks add to it behind a colon; "A[:B]" is all name.
std::string value_name(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  const std::string name = option.get_type_name();
  size_t end = name.find(':');
  while (end != std::string::npos && end > 0 && name[end - 1] == '[') end = name.find(':', end + 1);
  return name.substr(0, end);
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row;
  for (const auto& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const auto& name : option.get_snames()) row.names.push_back("-" + name);
  row.value = value_name(option);
  row.help = option.get_description();
  row.group = option.get_group();
  row.environment = option.get_envname();
  row.fallback = option.get_default_str();
  row.required = option.get_required();
  row.repeats = row.takes_value() && option.get_expected_max() > 1;
  return row;
}

}  // namespace

CommandRow table_of(const CLI::App& app) {
  CommandRow out;
  out.name = app.get_name();
  out.help = app.get_description();
  out.usage = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    auto row = row_of(*option);
    (row.names.empty() ? out.positionals : out.options).push_back(std::move(row));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    out.commands.push_back(table_of(*command));
  return out;
}

std::string names_of(const OptionRow& option) {
  std::string out;
  for (auto name = option.names.rbegin(); name != option.names.rend(); ++name)
    out += (out.empty() ? "" : ", ") + *name;
  if (option.takes_value()) out += (out.empty() ? "" : " ") + option.value;
  return out + (option.repeats ? "..." : "");
}

std::string usage_of(const CommandRow& command) {
  if (!command.usage.empty()) return " " + command.usage;
  std::string out;
  for (const auto& argument : command.positionals) {
    const std::string word = argument.value + (argument.repeats ? "..." : "");
    out += " " + (argument.required ? word : "[" + word + "]");
  }
  for (const auto& option : command.options)
    if (option.required) out += " " + option.names.front() + " " + option.value;
  return out;
}

ValueKind kind_of(const std::string& value) {
  if (value.find('|') != std::string::npos) return ValueKind::words;
  static const std::map<std::string, ValueKind> kKinds = {
      {"FILE", ValueKind::file},           {"FOLDER", ValueKind::folder},
      {"GRAPH", ValueKind::graph},         {"PLAN", ValueKind::plan},
      {"UID=FILE", ValueKind::assignment}, {"TARGET", ValueKind::target},
      {"DEVICE", ValueKind::device},       {"ENGINE", ValueKind::engine},
  };
  const auto found = kKinds.find(value);
  return found == kKinds.end() ? ValueKind::free : found->second;
}

std::vector<std::string> words_of(const std::string& value) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= value.size();) {
    const size_t end = std::min(value.find('|', at), value.size());
    out.push_back(value.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

const std::vector<StatusRow>& status_table() {
  static const std::vector<StatusRow> kTable = {
      {"0", "done; same; valid; within tolerance"},
      {"1", "the answer is no: differs, not served, wrong result"},
      {"2", "usage, or an input that is not what it should be"},
      {"3", "damaged: the bytes are not what was written"},
      {"4", "valid but unusable here: version, provider, target, device, handler"},
      {"5", "untrusted: signature missing, wrong or by an unknown key"},
      {"6", "the machine failed: no device, out of memory, disk full"},
      {"130, 143", "interrupted; nothing half-written stays"},
      {"141", "ended by SIGPIPE: who read standard output has gone"},
  };
  return kTable;
}

}  // namespace hipplan::tools
