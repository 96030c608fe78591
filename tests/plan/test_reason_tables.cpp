// The reasons' tables, the document's and the code's, say the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

#include "base/file.h"
#include "reason_facts.h"

using namespace hipplan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

struct DocumentedReason {
  std::string reason, error_class;
};

/// The reasons in the tables of docs/plan-format.md that start with this line, in their order.
/// "a, b; then c (unusable)" stands for a and b of the row's class and c of the other.
std::vector<DocumentedReason> documented(const std::string& head) {
  std::ifstream file(fs::path(HIPPLAN_SOURCE_DIR) / "docs/plan-format.md");
  const std::regex row(R"(\| ([^|]*) \| ([^|]*) \| ([^|]*) \|)"), note(R"(\(([^)]*)\))"),
      word(R"([a-z0-9]+(-[a-z0-9]+)*)");
  std::vector<DocumentedReason> out;
  std::string line;
  while (std::getline(file, line) && line != head) {
  }
  REQUIRE(std::getline(file, line));
  std::smatch cells;
  while (std::getline(file, line) && std::regex_match(line, cells, row)) {
    std::istringstream groups(cells[2].str());
    for (std::string group; std::getline(groups, group, ';');) {
      std::string own_class = cells[3].str();
      std::smatch said;
      if (std::regex_search(group, said, note) &&
          said[1].str().find_first_of(" ,") == std::string::npos)
        own_class = said[1];
      const std::string reasons = std::regex_replace(group, note, "");
      for (std::sregex_iterator it(reasons.begin(), reasons.end(), word), end; it != end; ++it)
        if (it->str() != "then") out.push_back({it->str(), own_class});
    }
  }
  for (auto& found : out)
    if (found.error_class == "bad input") found.error_class = "bad-input";
  return out;
}

}  // namespace

TEST_CASE("the document's table of checks is the list of reasons") {
  std::vector<std::string> listed;
  for (const auto& facts : commands::verify_reasons()) listed.emplace_back(facts.reason);
  const auto code_signature = std::find(listed.begin(), listed.end(), "code-signature");
  REQUIRE(code_signature != listed.end());
  listed.erase(code_signature + 1, listed.end());
  listed.emplace_back("driver-load");
  std::vector<std::string> told;
  for (const auto& [reason, error_class] : documented("| check | reasons | class |")) {
    const auto* facts = facts_of(reason);
    REQUIRE_MESSAGE(facts != nullptr, reason);
    CHECK_MESSAGE(facts->error_class == error_class, reason);
    if (std::find(told.begin(), told.end(), reason) == told.end()) told.push_back(reason);
  }
  CHECK(told == listed);
}

TEST_CASE("the document's table of other refusals is that of writers, choices and bundles") {
  std::set<std::string> told, listed;
  for (const auto& [reason, error_class] : documented("| asked for | reasons | class |"))
    told.insert(reason + " " + error_class);
  const auto add = [&](const auto& table) {
    for (const auto& facts : table)
      listed.insert(std::string(facts.reason) + " " + std::string(facts.error_class));
  };
  add(plan::kBundleReasons);
  add(plan::kWriteReasons);
  CHECK(joined(told) == joined(listed));
}

TEST_CASE("reasons are listed once, with a class and a meaning") {
  std::set<std::string_view> seen;
  for (const auto& facts : commands::verify_reasons()) {
    INFO(facts.reason);
    CHECK(seen.insert(facts.reason).second);
    CHECK(!facts.error_class.empty());
    CHECK(facts.meaning.size() > 10);
  }
}

TEST_CASE("every reason in the code that verification runs is listed") {
  // lib/plan makes errors from its tables only; the compiler sees to that.
  const std::regex reason(
      R"re((?:reason = |Code::\w+,\s*|(?:damaged|unusable|unusable_code|bad_input|machine|fault|refuse|negative|bad_argument)\((?:[\w.*]+, )?)"([a-z0-9]+(?:-[a-z0-9]+)*)")re");
  const fs::path lib = fs::path(HIPPLAN_SOURCE_DIR) / "lib";
  std::vector<fs::path> files;
  for (const char* folder : {"restore", "codeobject", "device", "target", "base", "reference"})
    for (const auto& entry : fs::recursive_directory_iterator(lib / folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".h")
        files.push_back(entry.path());
  for (const char* name : {"commands/verify.cpp", "commands/execution.cpp", "commands/targets.cpp",
                           "commands/io.cpp", "run/judge.cpp", "run/compare.cpp"})
    files.push_back(lib / name);
  size_t found = 0;
  for (const auto& path : files) {
    const auto bytes = read_file(path);
    REQUIRE(bytes);
    const std::string text(as_text(*bytes));
    for (std::sregex_iterator it(text.begin(), text.end(), reason), end; it != end; ++it) {
      ++found;
      CHECK_MESSAGE(facts_of((*it)[1]) != nullptr, path.string() << ": " << (*it)[1].str());
    }
  }
  CHECK(found > 50);
}
