// What the emulator does not know is what its documentation says, and refuses the load by name.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "device/instructions.h"
#include "emulated.h"
#include "json/json.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path.string());
  REQUIRE(bytes.ok());
  return {reinterpret_cast<const char*>(bytes->data()), bytes->size()};
}

/// The names in the table of the section "Limits"; a last '*' stands for any ending.
std::vector<std::string> left_out() {
  const std::string text =
      text_of(std::filesystem::path(HIPPLAN_SOURCE_DIR) / "docs" / "emulator.md");
  std::vector<std::string> names;
  size_t at = text.find("|---|", text.find("## Limits"));
  REQUIRE(at != std::string::npos);
  for (at = text.find("\n|", at); at != std::string::npos && text.compare(at, 2, "\n|") == 0;) {
    const size_t cell = text.find('|', at + 2), end = text.find('\n', at + 1);
    for (size_t tick = text.find('`', at); tick < cell;) {
      const size_t close = text.find('`', tick + 1);
      names.push_back(text.substr(tick + 1, close - tick - 1));
      tick = text.find('`', close + 1);
    }
    at = end;
  }
  return names;
}
bool matches(const std::string& name, const std::string& pattern) {
  if (pattern.back() != '*') return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::set<std::string> known() {
  const auto all = device::emulated_instructions(HIPPLAN_MODULE_FOLDER);
  REQUIRE_MESSAGE(all.ok(), all.error().text());
  std::set<std::string> names;
  for (const auto& instruction : *all) {
    names.insert(instruction.mnemonic);
    names.insert(instruction.aliases.begin(), instruction.aliases.end());
  }
  return names;
}

/// Assembly text in a kernel; the load must be refused and name what.
void check_refused(const std::string& arch, const std::string& text, const std::string& name,
                   const std::string& reason = "unknown-instruction") {
  CAPTURE(arch);
  CAPTURE(text);
  const auto code = compile("KERNEL k() { asm volatile(\"" + text + "\"); }", arch, "-O1");
  if (!code) return;
  Emulated gpu(device_for(arch));
  const auto loaded = gpu.device().load(*code);
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().code == Code::unusable);
  CHECK(loaded.error().reason == reason);
  CHECK(loaded.error().text().find(name) != std::string::npos);
}

}  // namespace

TEST_CASE("what the documentation leaves out is not known") {
  const auto names = left_out();
  CHECK(names.size() > 20);
  for (const auto& name : known())
    for (const auto& pattern : names)
      if (matches(name, pattern)) FAIL_CHECK(name, " is known, the documentation says it is not");
}

TEST_CASE("the documents' lists have nothing else that is not known") {
  const std::filesystem::path folder = HIPPLAN_ISA_REFERENCE;
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: ", folder.string(), " is not here");
    return;
  }
  const auto names = left_out();
  const auto have = known();
  for (const std::string family : {"cdna", "rdna3", "rdna4"}) {
    const auto path = folder / (family + ".json");
    const auto list = json::parse(text_of(path), path.string());
    REQUIRE(list.ok());
    for (const auto& [name, described] : list->members)
      CHECK_MESSAGE((have.count(name) == 1 || std::any_of(names.begin(), names.end(),
                                                          [&](const std::string& pattern) {
                                                            return matches(name, pattern);
                                                          })),
                    family, " lists ", name, ", which is neither known nor said not to be");
  }
}

TEST_CASE("instructions without semantics refuse the load by name") {
  check_refused("gfx90a", "buffer_store_lds_dword s[4:7], s0 lds", "buffer_store_lds_dword");
  check_refused("gfx942", "s_cbranch_g_fork s[2:3], s[4:5]", "s_cbranch_g_fork");
  check_refused("gfx950", "s_scratch_store_dword s1, s[2:3], 0x10", "s_scratch_store_dword");
  check_refused("gfx1100", "image_load v[0:3], v0, s[0:7] dmask:0xf dim:SQ_RSRC_IMG_1D",
                "image_load");
  check_refused("gfx1151", "v_interp_p10_f32 v1, v2, v3, v4", "v_interp_p10_f32");
  check_refused("gfx1201", "s_barrier_join m0", "s_barrier_join");
}

TEST_CASE("modifiers without semantics refuse the load") {
  check_refused("gfx1100", "ds_add_u32 v0, v1 gds", "gds", "modifier");
  check_refused("gfx1100", "buffer_load_format_x v[1:2], off, s[4:7], s0 tfe", "tfe", "modifier");
  check_refused("gfx942", "buffer_load_format_x off, s[4:7], s0 lds", "lds", "modifier");
}
