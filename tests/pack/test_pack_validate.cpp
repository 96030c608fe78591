#include <doctest/doctest.h>

#include <algorithm>

#include "archive/kpack.h"
#include "authored.h"
#include "base/file.h"
#include "pack/compiler.h"

using namespace hipplan;
using test::Authored;
using test::hip;
using test::read_text;
using test::temporary_folder;
using test::write_text;

namespace {

/// A packed tree for gfx942 with two kernels of two code objects; empty when there is no compiler.
std::filesystem::path packed(const pack::TemporaryFolder& folder) {
  const auto compiler = pack::find_compiler("");
  if (!compiler) {
    MESSAGE("skipped: " << compiler.error().text());
    return {};
  }
  const Authored authored(folder.path());
  authored.pack("op", '7', "",
                {{'a', hip("first"), "x", ""}, {'b', hip("second", R"({"SCALE": 3})"), "y", ""}});
  const auto report = pack::build(authored.options({"gfx942"}));
  REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().text()));
  return authored.out() / "gfx942";
}
pack::ValidateReport validated(const std::filesystem::path& tree,
                               std::vector<std::string> engines = {}) {
  pack::ValidateOptions options;
  options.roots = {tree};
  options.expected_engines = std::move(engines);
  auto report = pack::validate(options);
  REQUIRE(report.ok());
  return std::move(report).value();
}
bool reported(const pack::ValidateReport& report, const std::string& reason) {
  return std::any_of(
      report.diagnostics.begin(), report.diagnostics.end(),
      [&](const Diagnostic& d) { return d.severity == Severity::error && d.reason == reason; });
}
/// Replaces the first occurrence in a file of the tree.
void replace(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  std::string text = read_text(file);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  write_text(file, text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("a folder without a descriptor is no valid tree") {
  const auto folder = temporary_folder();
  write_text(folder.path() / "other.json", "{}");
  pack::ValidateOptions options;
  options.roots = {folder.path()};
  const auto report = pack::validate(options);
  REQUIRE(!report.ok());
  CHECK(report.error().code == Code::bad_input);
  CHECK(report.error().where == folder.path().string());
}

TEST_CASE("what the packer makes is valid") {
  const auto folder = temporary_folder();
  const auto tree = packed(folder);
  if (tree.empty()) return;
  const auto report = validated(tree, {"test:Op"});
  for (const Diagnostic& d : report.diagnostics)
    CHECK_MESSAGE(d.severity != Severity::error, d.text);
  CHECK(report.ok());
  CHECK(report.kernels == 2);
  CHECK(report.code_objects == 2);
  CHECK(report.engines == std::vector<std::string>{"test:Op"});
}

TEST_CASE("each fault of a packed tree is told by its reason and class") {
  const auto folder = temporary_folder();
  const auto tree = packed(folder);
  if (tree.empty()) return;
  const auto pack_file = tree / "op/op.kdp.json";
  const auto archive = tree / "kpack/hipplan_gfx942.kpack";
  SUBCASE("an engine that is not there") {
    const auto report = validated(tree, {"test:Other"});
    CHECK(reported(report, "engine-missing"));
    CHECK(report.classes == std::set<Code>{Code::negative});
  }
  SUBCASE("a wrong digest") {
    const std::string text = read_text(pack_file);
    const size_t at = text.find("\"sha256\":\"") + 10;
    replace(pack_file, text.substr(at, 64), std::string(64, '0'));
    const auto report = validated(tree);
    CHECK(reported(report, "code-object-digest"));
    CHECK(report.classes == std::set<Code>{Code::damaged});
  }
  SUBCASE("a wrong symbol") {
    replace(pack_file, "\"symbol\":\"first\"", "\"symbol\":\"third\"");
    CHECK(reported(validated(tree), "missing-symbol"));
  }
  SUBCASE("a wrong signature") {
    replace(pack_file, "\"size\":4", "\"size\":8");
    const auto report = validated(tree);
    CHECK(reported(report, "signature"));
    CHECK(report.classes == std::set<Code>{Code::damaged});
  }
  SUBCASE("an entry that is not there") {
    replace(pack_file, "\"toc_key\":\"k-", "\"toc_key\":\"q-");
    const auto report = validated(tree);
    CHECK(reported(report, "kpack-entry-missing"));
    CHECK(report.classes == std::set<Code>{Code::unusable});
  }
  SUBCASE("a damaged archive") {
    std::string bytes = read_text(archive);
    bytes[100] = static_cast<char>(bytes[100] ^ 1);
    write_text(archive, bytes);
    const auto report = validated(tree);
    CHECK(!report.ok());
    CHECK(report.classes == std::set<Code>{Code::damaged});
  }
  SUBCASE("a missing archive") {
    std::filesystem::remove(archive);
    CHECK(validated(tree).classes == std::set<Code>{Code::bad_input});
  }
  SUBCASE("a faulty descriptor") {
    write_text(tree / "op/op.umd.json", "{");
    CHECK(validated(tree).classes.contains(Code::bad_input));
  }
}

TEST_CASE("a missing root is an error of its own") {
  pack::ValidateOptions options;
  options.roots = {"/nonexistent/tree"};
  const auto report = pack::validate(options);
  REQUIRE(!report.ok());
  CHECK(report.error().code == Code::bad_input);
}
