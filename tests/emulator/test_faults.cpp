// Wrong kernels and wrong launches: each is told, with the right place.
#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "device/emulator/fence.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
KERNEL beyond(u32* out, u32 n) { if (item() < n) out[item()] = 1; }
KERNEL copy(u32* out, const u32* in) { out[item()] = in[item()]; }
KERNEL endless(volatile u32* flag) { while (*flag == 0) {} }
KERNEL lds_beyond(u32* out, u32 at) {
  SHARED u32 s[64];
  s[item()] = item();
  barrier();
  ((volatile u32*)s)[item() == 5 ? at : 0] = 7;
  out[item()] = s[0];
}
KERNEL lds_direct(u32* out, u32 at) {
  SHARED u32 s[64];
  s[item()] = item();
  barrier();
  s[item() == 5 ? at : item()] = 7;
  barrier();
  out[item()] = s[item() ^ 1];
}
KERNEL write_arguments(u64 unused) {
  u32* p = (u32*)(u64)__builtin_amdgcn_kernarg_segment_ptr();
  *(volatile u32*)p = 1;
}
KERNEL two_barriers(u32* out) {
  if (__builtin_amdgcn_readfirstlane(item()) < 64) { __builtin_amdgcn_s_barrier(); out[0] = 1; }
  else { out[1] = 2; __builtin_amdgcn_s_sleep(1); __builtin_amdgcn_s_barrier(); out[2] = 3; }
}
KERNEL trap(u32* out) { __builtin_trap(); }
)";

std::unique_ptr<Emulated> open(const device::OpenOptions& options) {
  static const auto code = compile(kText, "gfx942");
  if (!code) return nullptr;
  auto gpu = std::make_unique<Emulated>(mi300x(), options);
  gpu->load(*code);
  return gpu;
}
std::unique_ptr<Emulated> open(unsigned jobs = 1, uint64_t budget = 0) {
  device::OpenOptions options;
  options.jobs = jobs;
  options.instruction_budget = budget;
  return open(options);
}

}  // namespace

TEST_CASE("what is thrown inside the module is an error outside of it") {
  const auto reason = [](const auto& body) {
    const auto answer = emulator::fenced("emulator:gfx942", body);
    REQUIRE(!answer.ok());
    return answer.error().reason + ": " + answer.error().what;
  };
  CHECK(reason([]() -> Result<void> { throw std::bad_alloc(); }) ==
        "out-of-memory: the host has not enough memory");
  CHECK(reason([]() -> Result<int> { throw std::runtime_error("broken"); }) == "exception: broken");
  CHECK(reason([]() -> Result<int> { throw 1; }) == "exception: an exception of an unknown kind");
  CHECK(*emulator::fenced("emulator:gfx942", []() -> Result<int> { return 3; }) == 3);
}

TEST_CASE("a write past the end names lane, address and allocation") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(70));
  check_ok(gpu->launch("beyond", {1}, {128}, out, 70u));
  std::ostringstream address;
  address << "0x" << std::hex << out + 280;
  check_fault(gpu->launch("beyond", {1}, {128}, out, 71u), "bad-address",
              {"kernel beyond", "global_store_dword", "workgroup (0,0,0)", "wavefront 1", "lane 6",
               address.str(), "0 bytes past the end of the buffer"});
}

TEST_CASE("null, wild and freed addresses") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  const auto gone = gpu->put(std::vector<uint32_t>(64));
  CHECK(gpu->device().release(gone).ok());
  check_fault(gpu->launch("copy", {1}, {64}, out, gone), "bad-address", {"lane 0", "freed memory"});
  check_fault(gpu->launch("copy", {1}, {64}, out, uint64_t{0}), "bad-address",
              {"read of 4 bytes at 0x0"});
  check_fault(gpu->launch("copy", {1}, {64}, uint64_t{0x7ffdeadbeef0}, out), "bad-address",
              {"write"});
  check_ok(gpu->launch("copy", {1}, {64}, out, out));  // the device still works
}

TEST_CASE("an endless loop ends") {
  const auto gpu = open(1, 100000);
  if (!gpu) return;
  const auto flag = gpu->put(std::vector<uint32_t>(1));
  check_fault(gpu->launch("endless", {1}, {64}, flag), "instruction-budget", {"kernel endless"});
}

TEST_CASE("an endless loop ends when it is asked to") {
  std::atomic<unsigned> asked{0};
  device::OpenOptions options;
  options.interrupted = [&asked] { return ++asked == 4; };
  for (const uint64_t seed : {0, 7}) {
    asked = 0;
    options.schedule_seed = seed;
    const auto gpu = open(options);
    if (!gpu) return;
    const auto flag = gpu->put(std::vector<uint32_t>(1));
    const auto done = gpu->launch("endless", {1}, {128}, flag);
    REQUIRE_FALSE(done.ok());
    CHECK(done.error().code == Code::interrupted);
    CHECK(asked == 4);
  }
}

TEST_CASE("LDS beyond the workgroup's size") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  check_ok(gpu->launch("lds_beyond", {1}, {64}, out, 63u));
  check_fault(gpu->launch("lds_beyond", {1}, {64}, out, 64u), "bad-lds-address",
              {"lane 5", "offset 0x100", "256 bytes"});
}

TEST_CASE("LDS instructions beyond the workgroup's size") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  check_ok(gpu->launch("lds_direct", {1}, {64}, out, 63u));
  check_fault(gpu->launch("lds_direct", {1}, {64}, out, 64u), "bad-lds-address",
              {"ds_write", "lane 5", "offset 0x100", "256 bytes"});
  check_fault(gpu->launch("lds_direct", {1}, {64}, out, 0x3fffffffu), "bad-lds-address",
              {"ds_write", "lane 5", "offset 0xfffffffc"});
}

TEST_CASE("kernel arguments are read-only") {
  const auto gpu = open();
  if (!gpu) return;
  check_fault(gpu->launch("write_arguments", {1}, {64}, uint64_t{0}), "read-only",
              {"kernel arguments"});
}

TEST_CASE("wavefronts at different barriers, and traps") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(4));
  check_fault(gpu->launch("two_barriers", {1}, {128}, out), "barrier-divergence",
              {"wavefront 1", "s_barrier"});
  check_fault(gpu->launch("trap", {1}, {64}, out), "trap", {"s_trap"});
}

TEST_CASE("launch geometry and arguments are checked") {
  const auto gpu = open();
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  const auto refused = [&](device::Dim3 grid, device::Dim3 block, const std::string& reason) {
    const auto result = gpu->launch("copy", grid, block, out, out);
    REQUIRE(!result.ok());
    CHECK(result.error().code == Code::bad_input);
    CHECK(result.error().reason == reason);
  };
  refused({0, 1, 1}, {64, 1, 1}, "grid");
  refused({0xffffffffu, 1, 1}, {64, 1, 1}, "grid");
  refused({1, 1, 1}, {0, 1, 1}, "block");
  refused({1, 1, 1}, {1025, 1, 1}, "block");
  refused({1, 1, 1}, {64, 64, 1}, "block");
  CHECK(gpu->launch("copy", {1}, {64}, out).error().reason == "arguments");
  CHECK(gpu->launch("nobody", {1}, {64}).error().reason == "symbol");
  CHECK(gpu->launch_with("copy", {1}, {64}, 70000, out, out).error().reason == "lds");
}

TEST_CASE("code objects that cannot run are refused at load") {
  const auto gpu = open();
  if (!gpu) return;
  const auto refused = [&](const std::string& text, const std::string& arch,
                           const std::string& reason) {
    const auto code = compile(text, arch);
    const auto loaded = gpu->device().load(*code);
    REQUIRE(!loaded.ok());
    CAPTURE(loaded.error().text());
    CHECK(loaded.error().code == Code::unusable);
    CHECK(loaded.error().reason == reason);
    return loaded.error().text();
  };
  refused("KERNEL k(u32* p) { *p = 1; }", "gfx1100", "driver-load");
  const std::string text =
      refused("KERNEL k(u32* p) { asm volatile(\"s_setvskip s0, 0\"); *p = 1; }", "gfx942",
              "unknown-instruction");
  CHECK(text.find("s_setvskip") != std::string::npos);
  CHECK(text.find("encoded ") != std::string::npos);
  CHECK(text.find("0x") != std::string::npos);
  refused("KERNEL k(u32* p) { asm volatile(\".long 0xfeedc0de\"); *p = 1; }", "gfx942",
          "undecodable");
  refused("KERNEL k(u32* p) { asm volatile(\"v_mov_b32 v200, 0\"); *p = 1; }", "gfx942",
          "register-out-of-range");
}

TEST_CASE("a failed load and an unloaded module leave no memory behind") {
  const auto gpu = open();
  if (!gpu) return;
  const auto bad =
      compile("KERNEL k(u32* p) { asm volatile(\"s_setvskip s0, 0\"); *p = 1; }", "gfx942");
  for (int i = 0; i < 20; ++i) CHECK(!gpu->device().load(*bad).ok());
  CHECK(!gpu->device().load(ByteView(*bad).first(200)).ok());
  CHECK(!gpu->device().allocate(1ull << 33).ok());
  CHECK(gpu->device().allocate((1ull << 32) - (1u << 20)).ok());
}
