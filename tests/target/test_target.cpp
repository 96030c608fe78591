#include <doctest/doctest.h>

#include <filesystem>

#include "base/file.h"
#include "target/code_object_target.h"
#include "target/target.h"

using namespace hipplan;
using target::Arch;

namespace {

Arch arch(const std::string& text) {
  auto parsed = Arch::parse(text);
  REQUIRE_MESSAGE(parsed.ok(), text);
  return *parsed;
}

std::string good_file() {
  target::Description d;
  d.name = "Test card";
  d.arch = *Arch::parse("gfx942:sramecc+");
  d.wavefront_size = 64;
  d.compute_units = 3;
  d.simds_per_compute_unit = 4;
  d.max_waves_per_simd = 8;
  d.max_workgroup_size = 1024;
  d.lds_bytes_per_workgroup = 65536;
  d.vgprs_per_simd_lane = 512;
  d.max_vgprs_per_wave = 512;
  d.max_sgprs_per_wave = 102;
  d.memory_bytes = 1 << 30;
  d.memory_bandwidth_gb_per_s = 100.5;
  d.clock_ghz = 1.5;
  d.last_level_cache_bytes = 4096;
  d.peak_tflops = {{"float", 2.5}};
  d.source = "made for this test";
  return target::print_description(d);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("architecture strings are normalised") {
  CHECK(arch("gfx942").text() == "gfx942");
  CHECK(arch("amdgcn-amd-amdhsa--GFX90A:xnack-:sramecc+").text() == "gfx90a:sramecc+:xnack-");
  CHECK(arch("sm_90").text() == "sm_90");
  CHECK(arch("gfx9-4-generic").is_generic());
  CHECK_FALSE(arch("gfx942").is_generic());
  CHECK(arch("gfx1100").is_amd());
  CHECK_FALSE(arch("sm_90").is_amd());
}

TEST_CASE("what is no architecture is refused with the text") {
  for (const char* text :
       {"", "gfx", "gfx942:", "gfx942:xnack", "gfx942:xnack+:xnack-", "gfx942:foo+", "sm_90:xnack+",
        "mi300x", "gfx94 2", "gfx942:+", "../gfx942"}) {
    const auto parsed = Arch::parse(text);
    REQUIRE_MESSAGE(!parsed.ok(), text);
    CHECK(parsed.error().code == Code::bad_input);
    CHECK(parsed.error().where.find(text) != std::string::npos);
  }
  CHECK_FALSE(Arch::parse(std::string(100000, 'g')).ok());
}

TEST_CASE("which code runs on which device: docs/target-files.md line by line") {
  CHECK(target::serves(arch("gfx90a"), arch("gfx90a:sramecc+:xnack-")));
  CHECK(target::serves(arch("gfx90a:xnack-"), arch("gfx90a:xnack-")));
  CHECK_FALSE(target::serves(arch("gfx90a:xnack-"), arch("gfx90a:sramecc+:xnack-")));
  CHECK(target::serves(arch("gfx90a:sramecc+"), arch("gfx90a:sramecc+:xnack-")));
  CHECK_FALSE(target::serves(arch("gfx94"), arch("gfx942")));
  CHECK_FALSE(target::serves(arch("gfx942:xnack-"), arch("gfx942")));
  CHECK(target::serves(arch("gfx942"), arch("gfx942")));
}

TEST_CASE("a code object loads by base or family, and open features agree with anything") {
  const auto loads = [](const char* code, const char* device) {
    return target::code_loads_on(arch(code), arch(device));
  };
  CHECK(loads("gfx942", "gfx942:sramecc+:xnack-"));
  CHECK(loads("gfx942:xnack-", "gfx942"));
  CHECK(loads("gfx942:xnack-", "gfx942:sramecc+:xnack-"));
  CHECK_FALSE(loads("gfx942:xnack+", "gfx942:sramecc+:xnack-"));
  CHECK_FALSE(loads("gfx942:sramecc-", "gfx942:sramecc+"));
  CHECK(loads("gfx9-4-generic", "gfx942"));
  CHECK(loads("gfx9-4-generic:xnack-", "gfx942:xnack-"));
  CHECK_FALSE(loads("gfx9-4-generic:xnack-", "gfx942:xnack+"));
  CHECK_FALSE(loads("gfx9-4-generic", "gfx90a"));
  CHECK_FALSE(loads("gfx90a", "gfx942"));
}

TEST_CASE("archives are searched from exact to generic") {
  const auto order = target::lookup_order(arch("gfx942:sramecc+:xnack-"));
  CHECK(order == std::vector<std::string>{"gfx942:sramecc+:xnack-", "gfx942:sramecc+", "gfx942",
                                          "gfx9-4-generic"});
  CHECK(target::lookup_order(arch("sm_90")) == std::vector<std::string>{"sm_90", "compute_80"});
  CHECK(target::generic_family("gfx1151") == "gfx11-generic");
  CHECK(target::generic_family("gfx1201") == "gfx12-generic");
  CHECK(target::generic_family("gfx906") == "gfx9-generic");
  CHECK_FALSE(target::generic_family("gfx90a").has_value());
}

TEST_CASE("a description reads back as it was printed") {
  const auto read = target::parse_description(good_file(), "card.json");
  REQUIRE(read.ok());
  CHECK(target::print_description(*read) == good_file());
  CHECK(read->arch.text() == "gfx942:sramecc+");
  CHECK(read->memory_bandwidth_gb_per_s == 100.5);
}

TEST_CASE("faulty target files are refused with the place and the key") {
  const struct {
    const char *from, *to, *key;
  } kEdits[] = {
      {"\"name\": \"Test card\"", "\"name\": \"\"", "name"},
      {"\"name\"", "\"nome\"", "name"},
      {"\"wavefront_size\": 64", "\"wavefront_size\": 48", "wavefront_size"},
      {"\"compute_units\": 3", "\"compute_units\": 0", "compute_units"},
      {"\"compute_units\": 3", "\"compute_units\": \"3\"", "compute_units"},
      {"\"clock_ghz\": 1.5", "\"clock_ghz\": -1.5", "clock_ghz"},
      {"\"float\": 2.5", "\"float\": null", "peak_tflops.float"},
      {"gfx942:sramecc+", "gfx942:nonsense", "nonsense"},
      {"\"source\"", "\"extra\": 1, \"source\"", "extra"},
  };
  for (const auto& edit : kEdits) {
    const auto read =
        target::parse_description(replaced(good_file(), edit.from, edit.to), "card.json");
    REQUIRE_MESSAGE(!read.ok(), edit.to);
    CHECK(read.error().code == Code::bad_input);
    CHECK_MESSAGE(read.error().text().find(edit.key) != std::string::npos, read.error().text());
    CHECK(read.error().text().find("card.json") == 0);
  }
}

TEST_CASE("every target file that ships is good and lists its source") {
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(
           std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors" / "targets")) {
    const auto bytes = read_file(file.path());
    REQUIRE(bytes.ok());
    const auto read = target::parse_description(as_text(*bytes), file.path().string());
    REQUIRE_MESSAGE(read.ok(), file.path().string());
    CHECK(read->source.size() > 20);
    // vector float rate: compute units x lanes x FMA x clock, times at most 4 for dual issue and
    // packing
    const double base = read->compute_units * 64 * 2 * read->clock_ghz / 1000;
    CHECK(read->peak_tflops.at("float") >= base * 0.95);
    CHECK(read->peak_tflops.at("float") <= base * 4.05);
    ++count;
  }
  CHECK(count == 9);
}
