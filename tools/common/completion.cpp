#include "common/completion.h"

#include <vector>

namespace hipplan::tools {
namespace {

struct Word {
  std::string text, help;
};

std::vector<Word> words_of(const CLI::App& app) {
  std::vector<Word> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames())
      out.push_back({"--" + name, option->get_description()});
    for (const auto& name : option->get_snames())
      out.push_back({"-" + name, option->get_description()});
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    out.push_back({command->get_name(), command->get_description()});
    for (auto& word : words_of(*command))
      if (word.text != "-h" && word.text != "--help") out.push_back(std::move(word));
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

std::string bash(const std::vector<Word>& words, const std::string& name) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : " ") + word.text;
  std::string function = "_" + name;
  for (char& c : function) c = c == '-' ? '_' : c;
  return function + "() {\n  COMPREPLY=($(compgen -W '" + list +
         "' -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\ncomplete -o default -F " + function + " " +
         name + "\n";
}

std::string zsh(const std::vector<Word>& words, const std::string& name) {
  std::string out = "#compdef " + name + "\nlocal -a words_of_tool\nwords_of_tool=(\n";
  for (const auto& word : words) out += "  '" + word.text + ":" + quoted(word.help) + "'\n";
  return out + ")\n_describe '" + name + "' words_of_tool\n_files\n";
}

std::string fish(const std::vector<Word>& words, const std::string& name) {
  std::string out;
  for (const auto& word : words) {
    out += "complete -c " + name;
    if (word.text.rfind("--", 0) == 0)
      out += " -l " + word.text.substr(2);
    else if (word.text[0] == '-')
      out += " -s " + word.text.substr(1);
    else
      out += " -a " + word.text;
    out += " -d '" + quoted(word.help) + "'\n";
  }
  return out;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& name,
                              const std::string& shell) {
  const auto words = words_of(app);
  if (shell == "bash") return bash(words, name);
  return shell == "zsh" ? zsh(words, name) : fish(words, name);
}

}  // namespace hipplan::tools
