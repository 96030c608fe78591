#include "common/unexpected.h"

#include <algorithm>
#include <vector>

#include "base/spelling.h"

namespace hipplan::tools {
namespace {

bool has_option(const CLI::App& app, const std::string& name) {
  return app.get_option_no_throw(name) != nullptr;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "--key belongs to the command sign", or where among the words it stands when that was named.
std::string owner(const CLI::App& app, const std::string& name) {
  std::string owners;
  for (const CLI::App* command : commands_of(app)) {
    if (!has_option(*command, name)) continue;
    if (command->parsed()) return name + " stands behind its command, " + command->get_name();
    owners += (owners.empty() ? "" : ", ") + command->get_name();
  }
  const bool several = owners.find(',') != std::string::npos;
  if (owners.empty()) return "";
  return name + (several ? " belongs to the commands " : " belongs to the command ") + owners;
}

/// The option of the tool, or of the commands that were named, whose name is most like `name`.
std::string nearest(const CLI::App& app, const std::string& name) {
  constexpr size_t kMostSlips = 2, kLeastLetters = 4;
  std::string out;
  size_t least = kMostSlips + 1;
  const auto look = [&](const CLI::App& in) {
    for (const CLI::Option* option : in.get_options())
      for (const auto& known : option->get_lnames()) {
        const size_t slips = edit_distance("--" + known, name);
        if (known.size() < kLeastLetters || slips >= least) continue;
        least = slips;
        out = "--" + known;
      }
  };
  look(app);
  for (const CLI::App* command : commands_of(app))
    if (command->parsed()) look(*command);
  return out;
}

}  // namespace

std::string advice_on_unexpected(const CLI::App& app) {
  constexpr size_t kLongestName = 40;
  for (const std::string& word : app.remaining(true)) {
    if (word.size() < 2 || word[0] != '-' || word == "--") continue;
    const std::string name = word.substr(0, std::min(word.find('='), kLongestName));
    if (auto said = owner(app, name); !said.empty()) return said;
    if (const auto like = nearest(app, name); !like.empty()) return "the nearest option is " + like;
    return "";
  }
  return "";
}

}  // namespace hipplan::tools
