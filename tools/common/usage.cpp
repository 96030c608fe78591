#include "common/usage.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/join.h"
#include "base/spelling.h"

namespace hipplan::tools {
namespace {

using Words = std::vector<std::string>;

bool is_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && word != "--";
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* command : commands_of(app)) out.push_back(command->get_name());
  return out;
}

/// The tool, or the command that was named.
const CLI::App& parsed_app(const CLI::App& app) {
  for (const CLI::App* command : commands_of(app))
    if (command->parsed()) return *command;
  return app;
}

std::string called(const CLI::App& app) {
  const CLI::App& in = parsed_app(app);
  return &in == &app ? app.get_name() : app.get_name() + " " + in.get_name();
}

/// The option, of the tool or of its named command, that `word` is the name of.
const CLI::Option* option_of(const CLI::App& app, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const CLI::Option* option = parsed_app(app).get_option_no_throw(name);
  return option != nullptr ? option : app.get_option_no_throw(name);
}

bool is_flag(const CLI::Option& option) {
  return option.get_expected_max() == 0;
}

/// "it belongs to the command sign"; empty where no command has it.
std::string owner(const CLI::App& app, const std::string& name) {
  std::vector<std::string> owners;
  for (const CLI::App* command : commands_of(app)) {
    if (command->get_option_no_throw(name) != nullptr) owners.push_back(command->get_name());
  }
  if (owners.empty()) return "";
  return (owners.size() > 1 ? "it belongs to the commands " : "it belongs to the command ") +
         joined(owners);
}

/// The option of the tool, or of the command that was named, whose name is most like `name`.
std::string nearest_option(const CLI::App& app, const std::string& name) {
  const size_t letters = name.find_first_not_of('-');
  if (letters == std::string::npos) return "";
  NearestWord nearest(name.substr(letters));
  const auto look = [&](const CLI::App& in) {
    for (const CLI::Option* option : in.get_options())
      for (const auto& known : option->get_lnames()) nearest.look(known);
  };
  look(app);
  if (&parsed_app(app) != &app) look(parsed_app(app));
  return nearest.word().empty() ? "" : "the nearest option is --" + nearest.word();
}

Error unknown_option(const CLI::App& app, const std::string& word) {
  constexpr size_t kLongestName = 40;
  const std::string name = word.substr(0, std::min(word.find('='), kLongestName));
  const CLI::App& command = parsed_app(app);
  if (&command != &app && command.get_option_no_throw(name) != nullptr)
    return {.where = name,
            .what = "stands in front of its command",
            .expected = "it behind " + command.get_name()};
  Error out{.where = name, .what = "is not an option of " + called(app)};
  out.advice = owner(app, name);
  if (out.advice.empty()) out.advice = nearest_option(app, name);
  return out;
}

/// A word that stands where a command could, and is nearly one.
std::optional<Error> misspelt_command(const CLI::App& app, const Words& words) {
  const auto commands = names_of_commands(app);
  if (commands.empty() || &parsed_app(app) != &app) return std::nullopt;
  for (const auto& word : words) {
    std::error_code ignored;
    if (is_option(word) || std::filesystem::exists(word, ignored)) continue;
    NearestWord nearest(word);
    for (const auto& command : commands) nearest.look(command);
    if (!nearest.word().empty())
      return Error{
          .where = word, .what = "is not a command", .advice = "the nearest is " + nearest.word()};
  }
  return std::nullopt;
}

/// An argument that is one too many: behind an option that takes one value, or at all.
Error unexpected_word(const CLI::App& app, const std::string& word, const Words& words) {
  Error out{.where = word, .what = "is one argument too many for " + called(app)};
  auto before = std::find(words.rbegin(), words.rend(), word);
  if (before == words.rend()) return out;
  before = std::find_if(before, words.rend(), is_option);
  const CLI::Option* option = before == words.rend() ? nullptr : option_of(app, *before);
  if (option == nullptr || is_flag(*option)) return out;
  const std::string name = "--" + option->get_lnames().front();
  const std::string value = option->get_type_name();
  out.what = "is one value too many behind " + name;
  out.expected = "one value behind it";
  if (value == "TARGET")
    out.advice = "targets stand in one list with commas: " + name + " gfx942,gfx1100";
  else if (option->get_expected_max() > 1)
    out.advice = cat("write ", name, " before each: ", name, " ", value, " ", name, " ", value);
  return out;
}

/// Of the words that nothing takes, the one that tells most.
Error unexpected(const CLI::App& app, const Words& words) {
  if (auto command = misspelt_command(app, words)) return *std::move(command);
  const auto left = app.remaining(true);
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  if (option != left.end()) return unknown_option(app, *option);
  const auto word = std::find_if(left.begin(), left.end(), [](const auto& w) { return w != "--"; });
  return unexpected_word(app, word == left.end() ? "--" : *word, words);
}

Error missing(const CLI::App& app, const std::string& raw, const Words& words) {
  const auto left = app.remaining(true);
  if (std::any_of(left.begin(), left.end(), is_option)) return unexpected(app, words);
  constexpr std::string_view kIsRequired = " is required";
  if (raw.starts_with("A subcommand")) {
    if (auto command = misspelt_command(app, words)) return *std::move(command);
    const std::string list = "one of " + joined(names_of_commands(app));
    const auto word = std::find_if_not(words.begin(), words.end(), is_option);
    if (word != words.end()) return {.where = *word, .what = "is not a command", .expected = list};
    return {.what = "no command given", .expected = list};
  }
  if (!raw.ends_with(kIsRequired)) return {.what = raw};
  return {.what = "no " + raw.substr(0, raw.size() - kIsRequired.size()) + " given"};
}

/// "--seed: '-1' is not a whole number" in two parts.
Error in_two(const std::string& raw) {
  const size_t colon = raw.find(": ");
  if (colon == std::string::npos) return {.what = raw};
  return {.where = raw.substr(0, colon), .what = raw.substr(colon + 2)};
}

/// An option without its value, or with several.
Error wrong_count(const CLI::App& app, const std::string& raw) {
  Error out = in_two(raw);
  const CLI::Option* option = option_of(app, out.where);
  const std::string value = option == nullptr ? "" : option->get_type_name();
  if (out.what.ends_with(" missing")) {
    out.what = "its value is missing";
    out.expected = value.empty() ? "" : out.where + " " + value;
  } else if (out.what.starts_with("At Most") || out.what.starts_with("At most")) {
    out.what = "is given twice";
    out.expected = "once";
  }
  return out;
}

/// A value that is no number, or one behind a flag.
Error wrong_value(const CLI::App& app, const std::string& raw) {
  constexpr std::string_view kConvert = "Could not convert: ",
                             kFlag = " is not an allowed value for ";
  const size_t equals = raw.find(" = "), flag = raw.find(kFlag);
  if (raw.starts_with(kConvert) && equals != std::string::npos) {
    const std::string name = raw.substr(kConvert.size(), equals - kConvert.size());
    const CLI::Option* option = option_of(app, name);
    const bool flag_only = option != nullptr && is_flag(*option);
    return {
        .where = name,
        .what = flag_only ? "takes no value" : "'" + raw.substr(equals + 3) + "' is not a number"};
  }
  if (flag != std::string::npos)
    return {.where = raw.substr(flag + kFlag.size()), .what = "takes no value"};
  Error out = in_two(raw);
  if (out.what.starts_with("Should be true/false")) out.what = "takes no value";
  return out;
}

/// "--plan excludes --code".
Error exclusion(const std::string& raw) {
  constexpr std::string_view kExcludes = " excludes ";
  const size_t at = raw.find(kExcludes);
  if (at == std::string::npos) return {.what = raw};
  return {.where = raw.substr(0, at),
          .what = "cannot be given with " + raw.substr(at + kExcludes.size()),
          .expected = "one of them"};
}

Error fault_of(const CLI::ParseError& error, const CLI::App& app, const Words& words) {
  const std::string raw = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return unexpected(app, words);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return missing(app, raw, words);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return wrong_count(app, raw);
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return wrong_value(app, raw);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return exclusion(raw);
  return in_two(raw);
}

}  // namespace

Error usage_fault(const CLI::ParseError& error, const CLI::App& app, const Words& words) {
  Error out = fault_of(error, app, words);
  out.code = Code::bad_input;
  out.reason = "usage";
  return out;
}

}  // namespace hipplan::tools
