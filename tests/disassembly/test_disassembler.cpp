#include <array>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "codeobject/disassembly/disassembler.h"
#include "codeobject/disassembly/instruction.h"

using namespace hipplan;
using namespace hipplan::disassembly;

namespace {

#ifdef HIPPLAN_MODULE_FOLDER
Bytes words(std::initializer_list<uint32_t> values) {
  Bytes out;
  for (const uint32_t value : values) append(out, value);
  return out;
}

Disassembler open(const char* arch, unsigned wavefront_size = 0) {
  auto result = Disassembler::open(arch, HIPPLAN_MODULE_FOLDER, wavefront_size);
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

/// Lines of `code` at address 0x100, with the check that they cover it.
std::vector<Line> decode(const Disassembler& disassembler, ByteView code) {
  auto lines = disassembler.disassemble(code, 0x100);
  REQUIRE(lines.ok());
  uint64_t next = 0x100;
  for (const Line& line : *lines) {
    CHECK(line.address == next);
    CHECK(line.encoding.size() == line.size);
    CHECK(line.encoding.data() == code.data() + (line.address - 0x100));
    next += line.size;
  }
  CHECK(next == 0x100 + code.size());
  return std::move(lines).value();
}
#endif

}  // namespace

#ifdef HIPPLAN_MODULE_FOLDER
TEST_CASE("each target decodes its own encoding") {
  struct Target {
    const char* arch;
    uint32_t add, end;
  };
  constexpr Target kTargets[] = {
      {"gfx90a", 0x02000501, 0xbf810000},  {"gfx942", 0x02000501, 0xbf810000},
      {"gfx950", 0x02000501, 0xbf810000},  {"gfx1100", 0x06000501, 0xbfb00000},
      {"gfx1151", 0x06000501, 0xbfb00000}, {"gfx1201", 0x06000501, 0xbfb00000},
  };
  for (const Target& target : kTargets) {
    CAPTURE(target.arch);
    const Disassembler disassembler = open(target.arch);
    CHECK(!disassembler.llvm_version().empty());
    const Bytes code = words({target.add, 0xbe8000ff, 0x12345678, target.end});
    const auto lines = decode(disassembler, code);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].text == "v_add_f32_e32 v0, v1, v2");
    CHECK(lines[1].text == "s_mov_b32 s0, 0x12345678");
    CHECK(lines[1].size == 8);
    CHECK(lines[2].text == "s_endpgm");
    for (const Line& line : lines)
      CHECK(parse_instruction(line.text, line.address, line.size).ok());
  }
}

TEST_CASE("words that are no instruction are told and skipped") {
  const Disassembler disassembler = open("gfx942");
  Bytes code = words({0xffffffff, 0xbf810000});
  code.push_back(std::byte{0x7f});
  const auto lines = decode(disassembler, code);
  REQUIRE(lines.size() == 3);
  CHECK(!lines[0].decoded);
  CHECK(lines[0].text == ".long 0xffffffff");
  CHECK(lines[1].decoded);
  CHECK(!lines[2].decoded);
  CHECK(lines[2].text == ".byte 0x7f");
  CHECK(decode(disassembler, {}).empty());
}

TEST_CASE("an instruction cut at the end is no instruction") {
  const Disassembler disassembler = open("gfx942");
  const Bytes code = words({0xbe8000ff});  // its literal is missing
  const auto lines = decode(disassembler, code);
  REQUIRE(lines.size() == 1);
  CHECK(!lines[0].decoded);
}

TEST_CASE("a literal where the processor has none is no instruction") {
  const Bytes code = words({0xd28900ff, 0x00001104, 0x81070907, 0xbf810000});  // v_readlane_b32
  for (const char* arch : {"gfx90a", "gfx942", "gfx950"}) {
    CAPTURE(arch);
    CHECK(!decode(open(arch), code)[0].decoded);
  }
}

TEST_CASE("any bytes are an instruction or none, and never longer than what is there") {
  std::mt19937 random(7);
  for (const char* arch : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"}) {
    CAPTURE(arch);
    const Disassembler disassembler = open(arch);
    for (int round = 0; round < 300; ++round) {
      Bytes code;
      const size_t count = 1 + random() % 60;
      // Sources that name a literal are the rare ones: every other word has one.
      for (size_t i = 0; i < count; ++i)
        append(code, static_cast<uint32_t>(i % 2 == 0 ? random() | 0xff : random()));
      decode(disassembler, code);
    }
  }
}

TEST_CASE("wave64 code of a wave32 architecture") {
  const Bytes code = words({0x7c220300});
  CHECK(decode(open("gfx1100"), code)[0].text == "v_cmp_lt_f32_e32 vcc_lo, v0, v1");
  CHECK(decode(open("gfx1100", 64), code)[0].text == "v_cmp_lt_f32_e32 vcc, v0, v1");
}

TEST_CASE("an unknown architecture is refused") {
  for (const char* arch : {"gfx0000", "sm_90", "", "generic"}) {
    CAPTURE(arch);
    const auto result = Disassembler::open(arch, HIPPLAN_MODULE_FOLDER);
    REQUIRE(!result);
    CHECK(result.error().code == Code::bad_input);
    CHECK(result.error().reason == "unknown-arch");
  }
}
#endif

TEST_CASE("a folder without the module is told, with what to do") {
  const auto result = Disassembler::open("gfx942", HIPPLAN_SOURCE_DIR "/tests");
  REQUIRE(!result);
  CHECK(result.error().code == Code::machine);
  CHECK(result.error().reason == "no-disassembler");
  CHECK(result.error().text().find("HIPPLAN_LLVM") != std::string::npos);
}
