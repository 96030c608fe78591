// Races, uninitialised reads and seeded schedules: one wrong kernel for each, and right ones.
#include <unistd.h>

#include <algorithm>
#include <set>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
KERNEL lds_race(u32* out) {
  SHARED u32 s[128];
  s[item()] = item();
  out[item()] = s[127 - item()];
}
KERNEL lds_ordered(u32* out) {
  SHARED u32 s[128];
  s[item()] = item();
  barrier();
  out[index()] = s[127 - item()];
  barrier();
  s[127 - item()] = 7;
}
KERNEL lds_late(u32* out) {
  SHARED u32 s[128];
  s[item()] = item();
  barrier();
  u32 v = s[127 - item()];
  s[item()] = v + 1;
  barrier();
  out[item()] = s[item()];
}
KERNEL lds_bytes(u32* out) {
  SHARED unsigned char s[512];
  s[item() * 4 % 512 + item() / 128] = (unsigned char)item();
  barrier();
  out[item()] = s[511 - item()];
}
KERNEL groups_race(u32* out) { if (item() == 3) out[5] = group(); }
KERNEL groups_read(u32* out, u32* in) {
  if (group() == 1 && item() == 0) in[9] = 1;
  out[index()] = in[item()];
}
KERNEL waves_race(u32* out) { if (item() % 64 == 1) out[2] = item(); }
KERNEL waves_ordered(u32* out) {
  if (item() == 1) out[2] = item();
  barrier();
  if (item() == 65) out[2] = item();
}
KERNEL atomics(u32* out) {
  __hip_atomic_fetch_add(out, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  if (item() == 0) __hip_atomic_store(out + 1, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL atomic_and_plain(u32* out) {
  if (group() == 0) __hip_atomic_fetch_add(out, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  else out[0] = 1;
}
KERNEL bytes_apart(unsigned char* out) { out[index()] = (unsigned char)index(); }
KERNEL copy(u32* out, const u32* in) { out[item()] = in[item()]; }
KERNEL scalar_copy(u32* out, const u32* in) { out[item()] = in[group() + 2]; }
KERNEL add_to(u32* out) {
  __hip_atomic_fetch_add(out, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL lds_unwritten(u32* out, u32 n) {
  SHARED u32 s[64];
  if (item() < n) s[item()] = item();
  barrier();
  out[index()] = s[item()];
}
KERNEL missing_barrier(u32* out) {
  SHARED u32 s[256];
  s[item()] = item();
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "singlethread");
  out[item()] = ((volatile u32*)s)[255 - item()];
}
KERNEL arrival(u32* out, u32* counter) {
  if (item() % 64 == 0)
    out[index() / 64] = __hip_atomic_fetch_add(counter, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL handshake(u32* out) {
  SHARED volatile u32 flag;
  if (item() == 0) flag = 0;
  barrier();
  if (item() < 64) { while (flag == 0) {} out[item()] = flag; }
  else if (item() == 64) flag = 9;
}
)";

enum Check { kNone, kRaces, kUninitialized };

std::unique_ptr<Emulated> open(Check check, uint64_t seed = 0, unsigned jobs = 0) {
  static const auto code = compile(kText, "gfx942");
  if (!code) return nullptr;
  device::OpenOptions options;
  options.check_races = check == kRaces;
  options.check_uninitialized = check == kUninitialized;
  options.schedule_seed = seed;
  options.jobs = jobs;
  options.instruction_budget = 10'000'000;
  auto gpu = std::make_unique<Emulated>(mi300x(), options);
  gpu->load(*code);
  return gpu;
}

std::string hex_of(uint64_t value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

}  // namespace

TEST_CASE("a race on LDS names both accesses") {
  const auto gpu = open(kRaces);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(128));
  check_fault(gpu->launch("lds_race", {1}, {128}, out), "race",
              {"kernel lds_race", "ds_", "workgroup (0,0,0)", "wavefront 1", "lane 0",
               "LDS offset 0x", "by workgroup (0,0,0), wavefront 0, pc 0x"});
  check_fault(
      gpu->launch("lds_late", {1}, {128}, out), "race",
      {"ds_read", "wavefront 1, lane 0", "write by workgroup (0,0,0), wavefront 0", "ds_write"});
}

TEST_CASE("a race on global memory names the allocation and the other access") {
  const auto gpu = open(kRaces);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(512));
  const auto in = gpu->put(std::vector<uint32_t>(512));
  check_fault(gpu->launch("groups_race", {2}, {64}, out), "race",
              {"global_store_dword", "workgroup (1,0,0)", "wavefront 0", "lane 3",
               "write of 4 bytes at " + hex_of(out + 20), "write by workgroup (0,0,0), wavefront 0",
               "20 bytes into the buffer at " + hex_of(out)});
  check_fault(gpu->launch("groups_read", {2}, {64}, out, in), "race",
              {"workgroup (1,0,0)", hex_of(in + 36), "read by workgroup (0,0,0)"});
  check_fault(gpu->launch("waves_race", {1}, {128}, out), "race",
              {"workgroup (0,0,0)", "wavefront 1", "lane 1", "wavefront 0"});
  check_fault(gpu->launch("atomic_and_plain", {2}, {64}, out), "race",
              {"write of 4 bytes", "atomic by workgroup (0,0,0)"});
}

TEST_CASE("ordered, atomic and neighbouring accesses are no races") {
  const auto gpu = open(kRaces);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(512));
  check_ok(gpu->launch("lds_ordered", {3}, {128}, out));
  check_ok(gpu->launch("lds_bytes", {1}, {512}, out));
  check_ok(gpu->launch("waves_ordered", {1}, {128}, out));
  check_ok(gpu->launch("atomics", {4}, {128}, out));
  check_ok(gpu->launch("bytes_apart", {8}, {128}, out));
  check_ok(gpu->launch("groups_race", {1}, {64}, out));
  check_ok(gpu->launch("groups_race", {1}, {64}, out));  // launches are in order
}

TEST_CASE("without the check races go unseen") {
  const auto gpu = open(kNone);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(512));
  check_ok(gpu->launch("groups_race", {2}, {64}, out));
  check_ok(gpu->launch("copy", {1}, {64}, out, gpu->reserve(256)));
}

TEST_CASE("reads of global memory that nothing has written") {
  const auto gpu = open(kUninitialized);
  if (!gpu) return;
  const auto out = gpu->reserve(4096), in = gpu->reserve(4096);
  check_fault(gpu->launch("copy", {1}, {64}, out, in), "uninitialized",
              {"kernel copy", "global_load_dword", "lane 0", hex_of(in), "buffer at"});
  const std::vector<uint32_t> some(20);
  REQUIRE(gpu->device().copy_in(in, std::as_bytes(std::span(some))).ok());
  check_fault(gpu->launch("copy", {1}, {64}, out, in), "uninitialized",
              {"lane 20", hex_of(in + 80), "80 bytes into the buffer"});
  REQUIRE(gpu->device().fill(in, std::byte{1}, 4096).ok());
  check_ok(gpu->launch("copy", {1}, {64}, out, in));
  check_ok(gpu->launch("copy", {1}, {64}, in, out));  // what a kernel wrote is written
  REQUIRE(gpu->device().mark_undefined(in + 8, 4).ok());
  check_fault(gpu->launch("scalar_copy", {1}, {64}, out, in), "uninitialized",
              {"s_load", hex_of(in + 8)});
  check_fault(gpu->launch("add_to", {1}, {64}, gpu->reserve(4)), "uninitialized",
              {"global_atomic"});
}

TEST_CASE("reads of LDS that this workgroup has not written") {
  const auto gpu = open(kUninitialized, 0, 1);
  if (!gpu) return;
  const auto out = gpu->reserve(4096);
  check_ok(gpu->launch("lds_unwritten", {2}, {64}, out, 64u));
  check_fault(gpu->launch("lds_unwritten", {2}, {64}, out, 60u), "uninitialized",
              {"ds_read", "lane 60", "LDS offset 0xf0"});
}

TEST_CASE("a missing barrier shows with some seed, and the same seed repeats") {
  if (!open(kNone)) return;
  std::vector<uint32_t> right(256);
  for (uint32_t i = 0; i < 256; ++i) right[i] = 255 - i;
  std::set<std::vector<uint32_t>> seen;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    std::vector<std::vector<uint32_t>> runs;
    for (int turn = 0; turn < 2; ++turn) {
      const auto gpu = open(kNone, seed);
      const auto out = gpu->put(std::vector<uint32_t>(256));
      check_ok(gpu->launch("missing_barrier", {1}, {256}, out));
      runs.push_back(gpu->get<uint32_t>(out, 256));
    }
    CHECK(runs[0] == runs[1]);
    if (runs[0] != right) seen.insert(runs[0]);
  }
  CHECK(!seen.empty());
}

TEST_CASE("workgroups and wavefronts come in a seeded order") {
  if (!open(kNone)) return;
  std::set<std::vector<uint32_t>> orders;
  bool mixed = false;  // some workgroup whose wavefronts did not arrive by number
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const auto gpu = open(kNone, seed);
    const auto out = gpu->put(std::vector<uint32_t>(40)),
               counter = gpu->put(std::vector<uint32_t>(1));
    check_ok(gpu->launch("arrival", {10}, {256}, out, counter));
    auto order = gpu->get<uint32_t>(out, 40);
    orders.insert(order);
    for (size_t i = 0; i < 40; i += 4)
      mixed = mixed || !std::is_sorted(order.begin() + static_cast<long>(i),
                                       order.begin() + static_cast<long>(i + 4));
    std::sort(order.begin(), order.end());
    for (uint32_t i = 0; i < 40; ++i) CHECK(order[i] == i);  // every wavefront once
  }
  CHECK(orders.size() == 4);
  CHECK(mixed);
}

TEST_CASE("a wavefront may wait for another one of its workgroup") {
  const auto gpu = open(kNone);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  check_ok(gpu->launch("handshake", {1}, {128}, out));
  CHECK(gpu->get<uint32_t>(out, 64) == std::vector<uint32_t>(64, 9));
}
