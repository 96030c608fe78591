// Every check has a reason, a file that fails this check alone, and its place before the next one.
#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>

#include "baked.h"
#include "commands/reasons.h"
#include "draft.h"
#include "restore/restore.h"

using namespace hipplan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string check, reason;
  std::vector<Edit> edits;
  bool lookup = false, anywhere = false;
};

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<Case> read_cases() {
  std::ifstream file(fs::path(HIPPLAN_SOURCE_DIR) / "tests/plan/bad_plans.txt");
  std::vector<Case> out;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t one = line.find('|'), two = line.find('|', one + 1);
    Case made{trimmed(line.substr(0, one)), trimmed(line.substr(one + 1, two - one - 1)), {}};
    for (auto& edit : parse_edits(line.substr(two + 1))) {
      made.lookup |= edit.level == "mode" && edit.operation == "lookup";
      made.anywhere |= edit.level == "mode" && edit.operation == "anywhere";
      made.edits.push_back(edit);
    }
    out.push_back(std::move(made));
  }
  return out;
}

struct Plans {
  plan::Plan good = baked_plan(sample_graph(), "gfx942");
  plan::Plan other = baked_plan(sample_graph("../../tests/cli/graphs/matmul"), "gfx942");
};
const Plans& plans() {
  static const Plans kPlans;
  return kPlans;
}

/// All checks of one file, as verification and restoring make them.
Result<void> check_all(const Bytes& bytes, bool lookup, bool anywhere) {
  HIPPLAN_TRY_ASSIGN(const auto file,
                     open_bytes(bytes, lookup ? plan::Check::lookup : plan::Check::full));
  std::vector<plan::EntryInfo> entries;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    entries.push_back(entry);
    return true;
  }));
  const auto device = *target::Arch::parse("gfx942");
  for (const auto& entry : entries) {
    HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
    HIPPLAN_TRY(restore::check_restorable(plan, restore::built_in_provider(),
                                          anywhere ? nullptr : &device, restore::check_code(plan)));
  }
  return {};
}

std::string verdict(Draft& draft, bool lookup, bool anywhere) {
  const auto result = check_all(draft.build(plans().other), lookup, anywhere);
  return result ? "good" : result.error().reason;
}

const plan::ReasonFacts* facts_of(const std::string& reason) {
  for (const auto& facts : commands::verify_reasons())
    if (facts.reason == reason) return &facts;
  return nullptr;
}

}  // namespace

TEST_CASE("the good plan is good, and each bad one fails its own check") {
  if (!have_kernels()) return;
  Draft good(plans().good);
  CHECK(verdict(good, false, false) == "good");
  for (const auto& bad : read_cases()) {
    Draft draft(plans().good);
    draft.add(bad.edits);
    const auto result = check_all(draft.build(plans().other), bad.lookup, bad.anywhere);
    INFO(bad.check, ": ", bad.reason);
    REQUIRE(!result.ok());
    CHECK_MESSAGE(result.error().reason == bad.reason, result.error().text());
    const auto* facts = facts_of(bad.reason);
    REQUIRE(facts != nullptr);
    CHECK(facts->error_class == code_name(result.error().code));
    if (bad.reason == "foreign-file") continue;
    CHECK_MESSAGE(!result.error().where.empty(), result.error().text());
    CHECK_MESSAGE(!result.error().what.empty(), result.error().text());
  }
}

TEST_CASE("of two neighbouring checks that fail, the earlier speaks") {
  if (!have_kernels()) return;
  std::vector<std::vector<Case>> checks;
  for (auto& bad : read_cases()) {
    if (checks.empty() || checks.back().back().check != bad.check) checks.emplace_back();
    checks.back().push_back(std::move(bad));
  }
  unsigned pairs = 0;
  for (size_t i = 0; i + 1 < checks.size(); ++i)
    for (const auto& first : checks[i])
      for (const auto& second : checks[i + 1]) {
        if (second.lookup && !first.lookup) continue;
        // The earlier check's edits come last, so that the later ones do not undo them.
        Draft draft(plans().good);
        draft.add(second.edits);
        draft.add(first.edits);
        INFO(first.check, ": ", first.reason, " before ", second.check, ": ", second.reason);
        CHECK(verdict(draft, first.lookup, first.anywhere || second.anywhere) == first.reason);
        ++pairs;
      }
  CHECK(pairs >= 80);
}

TEST_CASE("every reason of a file's checks has its bad file, in the order of the list") {
  std::set<std::string> shown;
  for (const auto& bad : read_cases()) shown.insert(bad.reason);
  // Signatures have tests of their own; no handler refuses to restore.
  const std::set<std::string> elsewhere = {"unsigned", "bad-signature", "expired-trust",
                                           "unknown-key"};
  for (const auto& facts : plan::kReadReasons) {
    const std::string reason(facts.reason);
    CHECK_MESSAGE(shown.count(reason) + elsewhere.count(reason) == 1, reason);
  }
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
