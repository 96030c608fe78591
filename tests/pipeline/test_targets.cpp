// Names of targets, and what is said of those that mean none.
#include <doctest/doctest.h>

#include "pipeline/pipeline.h"

using namespace hipplan;

namespace {

const pipeline::Targets& shipped() {
  static const auto targets = pipeline::Targets::load(std::filesystem::path(HIPPLAN_SOURCE_DIR) /
                                                      "descriptors" / "targets");
  REQUIRE(targets.ok());
  return *targets;
}

std::string arch(const std::string& name) {
  const auto found = shipped().find(name);
  return found ? found->arch.text() : found.error().reason;
}

/// The message without the folder of the source.
std::string refusal(const std::string& name) {
  const auto found = shipped().find(name);
  REQUIRE(!found.ok());
  CHECK(found.error().reason == "unknown-target");
  CHECK(found.error().code == Code::bad_input);
  return found.error().text();
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("products go by stem and by name, in any case, with spaces and dashes or without") {
  for (const char* name : {"mi300x", "MI300X", "Mi-300X", "mi 300 x", "AMD Instinct MI300X",
                           "instinct mi300x", "INSTINCT_MI300X"})
    CHECK_MESSAGE(arch(name) == "gfx942:sramecc+:xnack-", name);
  CHECK(arch("RX 7900 XTX") == "gfx1100");
  CHECK(arch("7900xtx") == "gfx1100");
  CHECK(arch("StrixHalo") == "gfx1151");
  CHECK(arch("a100-sxm4-80gb") == "sm_80");
}

TEST_CASE("the end of a name is no name") {
  for (const char* name : {"XTX", "XT", "80GB", "AMD", "NVIDIA", "", " ", "-"})
    CHECK_MESSAGE(arch(name) == "unknown-target", name);
}

TEST_CASE("an architecture keeps exactly the features that it is given with") {
  CHECK(arch("gfx942") == "gfx942");
  CHECK(arch("GFX942:xnack-") == "gfx942:xnack-");
}

TEST_CASE("of an architecture without a target file the nearest is named") {
  CHECK(holds(refusal("gfx1101"), "nearest is gfx1100 (rx7900xtx); to describe gfx1101 copy "));
  CHECK(holds(refusal("gfx1152"), "nearest is gfx1151 (strix-halo)"));
  CHECK(holds(refusal("gfx940"), "nearest is gfx942 (mi300x)"));
  CHECK(holds(refusal("sm_86"), "nearest is sm_80 (a100)"));
  // Neither the start of a name nor another generation makes a relative.
  CHECK(holds(refusal("gfx900"), "is described by no target file; expected one of sm_80 (a100), "));
  CHECK(holds(refusal("sm_120"), "is described by no target file; expected one of sm_80 (a100), "));
}

TEST_CASE("lists and slips of the hand are told as what they are") {
  CHECK(holds(refusal("gfx942 gfx1100"), "separate targets by commas: gfx942,gfx1100"));
  CHECK(holds(refusal("mi300x; mi210"), "separate targets by commas: mi300x,mi210"));
  CHECK(!holds(refusal("some thing"), "commas"));
  CHECK(holds(refusal("mi300"), "did you mean mi300x?"));
  CHECK(holds(refusal("some thing"), "is not known; expected one of sm_80 (a100), "));
}
