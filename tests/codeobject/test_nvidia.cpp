// Cubins and PTX: what is read from good ones, and that bad ones are refused.
#include <doctest/doctest.h>
#include <elf.h>

#include "base/file.h"
#include "codeobject/codeobject.h"
#include "codeobject/cubin.h"
#include "codeobject/elf_file.h"
#include "codeobject/print.h"
#include "sample.h"
#include "sanitized.h"

using namespace hipplan;
using codeobject::CodeObject;
using test::store;

namespace {

/// The kernels of tests/device/conformance_kernels.hip, compiled by nvcc 13.0 for sm_90.
Bytes sample_cubin() {
  auto bytes = read_file(HIPPLAN_SOURCE_DIR "/tests/device/data/conformance_sm_90.cubin");
  REQUIRE(bytes.ok());
  return std::move(bytes).value();
}

const std::string kPtx = R"(// comment with .entry wrong(
.version 8.3
.target sm_90a, debug
.address_size 64
/* .entry wrong2( */
.extern .shared .align 4 .b8 dynamic[];
.visible .entry first(
  .param .u64 .ptr .global .align 16 first_0, // a pointer
  .param .u8 first_1,
  .param .align 8 .b8 first_2[20],
  .param .f32 first_3
)
.maxntid 128, 1, 1
{
  .shared .align 16 .b8 tile[100];
  .shared .align 8 .b8 more[8];
  { ret; }
}
.entry second() { ret; }
)";

Error refused(const std::string& ptx) {
  const auto object = codeobject::parse(as_bytes(ptx), "text");
  REQUIRE_FALSE(object.ok());
  CHECK(object.error().code == Code::damaged);
  return object.error();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a cubin names its kernels, their arguments and what they need") {
  const Bytes bytes = sample_cubin();
  const auto object = codeobject::parse(bytes, "sample");
  REQUIRE_MESSAGE(object.ok(), (object.ok() ? "" : object.error().text()));
  CHECK(object->arch.text() == "sm_90");
  CHECK(object->kernels.size() == 5);
  const auto* mixed = object->find("store_arguments");
  REQUIRE(mixed != nullptr);
  REQUIRE(mixed->arguments.size() == 8);
  const std::vector<std::pair<uint32_t, uint32_t>> expected = {{0, 8},  {8, 1},  {10, 2}, {12, 4},
                                                               {16, 8}, {24, 4}, {32, 8}, {40, 16}};
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(mixed->arguments[i].offset == expected[i].first);
    CHECK(mixed->arguments[i].size == expected[i].second);
  }
  CHECK(mixed->arguments[0].kind == "global_buffer");
  CHECK(mixed->arguments[3].kind == "by_value");
  CHECK(mixed->kernarg_segment_size == 56);
  CHECK(mixed->vgpr_count > 0);
  CHECK(mixed->wavefront_size == 32);
  CHECK(mixed->code_size > 0);
  CHECK(object->find("no_arguments")->arguments.empty());
  CHECK(codeobject::print(*object).find("sm_90") != std::string::npos);
}

TEST_CASE("a cubin with any byte changed is read within bounds or refused") {
  const Bytes good = sample_cubin();
  size_t refusals = 0;
  for (size_t at = 0; at < good.size(); ++at) {
    if (at > 64 && at < good.size() / 2 && at % 3 != 0) continue;  // mostly code and strings
    if (test::kSanitized && at % 4 != 0) continue;
    Bytes bytes = good;
    bytes[at] ^= std::byte{0xff};
    const auto object = codeobject::parse(bytes, "sample");
    if (!object) {
      ++refusals;
      CHECK((object.error().code == Code::damaged || object.error().code == Code::unusable));
      continue;
    }
    for (const auto& kernel : object->kernels) {
      CHECK(kernel.code_size <= bytes.size());
      for (const auto& argument : kernel.arguments)
        CHECK(argument.offset + argument.size <= kernel.kernarg_segment_size);
    }
  }
  CHECK(refusals > 100);
}

TEST_CASE("a cubin that is cut off, of another kind or of another version is refused") {
  const Bytes good = sample_cubin();
  for (const size_t size : {size_t{0}, size_t{63}, good.size() / 2, good.size() - 1}) {
    CAPTURE(size);
    CHECK_FALSE(codeobject::parse(ByteView(good).first(size), "sample").ok());
  }
  Bytes version = good;
  version[EI_ABIVERSION] = std::byte{99};
  const auto newer = codeobject::parse(version, "sample");
  REQUIRE_FALSE(newer.ok());
  CHECK(newer.error().code == Code::unusable);
  CHECK(newer.error().reason == "code-object-version");
  CHECK(newer.error().advice == "use a newer hipplan");
  Bytes relocatable = good;
  store(relocatable, offsetof(Elf64_Ehdr, e_type), uint16_t{ET_REL});
  const auto object = codeobject::parse(relocatable, "sample");
  REQUIRE_FALSE(object.ok());
  CHECK(object.error().code == Code::unusable);  // whole, and not for a driver
  CHECK(object.error().reason == "code-object-version");
  // Before linking, shared memory has a section type of its own, larger than the file or not.
  const uint64_t table = *load<uint64_t>(good, offsetof(Elf64_Ehdr, e_shoff));
  const auto sections = codeobject::read_elf(good, "sample")->sections.size();
  store(relocatable, table + (sections - 1) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_type),
        uint32_t{SHT_LOPROC + 0xa});
  store(relocatable, table + (sections - 1) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size),
        uint64_t{good.size() + 1});
  const auto shared = codeobject::parse(relocatable, "sample");
  REQUIRE_FALSE(shared.ok());
  CHECK(shared.error().reason == "code-object-version");
  // Both ABIs: an architecture of two digits that are none here is one of a later time.
  for (const auto& [abi, flags] : {std::pair{7, 0x05}, std::pair{8, 0x0504}}) {
    Bytes unknown = good;
    unknown[EI_ABIVERSION] = static_cast<std::byte>(abi);
    store(unknown, offsetof(Elf64_Ehdr, e_flags), static_cast<uint32_t>(flags));
    const auto later = codeobject::parse(unknown, "sample");
    REQUIRE_FALSE(later.ok());
    CHECK(later.error().code == Code::unusable);
    CHECK(later.error().reason == "code-object-version");
    CHECK(later.error().advice == "use a newer hipplan");
  }
  Bytes specific = good;
  store(specific, offsetof(Elf64_Ehdr, e_flags), uint32_t{0x5a08});
  CHECK(codeobject::parse(specific, "sample")->arch.text() == "sm_90a");
}

TEST_CASE("a cubin whose parameters do not fill their segment is refused") {
  const Bytes good = sample_cubin();
  const auto info = [&](std::string_view kernel) {
    const auto file = codeobject::read_elf(good, "sample");
    REQUIRE(file.ok());
    for (const auto& section : file->sections)
      if (section.name == ".nv.info." + std::string(kernel)) return section.header;
    FAIL("no such section");
    return Elf64_Shdr{};
  };
  /// File offset of the section's first attribute of this form and name.
  const auto attribute_at = [&](const Elf64_Shdr& section, uint16_t head) {
    for (size_t at = section.sh_offset; at < section.sh_offset + section.sh_size; at += 4)
      if (load<uint16_t>(good, at) == head) return at;
    FAIL("no such attribute");
    return size_t{0};
  };
  constexpr uint16_t kSegmentBytes = 0x1903, kParameter = 0x1704, kMostRegisters = 0x1b03,
                     kNothing = 0x0001;
  // store_arguments has 56 bytes of parameters: a segment of 64 would have a tail nobody names.
  Bytes longer = good;
  const size_t bytes_at = attribute_at(info("store_arguments"), kSegmentBytes);
  REQUIRE(load<uint16_t>(good, bytes_at + 2) == 56);
  store(longer, bytes_at + 2, uint16_t{64});
  const auto tail = codeobject::parse(longer, "sample");
  REQUIRE_FALSE(tail.ok());
  CHECK(tail.error().reason == "cubin");
  CHECK(tail.error().text().find("expected 64, found 56") != std::string::npos);
  // The last parameter stands first in the section; made into nothing, it is missing.
  Bytes shorter = good;
  const size_t last_at = attribute_at(info("store_arguments"), kParameter);
  for (size_t at = last_at; at < last_at + 16; at += 4) store(shorter, at, uint32_t{kNothing});
  CHECK_FALSE(codeobject::parse(shorter, "sample").ok());
  // No parameters at all belong to a segment of no bytes.
  Bytes none = good;
  store(none, attribute_at(info("no_arguments"), kMostRegisters), kSegmentBytes);
  CHECK_FALSE(codeobject::parse(none, "sample").ok());
}

TEST_CASE("PTX names its kernels, their arguments and shared memory") {
  CHECK(codeobject::is_ptx(as_bytes(kPtx)));
  for (const std::string& text : {kPtx, kPtx + std::string(1, '\0')}) {
    const auto object = codeobject::parse(as_bytes(text), "text");
    REQUIRE_MESSAGE(object.ok(), (object.ok() ? "" : object.error().text()));
    CHECK(object->arch.text() == "compute_90a");
    CHECK(object->version == 8);
    REQUIRE(object->kernels.size() == 2);
    const auto& first = object->kernels[0];
    CHECK(first.name == "first");
    REQUIRE(first.arguments.size() == 4);
    CHECK(first.arguments[0].kind == "global_buffer");
    CHECK(first.arguments[1].offset == 8);
    CHECK(first.arguments[2].offset == 16);
    CHECK(first.arguments[2].size == 20);
    CHECK(first.arguments[3].offset == 36);
    CHECK(first.kernarg_segment_size == 40);
    CHECK(first.group_segment_fixed_size == 112);
    CHECK(first.max_flat_workgroup_size == 128);
    CHECK(object->kernels[1].arguments.empty());
    CHECK(object->kernels[1].max_flat_workgroup_size == 1024);
  }
}

TEST_CASE("PTX is told behind blanks and comments of any length") {
  const std::string comment = "//" + std::string(100000, 'x') + "\n/*" + std::string(100000, 'y');
  CHECK(codeobject::kind_of(as_bytes(comment + "*/" + kPtx)) == codeobject::CodeKind::ptx);
  CHECK(codeobject::parse(as_bytes(comment + "*/" + kPtx), "text").ok());
  CHECK(codeobject::kind_of(as_bytes(comment + kPtx)) == codeobject::CodeKind::none);
  CHECK(codeobject::kind_of(as_bytes(std::string_view(".version\n8.3"))) ==
        codeobject::CodeKind::ptx);
  CHECK(codeobject::kind_of(as_bytes(std::string_view(".versions 8.3"))) ==
        codeobject::CodeKind::none);
}

TEST_CASE("the largest workgroup of PTX is the product of up to three numbers") {
  const auto largest = [](const std::string& directive) {
    const std::string text = replaced(kPtx, ".maxntid 128, 1, 1", directive);
    const auto object = codeobject::parse(as_bytes(text), "text");
    return object ? object->kernels[0].max_flat_workgroup_size : 0;
  };
  CHECK(largest(".maxntid 128") == 128);
  CHECK(largest(".reqntid 16, 16") == 256);
  CHECK(largest(".reqntid 16, 16, 1") == 256);
  CHECK(largest(".reqntid 8,4 , 2\n.minnctapersm 2") == 64);
  CHECK(largest(".maxntid 1024, 1, 1") == 1024);
  // 2^32 * 2^32 is 0 in 64 bits.
  for (const char* impossible : {"", "x", "0", "16, 0", "1025", "32, 33", "16, 16, 5", "16,",
                                 "4294967295, 4294967295, 4294967295", "1024, 4294967296"})
    CHECK_MESSAGE(largest(cat(".reqntid ", impossible)) == 0, impossible);
}

TEST_CASE("integer constants of PTX are decimal, hexadecimal, octal or binary") {
  const auto bytes_of = [](const std::string& size) {
    const std::string text = replaced(kPtx, "first_2[20]", "first_2[" + size + "]");
    const auto object = codeobject::parse(as_bytes(text), "text");
    return object ? object->kernels[0].arguments[2].size : 0;
  };
  for (const char* sixteen : {"16", "16U", "0x10", "0X10", "020", "0b10000", "0B10000", "0x10U"})
    CHECK_MESSAGE(bytes_of(sixteen) == 16, sixteen);
  // Kernels have no parameters without bytes.
  for (const char* none : {"", "0", "0x0", "08", "0x", "0b", "0b2", "0xg", "U", "4*4", "-1"})
    CHECK_MESSAGE(bytes_of(none) == 0, none);
  const std::string group = replaced(kPtx, ".maxntid 128, 1, 1", ".maxntid 0x40, 02");
  CHECK(codeobject::parse(as_bytes(group), "text")->kernels[0].max_flat_workgroup_size == 128);
  const std::string align = replaced(kPtx, ".align 8 .b8 first_2", ".align 0x10 .b8 first_2");
  CHECK(codeobject::parse(as_bytes(align), "text")->kernels[0].arguments[2].offset == 16);
}

TEST_CASE("a PTX version that no number holds came later, anything else is no version") {
  const auto later =
      codeobject::parse(as_bytes(replaced(kPtx, "version 8.3", "version 99999999999.0")), "text");
  REQUIRE_FALSE(later.ok());
  CHECK(later.error().code == Code::unusable);
  CHECK(later.error().reason == "code-object-version");
  CHECK(later.error().text().find("99999999999.0") != std::string::npos);
  for (const char* none : {"version x", "version 0.1", "version .3", "version 8x"})
    CHECK(refused(replaced(kPtx, "version 8.3", none)).text().find(".version") !=
          std::string::npos);
}

TEST_CASE("shared memory outside of kernels counts for every kernel of the module") {
  const auto lds = [](const std::string& declaration) {
    const std::string text = replaced(kPtx, ".extern .shared .align 4 .b8 dynamic[];", declaration);
    const auto object = codeobject::parse(as_bytes(text), "text");
    REQUIRE_MESSAGE(object.ok(), (object.ok() ? "" : object.error().text()));
    return std::pair(object->kernels[0].group_segment_fixed_size,
                     object->kernels[1].group_segment_fixed_size);
  };
  CHECK(lds("") == std::pair(112u, 0u));
  CHECK(lds(".extern .shared .align 4 .b8 dynamic[];") == std::pair(112u, 0u));
  CHECK(lds(".shared .align 4 .b8 s[50000];") == std::pair(50112u, 50000u));
  CHECK(lds(".shared .b8 s[4]; .shared .align 128 .b8 t[2];") == std::pair(258u, 130u));
  CHECK(lds(".func f() { .shared .v4 .f32 s[2]; ret; }") == std::pair(144u, 32u));
  CHECK(lds(".shared .b128 s;") == std::pair(128u, 16u));
  CHECK(lds(".shared .align 2 .b8 s[4], t[8], u;") == std::pair(125u, 13u));
  refused(kPtx + ".shared .b8 s[0xffffffff];");
}

TEST_CASE("the text of each PTX kernel goes from its .entry to its end") {
  std::vector<std::string_view> sources;
  REQUIRE(codeobject::parse_ptx(as_bytes(kPtx), "text", &sources).ok());
  REQUIRE(sources.size() == 2);
  CHECK(sources[0].starts_with(".entry first(\n"));
  CHECK(sources[0].ends_with("{ ret; }\n}"));
  CHECK(sources[1] == ".entry second() { ret; }");
}

TEST_CASE("the fuzzer's seeds are sound") {
  for (const char* name : {"sm_90", "text.ptx", "gfx942"}) {
    const Bytes bytes = test::sample(name);
    const auto object = codeobject::parse(bytes, name);
    CHECK_MESSAGE(object.ok(), name);
    CHECK_FALSE(object->kernels.empty());
  }
}

TEST_CASE("PTX that cannot be is refused") {
  CHECK(refused(replaced(kPtx, "sm_90a", "sm_9")).text().find(".target") != std::string::npos);
  const std::string later = replaced(kPtx, "sm_90a", "sm_90x");
  const auto unknown = codeobject::parse(as_bytes(later), "text");
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == Code::unusable);
  CHECK(unknown.error().reason == "code-object-version");
  CHECK(unknown.error().advice == "use a newer hipplan");
  refused(replaced(kPtx, ".target sm_90a, debug\n", ""));
  refused(replaced(kPtx, "second", "first"));
  refused(replaced(kPtx, ".u8 first_1", "first_1"));
  refused(replaced(kPtx, "first_2[20]", "first_2[99999999]"));
  refused(replaced(kPtx, "first_2[20]", "first_2[]"));
  refused(replaced(kPtx, ".align 8 .b8 first_2", ".align 3 .b8 first_2"));
  refused(replaced(kPtx, "{ ret; }\n}\n.entry second() { ret; }\n", ""));
  refused(kPtx + std::string(1, '\0') + "more");
  // Cut off anywhere it is damaged, unless what is left is whole: between kernels.
  const auto between = [&](size_t size, std::string_view from, std::string_view to) {
    const size_t first = kPtx.find(from) + from.size();
    return size >= first && size < kPtx.find(to, first) + to.size();
  };
  for (size_t size = 0; size < kPtx.size(); ++size) {
    CAPTURE(size);
    const auto object = codeobject::parse(as_bytes(kPtx).first(size), "text");
    CHECK((object.ok() || object.error().code == Code::damaged));
    if (between(size, ".visible .entry", "ret; }\n}") || between(size, ".entry second", "ret; }") ||
        between(size, "}\n.entry", "second"))
      CHECK_FALSE(object.ok());
  }
}
