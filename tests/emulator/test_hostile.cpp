// Code objects that somebody made wrong on purpose: each is refused with a reason, or runs without
// harm to the host.
#include <unistd.h>

#include "codeobject/codeobject.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
DEVICE __attribute__((noinline)) u32 twice(u32 v) { asm volatile("" : "+v"(v)); return v * 2; }
KERNEL k(u32* out, u32 n) {
  SHARED u32 s[64];
  volatile u32 a[4];
  s[item()] = item();
  barrier();
  u32 sum = 0;
  for (u32 i = 0; i < n; ++i) sum += s[(item() + i) & 63] * 3 + twice(i);
  for (u32 i = 0; i < 4; ++i) a[(item() + i) & 3] = sum;
  if (sum > 7) __hip_atomic_fetch_add(out, sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  out[item()] = a[n & 3];
}
)";

const Bytes& object_for(const std::string& arch) {
  static std::map<std::string, Bytes> compiled;
  const auto found = compiled.find(arch);
  if (found != compiled.end()) return found->second;
  return compiled[arch] = compile(kText, arch, "-O2").value_or(Bytes());
}

/// Where in the file an address of the code object lies.
size_t file_offset(const Bytes& bytes, uint64_t address) {
  const auto object = codeobject::parse(bytes, "test");
  REQUIRE(object.ok());
  for (const auto& segment : object->segments)
    if (address >= segment.address && address - segment.address < segment.content.size())
      return static_cast<size_t>(segment.content.data() - bytes.data()) +
             (address - segment.address);
  FAIL("no such address");
  return 0;
}
codeobject::Kernel kernel_of(const Bytes& bytes) {
  const auto object = codeobject::parse(bytes, "test");
  REQUIRE(object.ok());
  REQUIRE(object->find("k") != nullptr);
  return *object->find("k");
}
template <class T>
void poke(Bytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void check_refused(Emulated& gpu, const Bytes& bytes, Code code, const std::string& reason,
                   const std::string& part = "") {
  CAPTURE(reason);
  const auto loaded = gpu.device().load(bytes);
  REQUIRE(!loaded.ok());
  CAPTURE(loaded.error().text());
  CHECK(loaded.error().code == code);
  CHECK(loaded.error().reason == reason);
  CHECK(loaded.error().text().find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a cut file, another machine, an entry outside the code") {
  const Bytes& good = object_for("gfx942");
  if (good.empty()) return;
  Emulated gpu(mi300x());
  for (size_t length = 0; length < good.size(); length += 97)
    CHECK(!gpu.device().load(ByteView(good).first(length)).ok());
  Bytes bytes = good;
  poke<uint16_t>(bytes, 18, 62);  // e_machine: x86-64
  CHECK(!gpu.device().load(bytes).ok());
  const auto kernel = kernel_of(good);
  const size_t descriptor = file_offset(good, kernel.descriptor_address);
  for (const int64_t entry : {int64_t{0}, int64_t{1} << 40, INT64_MAX, INT64_MIN, int64_t{-4096}}) {
    CAPTURE(entry);
    bytes = good;
    poke(bytes, descriptor + 16, entry);
    const auto loaded = gpu.device().load(bytes);
    REQUIRE(!loaded.ok());
    CHECK(loaded.error().code == Code::damaged);
    CHECK(loaded.error().text().find("k") != std::string::npos);
  }
}

TEST_CASE("a descriptor that asks for more than the device has, or contradicts its metadata") {
  const Bytes& good = object_for("gfx1100");
  if (good.empty()) return;
  Emulated gpu(rx7900());
  const size_t descriptor = file_offset(good, kernel_of(good).descriptor_address);
  Bytes bytes = good;
  poke<uint8_t>(bytes, descriptor + 48, static_cast<uint8_t>(good[descriptor + 48]) | 0x3f);
  check_refused(gpu, bytes, Code::unusable, "registers", "256");
  bytes = good;
  poke<uint32_t>(bytes, descriptor, 1u << 20);  // LDS bytes
  const auto more_lds = gpu.device().load(bytes);
  REQUIRE(!more_lds.ok());
  CHECK((more_lds.error().reason == "lds" || more_lds.error().code == Code::damaged));
  bytes = good;
  poke<uint32_t>(bytes, descriptor + 8, 4);  // kernel argument bytes
  CHECK(!gpu.device().load(bytes).ok());

  auto small = rx7900();
  small.lds_bytes_per_workgroup = 128;
  Emulated little(small);
  check_refused(little, good, Code::unusable, "lds", "128");
  small = rx7900();
  small.max_vgprs_per_wave = 4;
  Emulated few(small);
  check_refused(few, good, Code::unusable, "registers", "4");
}

TEST_CASE("jumps out of the code and into instructions") {
  Emulated gpu(mi300x());
  for (const char* jump : {"s_branch 0x3000", "s_branch -0x2000", "s_cbranch_scc0 0x7000",
                           "s_branch .Lhalf\\n v_mov_b32 v0, 0x12345678\\n.Lhalf=.-4"}) {
    CAPTURE(jump);
    const auto code = compile(
        std::string("KERNEL k(u32* p) { asm volatile(\"") + jump + "\" ::: \"v0\"); *p = 1; }",
        "gfx942");
    if (!code) return;
    check_refused(gpu, *code, Code::unusable, "branch-target", "target");
  }
}

TEST_CASE("grids whose sizes multiply to too much") {
  const Bytes& good = object_for("gfx942");
  if (good.empty()) return;
  Emulated gpu(mi300x());
  gpu.load(good);
  const auto out = gpu.put(std::vector<uint32_t>(64));
  for (const device::Dim3 grid :
       {device::Dim3{0x3ffffff, 0xffffffff, 0xffffffff}, device::Dim3{1, 0, 1},
        device::Dim3{1, 1, 0}, device::Dim3{0x4000000, 1, 1}}) {
    const auto done = gpu.launch("k", grid, {64}, out, 3u);
    REQUIRE(!done.ok());
    CHECK(done.error().code == Code::bad_input);
    CHECK(done.error().reason == "grid");
  }
}

TEST_CASE("changed bytes are refused or run without harm") {
  uint32_t state = 2463534242u;
  const auto noise = [&] {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    return state;
  };
  unsigned loaded = 0, finished = 0;
  for (const char* arch : {"gfx942", "gfx1100", "gfx1201"}) {
    const Bytes& good = object_for(arch);
    if (good.empty()) return;
    auto description = std::string(arch) == "gfx942" ? mi300x() : rx7900();
    description.arch.base = arch;
    device::OpenOptions options;
    options.instruction_budget = 3000;
    options.check_races = options.check_uninitialized = true;
    Emulated gpu(description, options);
    const auto kernel = kernel_of(good);
    const size_t code = file_offset(good, kernel.entry_address);
    const size_t descriptor = file_offset(good, kernel.descriptor_address);
    for (int round = 0; round < 200; ++round) {
      Bytes bytes = good;
      const bool in_code = round % 4 != 0;
      const size_t first = in_code ? code : round % 8 == 0 ? descriptor : 0;
      const size_t size = in_code ? kernel.code_size : round % 8 == 0 ? 64 : bytes.size();
      for (uint32_t i = 0; i <= noise() % 3; ++i)
        bytes[first + noise() % size] ^= static_cast<std::byte>(1u << noise() % 8);
      auto module = gpu.device().load(bytes);
      if (!module) continue;
      ++loaded;
      const auto found = (*module)->kernel("k");
      if (!found) continue;
      const auto out = gpu.put(std::vector<uint32_t>(64));
      Bytes arguments;
      append(arguments, out);
      append(arguments, 3u);
      device::Launch launch;
      launch.grid = {1};
      launch.block = {64};
      launch.arguments = arguments;
      if (gpu.device().launch(**found, launch)) ++finished;
      CHECK(gpu.device().release(out).ok());
    }
  }
  CHECK(loaded > 100);
  CHECK(finished > 30);
}
