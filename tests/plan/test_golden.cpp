// Files of released formats: made once, decoded and compared by value for ever.
#include <doctest/doctest.h>

#include "json/json.h"
#include "plan/print.h"
#include "plan/signature.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

fs::path golden(const std::string& name) {
  return fs::path(HIPPLAN_SOURCE_DIR) / "tests" / "golden" / "1.0" / name;
}

json::Value parsed(std::string_view text, const std::string& name) {
  auto out = json::parse(text, name);
  REQUIRE_MESSAGE(out.ok(), (out ? "" : out.error().text()));
  return *out;
}

/// Whatever was true when the file was made is still said of it; later versions may say more.
void check_holds(const json::Value& wanted, const json::Value& now, const std::string& place) {
  INFO(place);
  REQUIRE(wanted.kind == now.kind);
  CHECK(wanted.string == now.string);
  CHECK(wanted.boolean == now.boolean);
  CHECK(wanted.integer == now.integer);
  CHECK(wanted.number == now.number);
  REQUIRE(wanted.items.size() == now.items.size());
  for (size_t i = 0; i < wanted.items.size(); ++i)
    check_holds(wanted.items[i], now.items[i], place + "[" + std::to_string(i) + "]");
  for (const auto& [key, value] : wanted.members) {
    INFO("member ", key);
    const auto* found = now.find(key);
    REQUIRE(found != nullptr);
    check_holds(value, *found, place + "." + key);
  }
}

}  // namespace

namespace {

/// A file still says what its document beside it says, and gives its plans back.
void check_file(const std::string& name, bool texts) {
  INFO(name);
  const auto file = plan::File::open(golden(name + ".hplan"), Check::full);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  ShowOptions options;
  options.texts = texts;
  json::Writer out;
  REQUIRE(show_json(*file, options, out));
  const auto text = read_file(golden(name + ".json"));
  REQUIRE(text);
  auto wanted = parsed(as_text(*text), name), now = parsed(out.text(), name);
  // The only value that depends on where the file lies.
  for (auto* document : {&wanted, &now})
    for (auto& [key, value] : document->members)
      if (key == "file") value.string.clear();
  check_holds(wanted, now, name);
  // Code objects come out with their digests, and the plan digests are still what they were.
  REQUIRE(file->for_each([&](const EntryInfo& entry) {
    const auto plan = file->read_plan(entry, true);
    REQUIRE(plan);
    CHECK(plan_digest(*plan) == entry.plan_digest);
    for (const auto& kernel : plan->payload.kernels) CHECK(sha256(*kernel.code) == kernel.sha256);
    return true;
  }));
}

}  // namespace

TEST_CASE("golden files of format 1.0 say what they said when they were made") {
  for (const char* name : {"single", "library", "grouped", "signed"}) check_file(name, true);
}

TEST_CASE("baked golden files of format 1.0 say what they said when they were baked") {
  size_t seen = 0;
  for (const auto& found : fs::directory_iterator(golden("baked"))) {
    const std::string name = found.path().stem().string();
    if (found.path().extension() != ".hplan" || name == "library") continue;
    check_file("baked/" + name, false);
    ++seen;
  }
  CHECK(seen == 12);
}

TEST_CASE("a golden library of several index pages finds each of its plans") {
  const auto file = plan::File::open(golden("baked/library.hplan"), Check::full);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  CHECK(file->sections()[0].objects >= 3);
  const auto text = read_file(golden("baked/library.list.json"));
  REQUIRE(text);
  const auto listed = parsed(as_text(*text), "library.list.json");
  const auto& rows = listed.find("rows")->items;
  CHECK(rows.size() == file->entry_count());
  for (const auto& row : rows) {
    const auto key = Digest::from_hex(row.find("graph_key")->string);
    REQUIRE(key);
    const auto found = file->find(*key, row.find("target")->string);
    REQUIRE(found);
    REQUIRE(found->has_value());
    CHECK((*found)->plan_digest.hex() == row.find("plan_digest")->string);
    const auto plan = file->read_plan(**found, true);
    REQUIRE(plan);
    CHECK(plan_digest(*plan) == (*found)->plan_digest);
  }
}

TEST_CASE("what a golden file has that this version does not know stays with it") {
  const auto file = plan::File::open(golden("baked/extras.hplan"), Check::full);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  const auto section = file->section_bytes(40000);
  REQUIRE(section);
  CHECK(as_text(*section) == "a section for private use");
  const auto plan = file->read_plan(entries_of(*file).at(0), true);
  REQUIRE(plan);
  REQUIRE(plan->extra.size() == 1);
  CHECK(plan->extra[0].type == 40);
  CHECK(as_text(plan->extra[0].bytes) == "a part that no version knows yet");
  CHECK(parsed(plan->evidence, "evidence").find("seed")->integer == 0);
  const auto measured = plan::File::open(golden("baked/measured.hplan"), Check::full);
  REQUIRE(measured);
  CHECK(!measured->read_plan(entries_of(*measured).at(0), false)->measurements.empty());
}

TEST_CASE("a golden plan of several launches has its launches, its workspace and its code") {
  const auto file = plan::File::open(golden("baked/decoded-only-launches.hplan"), Check::full);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  const auto plan = file->read_plan(entries_of(*file).at(0), true);
  REQUIRE(plan);
  CHECK(plan->payload.workspace_bytes == 65536);
  REQUIRE(plan->payload.kernels.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(plan->payload.kernels[i].launch_name == "launch " + std::to_string(i));
    const auto code = codeobject::parse(*plan->payload.kernels[i].code, "golden");
    REQUIRE_MESSAGE(code.ok(), (code ? "" : code.error().text()));
    CHECK(code->find(plan->payload.kernels[i].symbol) != nullptr);
  }
}

TEST_CASE("the golden signature is still good") {
  const auto file = read_file(golden("signed.hplan"));
  REQUIRE(file);
  const auto trust = TrustStore::load(golden("trust"));
  REQUIRE_MESSAGE(trust.ok(), (trust ? "" : trust.error().text()));
  const auto set = read_signatures(*file, {}, "signed.hplan");
  REQUIRE(set);
  CHECK(set->embedded.size() == 1);
  CHECK(require_signed(*set, *trust, 0, "signed.hplan").ok());
}

TEST_CASE("golden envelope of format 1.0") {
  const auto bytes = read_file(golden("single.envelope"));
  REQUIRE(bytes);
  const auto plan = decode_bare_plan(*bytes, "single.envelope");
  REQUIRE_MESSAGE(plan.ok(), (plan ? "" : plan.error().text()));
  const auto file = plan::File::open(golden("single.hplan"), Check::full);
  REQUIRE(file);
  const auto found = file->find(plan->graph_key, plan->target);
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK(plan_digest(*plan) == (*found)->plan_digest);
}
