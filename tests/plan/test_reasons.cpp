// Every check has a reason, a file that fails this check alone, and its place before the next one.
#include <doctest/doctest.h>

#include <fstream>
#include <set>

#include "baked.h"
#include "device/null.h"
#include "draft.h"
#include "engine/dispatch.h"
#include "plan/foreign.h"
#include "plan/signature.h"
#include "reason_facts.h"
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
  std::string trust = {};    ///< "trust" or "trust-expired": whose signature is demanded
};

struct Case {
  std::string check, reason;
  std::vector<Edit> edits;
  Mode mode;
  std::set<std::string> also;  ///< what else the plan's values must fail
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
    Case made{
        trimmed(line.substr(0, one)), trimmed(line.substr(one + 1, two - one - 1)), {}, {}, {}};
    for (auto& edit : parse_edits(line.substr(two + 1))) {
      made.mode.lookup |= edit.level == "mode" && edit.operation == "lookup";
      made.mode.anywhere |= edit.level == "mode" && edit.operation == "anywhere";
      made.mode.no_restore |= edit.level == "mode" && edit.operation == "no-restore";
      if (edit.level == "mode" && edit.operation == "load-on") made.mode.load_on = edit.text();
      if (edit.level == "mode" && edit.operation.starts_with("trust"))
        made.mode.trust = edit.operation;
      if (edit.level == "mode" && edit.operation == "also")
        made.also.insert(edit.arguments.begin(), edit.arguments.end());
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

/// A key pair for these tests: one folder trusts it, another one no longer.
class Keys {
 public:
  Keys() {
    const std::string own(
        "-----BEGIN PRIVATE KEY-----\n"
        "MC4CAQAwBQYDK2VwBCIEIMHEQ1isqwQSAnoLkQ6qtTcX2MMJhpqwRQmMYfGHGjLk\n"
        "-----END PRIVATE KEY-----\n");
    const std::string known(
        "-----BEGIN PUBLIC KEY-----\n"
        "MCowBQYDK2VwAyEAOqztJJ3Q0dAXnVd5wSbn5KsXfdGF7vlqLo9MtbwGy3o=\n"
        "-----END PUBLIC KEY-----\n");
    REQUIRE(write_file(folder_ / "key.pem", as_bytes(own)));
    for (const char* name : {"trust", "trust-expired"}) {
      fs::create_directories(folder_ / name);
      const std::string end = name == std::string("trust") ? "" : "not-after: 2001-02-03\n";
      REQUIRE(write_file(folder_ / name / "key.pem", as_bytes(end + known)));
    }
  }
  [[nodiscard]] Bytes sign(const Digest& directory_digest) const {
    return plan::encode_signatures(
        {*plan::PrivateKey::read(folder_ / "key.pem")->sign(directory_digest)});
  }
  [[nodiscard]] plan::TrustStore trust(const std::string& name) const {
    return *plan::TrustStore::load(folder_ / name);
  }

 private:
  ScratchFolder folder_;
};
const Keys& keys() {
  static const Keys kKeys;
  return kKeys;
}

/// A draft of the good plan.
Draft draft_of(const std::vector<Edit>& edits) {
  Draft out(plans().good, [](const Digest& digest) { return keys().sign(digest); });
  out.add(edits);
  return out;
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
  if (!mode.trust.empty() && plan::recognise(bytes) == plan::FileKind::hplan) {
    constexpr int64_t kNow = 1'800'000'000;
    HIPPLAN_TRY_ASSIGN(const auto signatures, plan::read_signatures(bytes, {}, "test.hplan"));
    HIPPLAN_TRY(plan::require_signed(signatures, keys().trust(mode.trust), kNow, "test.hplan"));
  }
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

/// What a plan's values fail, each group of checks for itself: a reader stops at the first.
std::set<std::string> all_failures(const plan::Plan& plan, const Mode& mode) {
  std::set<std::string> out;
  const auto note = [&out](const auto& result) {
    if (!result) out.insert(result.error().reason);
  };
  constexpr auto kDamaged = hipplan::Code::damaged;
  note(plan::check_identity({plan.graph_key, plan.target}, "plan", kDamaged));
  note(plan::check_envelope(plan.envelope, "envelope", kDamaged));
  note(plan::check_payload(plan.payload, "payload", kDamaged));
  note(plan::check_agreement(plan.envelope, plan.payload, "plan", kDamaged));
  note(restore::check_code(plan));
  auto provider = restore::built_in_provider();
  if (mode.no_restore) provider.find_handler = find_without_restore;
  const auto device = *target::Arch::parse("gfx942");
  note(restore::check_usable(plan, provider, mode.anywhere ? nullptr : &device));
  if (mode.anywhere) return out;
  note(restore::check_target(plan, device));
  note(restore::check_usable(plan, provider, nullptr));
  return out;
}

}  // namespace

TEST_CASE("the good plan is good, and each bad one fails its own check") {
  if (!have_kernels()) return;
  Draft good = draft_of({});
  CHECK(verdict(good, {}) == "good");
  CHECK(joined(all_failures(good.plan(), {})).empty());
  Draft with_signature = draft_of(parse_edits("file sign"));
  CHECK(verdict(with_signature, {.trust = "trust"}) == "good");
  for (const auto& bad : read_cases()) {
    Draft draft = draft_of(bad.edits);
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

// Edits of bytes are undone by leaving them out, which is the good plan. Values can break several
// rules at once, of which a reader tells the first.
TEST_CASE("a bad plan's values fail its own check and no other") {
  if (!have_kernels()) return;
  for (const auto& bad : read_cases()) {
    Draft draft = draft_of(bad.edits);
    (void)draft.build(plans().other);
    auto failures = all_failures(draft.plan(), bad.mode);
    failures.erase(bad.reason);
    INFO(bad.check, ": ", bad.reason);
    CHECK(joined(failures) == joined(bad.also));
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
        if (both.trust.empty()) both.trust = second.mode.trust;
        // The earlier check's edits come last, so that the later ones do not undo them.
        Draft draft = draft_of(second.edits);
        draft.add(first.edits);
        INFO(first.check, ": ", first.reason, " before ", second.check, ": ", second.reason);
        CHECK(verdict(draft, both) == first.reason);
        // Without the earlier check's edits and modes the later one speaks.
        Mode rest = second.mode;
        rest.lookup |= first.mode.lookup;
        Draft later = draft_of(second.edits);
        CHECK(verdict(later, rest) == second.reason);
        ++pairs;
      }
  CHECK(pairs >= 110);
}

TEST_CASE("every reason of a file's checks has its bad file, in the order of the list") {
  std::vector<std::string> listed, shown;
  for (const auto& facts : commands::verify_reasons()) listed.emplace_back(facts.reason);
  const auto place = [&](const std::string& reason) {
    return std::find(listed.begin(), listed.end(), reason) - listed.begin();
  };
  // Reasons that several checks have are listed where the first check may tell them.
  for (const auto& bad : read_cases())
    if (std::find(shown.begin(), shown.end(), bad.reason) == shown.end())
      shown.push_back(bad.reason);
  for (size_t i = 0; i + 1 < shown.size(); ++i)
    CHECK_MESSAGE(place(shown[i]) < place(shown[i + 1]), shown[i], ", ", shown[i + 1]);
  // All up to the last that is told without a device, and what a driver says of a code object.
  const auto last = place("code-signature");
  REQUIRE(last < static_cast<long>(listed.size()));
  for (long i = 0; i <= last; ++i)
    CHECK_MESSAGE(std::count(shown.begin(), shown.end(), listed[static_cast<size_t>(i)]) == 1,
                  listed[static_cast<size_t>(i)]);
  CHECK(shown.back() == "driver-load");
  CHECK(shown.size() == static_cast<size_t>(last) + 2);
}
