// Code objects of a real compiler, for every architecture that it knows.
#include <doctest/doctest.h>

#include <fstream>

#include "codeobject/codeobject.h"
#include "pack/compiler.h"
#include "pack/process.h"
#include "sample.h"

using namespace hipplan;

namespace {

struct Case {
  const char* arch;
  uint32_t version, wavefront;
};
constexpr Case kCases[] = {
    {"gfx900", 5, 64},          {"gfx90a", 5, 64},        {"gfx942", 5, 64},
    {"gfx950", 5, 64},          {"gfx1030", 5, 32},       {"gfx1100", 5, 32},
    {"gfx1151", 5, 32},         {"gfx1201", 5, 32},       {"gfx9-4-generic", 6, 64},
    {"gfx10-3-generic", 6, 32}, {"gfx12-generic", 6, 32}, {"gfx90a:sramecc+:xnack-", 5, 64}};

}  // namespace

TEST_CASE("kernels of every architecture parse to the same signature") {
  const auto compiler = pack::find_compiler("");
  if (!compiler) {
    MESSAGE("skipped: " << compiler.error().text());
    return;
  }
  const auto folder = pack::TemporaryFolder::create(std::filesystem::temp_directory_path());
  REQUIRE(folder.ok());
  std::ofstream(folder->path() / "k.hip") << test::kSampleSource;
  const pack::Unit unit{folder->path(), "k.hip", {}, {}};
  for (const Case& c : kCases) {
    CAPTURE(c.arch);
    const auto compiled = pack::compile(*compiler, unit, c.arch, folder->path(), {});
    REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().text()));
    const auto object = codeobject::parse(compiled->code, c.arch);
    REQUIRE_MESSAGE(object.ok(), (object.ok() ? "" : object.error().text()));
    CHECK(object->arch.text() == c.arch);
    CHECK(object->version == c.version);
    REQUIRE(object->find("add") != nullptr);
    CHECK(object->find("add")->wavefront_size == c.wavefront);
    const std::vector<codeobject::Argument> expected = {{"global_buffer", 8, 0, ""},
                                                        {"global_buffer", 8, 8, ""},
                                                        {"global_buffer", 8, 16, ""},
                                                        {"by_value", 4, 24, ""},
                                                        {"by_value", 4, 28, ""}};
    CHECK(object->find("add")->signature() == expected);
    CHECK(object->relocations.size() == 2);
    CHECK(object->undefined.empty());
  }
}
