// Every check has a reason, a file that fails this check alone, and its place before the next one.
#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>

#include "baked.h"
#include "commands/reasons.h"
#include "device/null.h"
#include "draft.h"
#include "engine/dispatch.h"
#include "restore/restore.h"

using namespace hipplan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

/// How a file is checked.
struct Mode {
  bool lookup = false;       ///< without the full check
  bool anywhere = false;     ///< no device is asked about
  bool no_restore = false;   ///< by a provider whose handlers cannot restore
  std::string load_on = {};  ///< last, the driver of this architecture loads the plan
};

struct Case {
  std::string check, reason;
  std::vector<Edit> edits;
  Mode mode;
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
    Case made{trimmed(line.substr(0, one)), trimmed(line.substr(one + 1, two - one - 1)), {}, {}};
    for (auto& edit : parse_edits(line.substr(two + 1))) {
      made.mode.lookup |= edit.level == "mode" && edit.operation == "lookup";
      made.mode.anywhere |= edit.level == "mode" && edit.operation == "anywhere";
      made.mode.no_restore |= edit.level == "mode" && edit.operation == "no-restore";
      if (edit.level == "mode" && edit.operation == "load-on") made.mode.load_on = edit.text();
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

/// The handler of the good plan, unable to restore.
class NoRestore final : public engine::DispatchHandler {
 public:
  explicit NoRestore(const engine::DispatchHandler& real) : real_(real) {}
  [[nodiscard]] std::string_view name() const override { return real_.name(); }
  [[nodiscard]] std::string_view alias() const override { return real_.alias(); }
  [[nodiscard]] const std::vector<engine::ValueRule>& contract() const override {
    return real_.contract();
  }
  [[nodiscard]] bool can_save() const override { return false; }
  [[nodiscard]] std::vector<codeobject::Argument> signature(
      std::string_view launch_name) const override {
    return real_.signature(launch_name);
  }
  Result<engine::PreparedKernel> prepare(const LaunchValues& values) const override {
    return real_.prepare(values);
  }

 private:
  const engine::DispatchHandler& real_;
};

const engine::DispatchHandler* find_without_restore(std::string_view alias) {
  static const NoRestore kHandler(*engine::find_by_alias(plans().good.payload.dispatch));
  return alias == kHandler.alias() ? &kHandler : nullptr;
}

/// A device of one architecture with the driver of another, which loads what it takes.
class OtherDriver final : public device::Device {
 public:
  OtherDriver(const std::string& device, const std::string& driver)
      : description_(target_of(device)), driver_(target_of(driver)) {}
  [[nodiscard]] std::string name() const override { return driver_.name(); }
  [[nodiscard]] const target::Description& description() const override { return description_; }
  Result<device::Address> allocate(uint64_t bytes) override { return driver_.allocate(bytes); }
  Result<void> release(device::Address address) override { return driver_.release(address); }
  Result<void> copy_in(device::Address to, ByteView from) override {
    return driver_.copy_in(to, from);
  }
  Result<void> copy_out(std::span<std::byte> to, device::Address from) override {
    return driver_.copy_out(to, from);
  }
  Result<void> fill(device::Address to, std::byte value, uint64_t bytes) override {
    return driver_.fill(to, value, bytes);
  }
  Result<std::unique_ptr<device::Module>> load(ByteView code_object,
                                               const codeobject::CodeObject& parsed) override {
    return driver_.load(code_object, parsed);
  }
  Result<void> launch(const device::Kernel& kernel, const device::Launch& launch) override {
    return driver_.launch(kernel, launch);
  }
  Result<void> synchronize() override { return {}; }

 private:
  target::Description description_;
  device::NullDevice driver_;
};

Result<void> load_on(const plan::Plan& plan, const std::string& driver,
                     const restore::Provider& provider) {
  OtherDriver device("gfx942", driver);
  HIPPLAN_TRY(restore::Executable::create(plan, provider, device));
  return {};
}

/// All checks of one file, as verification and restoring make them.
Result<void> check_all(const Bytes& bytes, const Mode& mode) {
  HIPPLAN_TRY_ASSIGN(const auto file,
                     open_bytes(bytes, mode.lookup ? plan::Check::lookup : plan::Check::full));
  std::vector<plan::EntryInfo> entries;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    entries.push_back(entry);
    return true;
  }));
  auto provider = restore::built_in_provider();
  if (mode.no_restore) provider.find_handler = find_without_restore;
  const auto device = *target::Arch::parse("gfx942");
  for (const auto& entry : entries) {
    HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
    const auto code = restore::check_code(plan);
    HIPPLAN_TRY(restore::check_restorable(plan, provider, mode.anywhere ? nullptr : &device,
                                          code ? nullptr : &code.error()));
    if (!mode.load_on.empty()) HIPPLAN_TRY(load_on(plan, mode.load_on, provider));
  }
  return {};
}

std::string verdict(Draft& draft, const Mode& mode) {
  const auto result = check_all(draft.build(plans().other), mode);
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
  CHECK(verdict(good, {}) == "good");
  for (const auto& bad : read_cases()) {
    Draft draft(plans().good);
    draft.add(bad.edits);
    const auto result = check_all(draft.build(plans().other), bad.mode);
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
        if (second.mode.lookup && !first.mode.lookup) continue;
        // Both refusals must be possible in what is asked.
        Mode both = first.mode;
        both.anywhere |= second.mode.anywhere;
        both.no_restore |= second.mode.no_restore;
        if (both.load_on.empty()) both.load_on = second.mode.load_on;
        // The earlier check's edits come last, so that the later ones do not undo them.
        Draft draft(plans().good);
        draft.add(second.edits);
        draft.add(first.edits);
        INFO(first.check, ": ", first.reason, " before ", second.check, ": ", second.reason);
        CHECK(verdict(draft, both) == first.reason);
        ++pairs;
      }
  CHECK(pairs >= 80);
}

TEST_CASE("every reason of a file's checks has its bad file, in the order of the list") {
  std::set<std::string> shown;
  for (const auto& bad : read_cases()) shown.insert(bad.reason);
  // Signatures have tests of their own.
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
