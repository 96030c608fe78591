// Cubins and PTX: what is read from good ones, and that bad ones are refused.
#include <doctest/doctest.h>
#include <elf.h>

#include <cstring>

#include "base/file.h"
#include "codeobject/codeobject.h"
#include "codeobject/cubin.h"
#include "codeobject/print.h"

using namespace hipplan;
using codeobject::CodeObject;

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

template <class T>
void store(Bytes& bytes, size_t offset, T value) {
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
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
  Bytes relocatable = good;
  store(relocatable, offsetof(Elf64_Ehdr, e_type), uint16_t{ET_REL});
  const auto object = codeobject::parse(relocatable, "sample");
  REQUIRE_FALSE(object.ok());
  CHECK(object.error().reason == "cubin");
  Bytes specific = good;
  store(specific, offsetof(Elf64_Ehdr, e_flags), uint32_t{0x5a08});
  CHECK(codeobject::parse(specific, "sample")->arch.text() == "sm_90a");
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

TEST_CASE("PTX that cannot be is refused") {
  CHECK(refused(replaced(kPtx, "sm_90a", "sm_9")).text().find(".target") != std::string::npos);
  refused(replaced(kPtx, ".target sm_90a, debug\n", ""));
  refused(replaced(kPtx, "second", "first"));
  refused(replaced(kPtx, ".u8 first_1", "first_1"));
  refused(replaced(kPtx, "first_2[20]", "first_2[99999999]"));
  refused(replaced(kPtx, "first_2[20]", "first_2[]"));
  refused(replaced(kPtx, ".align 8 .b8 first_2", ".align 3 .b8 first_2"));
  refused(replaced(kPtx, "{ ret; }\n}\n.entry second() { ret; }\n", ""));
  refused(kPtx + std::string(1, '\0') + "more");
  for (size_t size = 0; size < kPtx.size(); ++size) {
    const auto object = codeobject::parse(as_bytes(kPtx).first(size), "text");
    CHECK((object.ok() || object.error().code == Code::damaged));
  }
}
