// Counters, traces and breaks of the emulator.
#include <unistd.h>

#include <algorithm>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
KERNEL copy(u32* out, const u32* in) { out[index()] = in[index()]; }
KERNEL strided(u32* out, const u32* in) { out[index()] = in[index() * 32]; }
KERNEL half_off(float* out) { if (item() % 2 == 0) out[index()] = __builtin_fmaf(out[index()], 3.0f, 1.0f); }
KERNEL lds(u32* out, u32 stride) {
  SHARED u32 s[64 * 33];
  s[item() * stride] = item();
  barrier();
  out[item()] = ((volatile u32*)s)[item() * stride];
}
KERNEL turned(u32* out) {
  SHARED u32 s[64];
  s[item()] = item();
  barrier();
  out[item()] = s[63 - item()];
}
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
KERNEL matrix(f32x4* out) {
  f16x4 a = {1, 1, 1, 1};
  out[item()] = __builtin_amdgcn_mfma_f32_16x16x16f16(a, a, f32x4{0, 0, 0, 0}, 0, 0, 0);
}
)";

std::unique_ptr<Emulated> open(device::OpenOptions options, uint32_t vgprs = 512,
                               uint32_t most_waves = 8) {
  static const auto code = compile(kText, "gfx942");
  if (!code) return nullptr;
  auto description = mi300x();
  description.simds_per_compute_unit = 4;
  description.max_waves_per_simd = most_waves;
  description.vgprs_per_simd_lane = vgprs;
  auto gpu = std::make_unique<Emulated>(description, std::move(options));
  gpu->load(*code);
  return gpu;
}

device::Profile only(Emulated& gpu) {
  auto profiles = gpu.device().take_profiles();
  REQUIRE(profiles.size() == 1);
  return profiles.front();
}

uint64_t count(const device::Profile& profile, device::InstructionClass kind) {
  return profile.instructions[static_cast<size_t>(kind)];
}

}  // namespace

TEST_CASE("global accesses, coalescing and footprint") {
  device::OpenOptions options;
  options.profile = true;
  const auto gpu = open(options);
  if (!gpu) return;
  const auto in = gpu->put(std::vector<uint32_t>(64 * 32 * 4)),
             out = gpu->put(std::vector<uint32_t>(256));
  check_ok(gpu->launch("copy", {2}, {128}, out, in));
  auto profile = only(*gpu);
  CHECK(profile.kernel == "copy");
  CHECK(profile.workgroups == 2);
  CHECK(profile.wavefronts == 4);
  CHECK(profile.global_accesses == 8);
  CHECK(profile.global_transactions == 16);  // 256 bytes a wavefront
  CHECK(profile.global_bytes_read == 1024);
  CHECK(profile.global_bytes_written == 1024);
  CHECK(count(profile, device::InstructionClass::global_memory) == 8);
  CHECK(count(profile, device::InstructionClass::scalar_memory) >= 4);
  CHECK(profile.active_lanes == profile.lane_slots);
  CHECK(profile.scalar_bytes_read > 0);
  CHECK(profile.footprint_bytes >= 2048);
  CHECK(profile.footprint_bytes <= 2048 + 512);  // kernel arguments
  check_ok(gpu->launch("strided", {2}, {128}, out, in));
  CHECK(only(*gpu).global_transactions == 4 * (64 + 2));
  CHECK(gpu->device().take_profiles().empty());
}

TEST_CASE("lanes, floating-point operations and bank conflicts") {
  device::OpenOptions options;
  options.profile = true;
  const auto gpu = open(options);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<float>(4096));
  check_ok(gpu->launch("half_off", {1}, {64}, out));
  auto profile = only(*gpu);
  CHECK(profile.active_lanes < profile.lane_slots);
  CHECK(profile.operations["float"] == 64);
  const auto conflicts = [&](uint32_t stride) {
    check_ok(gpu->launch("lds", {1}, {64}, out, stride));
    const auto one = only(*gpu);
    CHECK(one.lds_accesses == 2);
    CHECK(one.lds_bytes_read == 256);
    CHECK(one.lds_bytes_written == 256);
    return one.lds_conflict_cycles;
  };
  CHECK(conflicts(1) == 0);
  CHECK(conflicts(33) == 0);
  CHECK(conflicts(2) == 2 * 2 * 1);
  CHECK(conflicts(32) == 2 * 2 * 31);
  check_ok(gpu->launch("matrix", {1}, {64}, out));
  profile = only(*gpu);
  CHECK(profile.operations["half_matrix"] == 2 * 16 * 16 * 16);
  CHECK(count(profile, device::InstructionClass::matrix) == 1);
}

TEST_CASE("occupancy from registers and LDS") {
  device::OpenOptions options;
  options.profile = true;
  const auto gpu = open(options);
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(4096));
  check_ok(gpu->launch("lds", {1}, {64}, out, 1u));
  auto profile = only(*gpu);
  CHECK(profile.lds_bytes == 64 * 33 * 4);
  CHECK(profile.waves_per_simd == 2);  // 7 workgroups of one wavefront in 64 KiB, on 4 SIMDs
  CHECK(profile.occupancy_limit == "LDS");
  check_ok(gpu->launch("copy", {1}, {64}, out, out));
  profile = only(*gpu);
  CHECK(profile.waves_per_simd == 8);
  CHECK(profile.occupancy_limit == "device");
  const auto fine = open(options, 1536, 1000);  // 24 registers at a time
  check_ok(fine->launch("copy", {1}, {64}, fine->put(std::vector<uint32_t>(64)),
                        fine->put(std::vector<uint32_t>(64))));
  profile = only(*fine);
  REQUIRE(profile.vgprs <= 24);
  CHECK(profile.waves_per_simd == 1536 / 24);
  CHECK(profile.occupancy_limit == "registers");
}

TEST_CASE("a trace shows the chosen wavefront, and a break its registers") {
  std::vector<std::string> lines;
  device::OpenOptions options;
  options.trace.line = [&](std::string_view line) { lines.emplace_back(line); };
  options.trace.workgroup = 1;
  options.trace.wavefront = 1;
  auto gpu = open(options);
  if (!gpu) return;
  std::vector<uint32_t> values(256);
  for (uint32_t i = 0; i < 256; ++i) values[i] = 0x1000 + i;
  check_ok(gpu->launch("copy", {2}, {128}, gpu->put(values), gpu->put(values)));
  size_t stores = 0, loaded = 0, ends = 0;
  std::string store;
  for (const auto& line : lines) {
    if (line.find("global_store_dword") != std::string::npos) ++stores, store = line;
    loaded += line.find("= 0x10c0 0x10c1 0x10c2") != std::string::npos ? 1 : 0;
    ends += line.find("s_endpgm  exec 0xffffffffffffffff") != std::string::npos ? 1 : 0;
  }
  CHECK(stores == 1);
  CHECK(loaded == 1);
  CHECK(ends == 1);

  lines.clear();
  options.trace.instructions = false;
  options.trace.break_pc = std::stoull(store.substr(0, store.find(' ')), nullptr, 16);
  gpu = open(options);
  check_ok(gpu->launch("copy", {2}, {128}, gpu->put(values), gpu->put(values)));
  REQUIRE(!lines.empty());
  CHECK(lines[0].find("break at 0x") == 0);
  CHECK(lines[0].find("global_store_dword") != std::string::npos);
  bool row = false;
  for (const auto& line : lines)
    row = row || line.find("= 0x10c0 0x10c1 0x10c2") != std::string::npos;
  CHECK(row);
}

TEST_CASE(
    "typed buffer loads, LDS by lane number and scalar stores are counted where they belong") {
  const auto code = compile(R"x(
typedef u32 u4 __attribute__((ext_vector_type(4)));
KERNEL moves(u32* out, u32 value) {
  SHARED u32 s[64];
  s[item()] = 0;
  u4 r = {(u32)(u64)out, (u32)((u64)out >> 32), 512, 0x20000};
  u32 at = item() * 4, x, zero = 0;
  asm volatile("tbuffer_load_format_x %0, %1, %2, %3 format:[BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SINT] offen\n"
               "s_waitcnt vmcnt(0)" : "=v"(x) : "v"(at), "s"(r), "s"(zero) : "memory");
  asm volatile("s_mov_b32 m0, 0\ns_nop 0\nds_write_addtid_b32 %0\nds_read_addtid_b32 %0\n"
               "s_store_dwordx2 %1, %2, 0x100\ns_waitcnt lgkmcnt(0)"
               : "+v"(x) : "s"(value * 0x100000001ull), "s"(out), "v"(s[item()]) : "memory");
  out[item()] = x;
}
)x",
                            "gfx942");
  if (!code) return;
  device::OpenOptions options;
  options.profile = true;
  Emulated gpu(mi300x(), options);
  gpu.load(*code);
  const auto out = gpu.put(std::vector<uint32_t>(128, 0xfffe0003u));
  check_ok(gpu.launch("moves", {1}, {64}, out, 9u));
  const auto profile = only(gpu);
  CHECK(count(profile, device::InstructionClass::global_memory) == 2);  // one load, one store
  CHECK(count(profile, device::InstructionClass::lds) >= 3);
  CHECK(profile.global_bytes_read == 64 * 2);
  CHECK(profile.global_bytes_written == 64 * 4 + 8);
  CHECK(profile.lds_bytes_written >= 2 * 256);
  std::vector<uint32_t> want(64, 3);
  want.resize(128, 0xfffe0003u);
  want[64] = want[65] = 9;
  CHECK(gpu.get<uint32_t>(out, 128) == want);
}

TEST_CASE("a pair of operations is one instruction to counters and traces") {
  // The halves of the second pair exchange two registers.
  const auto code = compile(R"x(
KERNEL pairs(u32* out) {
  u32 a = item();
  asm volatile("s_nop 0\nv_mov_b32 v8, %0\nv_mov_b32 v9, 7\n"
               "v_dual_mov_b32 v10, v8 :: v_dual_mov_b32 v11, v9\n"
               "v_dual_mov_b32 v8, v9 :: v_dual_mov_b32 v9, v8\n"
               "v_mov_b32 %0, v9" : "+v"(a) : : "v8", "v9", "v10", "v11");
  out[item()] = a;
}
)x",
                            "gfx1100");
  if (!code) return;
  std::vector<std::string> lines;
  device::OpenOptions options;
  options.profile = true;
  options.trace.line = [&](std::string_view line) { lines.emplace_back(line); };
  Emulated gpu(rx7900(), options);
  gpu.load(*code);
  const auto out = gpu.reserve(128);
  check_ok(gpu.launch("pairs", {1}, {32}, out));
  for (uint32_t i = 0; i < 32; ++i) CHECK(gpu.get<uint32_t>(out, 32)[i] == i);
  uint64_t kinds = 0;
  for (const uint64_t one : only(gpu).instructions) kinds += one;
  CHECK(gpu.device().counters().instructions == kinds);
  size_t shown = 0;
  for (const auto& line : lines) {
    shown += line.rfind("0x", 0) == 0 ? 1 : 0;
    CHECK(line.find("    a") != 0);  // where a result waits is no register
  }
  CHECK(shown == kinds);
  const auto crossing = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("v_dual_mov_b32 v8, v9") != std::string::npos;
  });
  REQUIRE(lines.end() - crossing > 2);
  CHECK(crossing[1].rfind("    v8[", 0) == 0);
  CHECK(crossing[2].rfind("    v9[", 0) == 0);

  // The plain way to run counts alike, and so does the budget.
  Emulated plain(rx7900(), 1, kinds);
  plain.load(*code);
  check_ok(plain.launch("pairs", {1}, {32}, plain.reserve(128)));
  CHECK(plain.device().counters().instructions == kinds);
  CHECK(plain.device().counters().lane_instructions == gpu.device().counters().lane_instructions);
}

TEST_CASE("writes of M0 while registers are indexed are counted once") {
  const auto code = compile(R"x(
KERNEL indexed(u32* out) {
  asm volatile("s_set_gpr_idx_on 0, gpr_idx(SRC0)\ns_mov_b32 m0, 0x1001\ns_mov_b32 m0, 0x1000\n"
               "s_set_gpr_idx_off" : : : "m0");
  out[item()] = 1;
}
)x",
                            "gfx942");
  if (!code) return;
  size_t writes = 0;
  device::OpenOptions options;
  options.profile = true;
  options.trace.line = [&](std::string_view line) {
    writes += line.find("s_mov_b32 m0") != std::string_view::npos ? 1 : 0;
  };
  Emulated gpu(mi300x(), options);
  gpu.load(*code);
  check_ok(gpu.launch("indexed", {1}, {64}, gpu.reserve(256)));
  uint64_t kinds = 0;
  for (const uint64_t one : only(gpu).instructions) kinds += one;
  CHECK(gpu.device().counters().instructions == kinds);
  CHECK(writes == 2);
}

TEST_CASE("a scalar store of what nothing has written") {
  const auto code = compile(R"x(
KERNEL undefined(u32* out) {
  asm volatile("s_store_dword s77, %0, 0x0\ns_waitcnt lgkmcnt(0)" : : "s"(out) : "memory", "s77");
}
)x",
                            "gfx942");
  if (!code) return;
  device::OpenOptions options;
  options.check_uninitialized = true;
  Emulated gpu(mi300x(), options);
  gpu.load(*code);
  check_fault(gpu.launch("undefined", {1}, {64}, gpu.reserve(64)), "uninitialized",
              {"s_store_dword", "s77"});
}

TEST_CASE("bytes that a device counts went to or came from memory, not LDS") {
  const auto gpu = open({});
  if (!gpu) return;
  const auto out = gpu->put(std::vector<uint32_t>(64));
  check_ok(gpu->launch("turned", {1}, {64}, out));
  const auto counted = gpu->device().counters();
  CHECK(counted.memory_bytes_written == 64 * 4);
  CHECK(counted.memory_bytes_read < 64);  // kernel arguments
}
