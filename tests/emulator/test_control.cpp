// Indexed registers, calls, and jumps that lead nowhere.
#include <unistd.h>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

TEST_CASE("registers indexed by M0 on gfx11") {
  const auto code = compile(R"(
KERNEL k(u32* out, u32 by) {
  u32 a;
  asm volatile("s_mov_b32 m0, %1\n v_mov_b32 v10, 100\n v_mov_b32 v11, 101\n v_mov_b32 v12, 102\n v_movrels_b32 %0, v10"
               : "=v"(a) : "s"(by) : "v10", "v11", "v12");
  out[item()] = a;
  asm volatile("v_movreld_b32 v10, %1\n v_mov_b32 %0, v11" : "=v"(a) : "v"(item()) : "v10", "v11", "v12");
  out[item() + 32] = a;
})",
                            "gfx1100");
  if (!code) return;
  Emulated gpu(rx7900());
  gpu.load(*code);
  const auto out = gpu.put(std::vector<uint32_t>(64));
  check_ok(gpu.launch("k", {1}, {32}, out, 1u));
  const auto got = gpu.get<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 32; ++i) {
    CHECK(got[i] == 101);
    CHECK(got[32 + i] == i);
  }
  check_fault(gpu.launch("k", {1}, {32}, out, 300u), "register-index", {"v_movrels_b32", "v310"});
}

TEST_CASE("a jump to where no instruction starts") {
  const auto code = compile(R"(
KERNEL k(u64 target) { asm volatile("s_setpc_b64 %0" :: "s"(target)); }
)",
                            "gfx942");
  if (!code) return;
  Emulated gpu(mi300x());
  gpu.load(*code);
  check_fault(gpu.launch("k", {1}, {64}, uint64_t{0x1234}), "call-target",
              {"s_setpc_b64", "0x1234"});
}

TEST_CASE("a function that holds an unknown instruction refuses the load") {
  const auto code = compile(R"(
__attribute__((device, noinline)) void odd(u32* p) { asm volatile("s_setvskip s0, 0"); *p = 3; }
KERNEL k(u32* p) { odd(p); p[1] = 2; }
)",
                            "gfx942");
  if (!code) return;
  Emulated gpu(mi300x());
  const auto loaded = gpu.device().load(*code);
  REQUIRE(!loaded.ok());
  CHECK(loaded.error().reason == "unknown-instruction");
  CHECK(loaded.error().text().find("function ") != std::string::npos);
}

TEST_CASE("counters in LDS, loads into LDS, faces of a cube") {
  const auto code = compile(R"hip(
KERNEL count(u32* out) {
  SHARED u32 s[64];
  s[item()] = item() == 3 ? 100 : 0;
  barrier();
  u32 a, b;
  asm volatile("s_mov_b32 m0, 8\n s_nop 0\n ds_append %0 offset:4\n s_waitcnt lgkmcnt(0)" : "=v"(a) :: "memory");
  if (item() < 5) {
    asm volatile("s_mov_b32 m0, 12\n s_nop 0\n ds_consume %0\n s_waitcnt lgkmcnt(0)" : "=v"(b) :: "memory");
    out[64 + item()] = b;
  }
  out[item()] = a;
  barrier();
  if (item() == 0) out[127] = s[3];
}
KERNEL direct(u32* out, const u32* in) {
  SHARED u32 s[256];
  const u32* from = in + item();
  if (item() % 3 != 1)
    asm volatile("s_mov_b32 m0, 64\n s_nop 0\n global_load_lds_dword %0, off offset:16\n s_waitcnt vmcnt(0)"
                 :: "v"(from), "r"((u32)(u64)(__attribute__((address_space(3))) u32*)s) : "memory");
  barrier();
  out[item()] = item() % 3 != 1 ? s[20 + item()] : 0;
}
KERNEL cube(float* out, float x, float y, float z) {
  float r;
#define ONE(AT, NAME) asm volatile(NAME " %0, %1, %2, %3" : "=v"(r) : "v"(x), "v"(y), "v"(z)); out[AT] = r;
  ONE(0, "v_cubeid_f32") ONE(1, "v_cubesc_f32") ONE(2, "v_cubetc_f32") ONE(3, "v_cubema_f32")
}
KERNEL bytes(u32* out, u32 v) {
  u32 r;
  asm volatile("v_sat_pk_u8_i16 %0, %1" : "=v"(r) : "v"(v));
  out[0] = r & 0xffff;
}
)hip",
                            "gfx942", "-O1");
  if (!code) return;
  device::OpenOptions options;
  options.check_races = options.check_uninitialized = true;
  Emulated gpu(mi300x(), options);
  gpu.load(*code);
  const auto out = gpu.put(std::vector<uint32_t>(128));
  check_ok(gpu.launch("count", {1}, {64}, out));
  const auto counts = gpu.get<uint32_t>(out, 128);
  CHECK(counts[0] == 100);
  CHECK(counts[63] == 100);
  CHECK(counts[64] == 164);
  CHECK(counts[68] == 164);
  CHECK(counts[127] == 159);

  std::vector<uint32_t> in(80);
  for (uint32_t i = 0; i < 80; ++i) in[i] = 1000 + i;
  check_ok(gpu.launch("direct", {1}, {64}, out, gpu.put(in)));
  const auto loaded = gpu.get<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i) CHECK(loaded[i] == (i % 3 != 1 ? 1004 + i : 0));

  const struct {
    float x, y, z, want[4];
  } directions[] = {{1, 2, -3, {5, -1, -2, -6}}, {1, -4, 3, {3, 1, -3, -8}},
                    {5, 2, 3, {0, -3, -2, 10}},  {-5, 2, 3, {1, 3, -2, -10}},
                    {2, 2, 2, {4, 2, -2, 4}},    {2, 2, 1, {2, 2, 1, 4}}};
  for (const auto& d : directions) {
    check_ok(gpu.launch("cube", {1}, {1}, out, d.x, d.y, d.z));
    CHECK(gpu.get<float>(out, 4) == std::vector<float>(d.want, d.want + 4));
  }
  check_ok(gpu.launch("bytes", {1}, {1}, out, 0x0123fff0u));
  CHECK(gpu.get<uint32_t>(out, 1)[0] == 0xff00);
}

TEST_CASE("barrier states and small scalar loads of gfx12, dot products that round twice") {
  const auto code = compile(R"hip(
KERNEL k(u32* out, const u32* in) {
  u32 first, state;
  asm volatile("s_barrier_signal_isfirst -1\n s_cselect_b32 %0, 1, 0\n s_get_barrier_state %1, -1\n s_barrier_wait -1"
               : "=s"(first), "=s"(state) :: "scc", "memory");
  if (item() % 32 == 0) { out[item() / 32 * 2] = first; out[item() / 32 * 2 + 1] = state; }
  const u64 base = (u64)in;
  u32 a, b, c;
  u32 r0 = (u32)base, r1 = (u32)(base >> 32), n = 6;
  asm volatile("s_mov_b32 s40, %3\n s_mov_b32 s41, %4\n s_mov_b32 s42, %5\n s_mov_b32 s43, 0\n"
               "s_buffer_load_i8 %0, s[40:43], 0x1\n s_buffer_load_u16 %1, s[40:43], 0x4\n s_buffer_load_u8 %2, s[40:43], 0x6\n s_wait_kmcnt 0x0"
               : "=s"(a), "=s"(b), "=s"(c) : "s"(r0), "s"(r1), "s"(n) : "s40", "s41", "s42", "s43");
  u32 h, g;
  asm volatile("v_dot2_f16_f16 %0, %1, %2, %3" : "=v"(h) : "v"(0x68003c00u), "v"(0x3c003c00u), "v"(0x68003400u));
  u32 lane = 4 * ((item() + 1) % 32), mine = item() + 7;
  asm volatile("" : "+v"(lane), "+v"(mine));  // in all lanes
  if (item() % 2 == 0) asm volatile("ds_bpermute_fi_b32 %0, %1, %2\n s_wait_dscnt 0x0" : "=v"(g) : "v"(lane), "v"(mine));
  if (item() == 0) { out[4] = a; out[5] = b; out[6] = c; out[7] = h & 0xffff; }
  if (item() == 2) out[8] = g;
})hip",
                            "gfx1201", "-O1");
  if (!code) return;
  auto description = rx7900();
  description.arch.base = "gfx1201";
  Emulated gpu(description);
  gpu.load(*code);
  const auto out = gpu.put(std::vector<uint32_t>(16));
  const std::vector<uint32_t> in{0x0000f100u, 0xbeef1234u};
  check_ok(gpu.launch("k", {1}, {64}, out, gpu.put(in)));
  const auto got = gpu.get<uint32_t>(out, 9);
  CHECK(got[0] + got[2] == 1);
  CHECK((got[1] & 0x7f1) == 0x21);
  CHECK((got[1] >> 16) + (got[3] >> 16) == 3);
  CHECK(got[4] == 0xfffffff1u);
  CHECK(got[5] == 0x1234u);
  CHECK(got[6] == 0);        // beyond the resource
  CHECK(got[7] == 0x6801u);  // 2048 + 1.25
  CHECK(got[8] == 10);
}

namespace {

const char* const kClocks = R"(
KERNEL spin(u64* out, u32 least) {
  const u64 steady = __builtin_readsteadycounter();
  const u32 start = __builtin_readcyclecounter();
  u32 rounds = 0;
  while ((u32)__builtin_readcyclecounter() - start < least) ++rounds;
  out[0] = (u32)__builtin_readcyclecounter() - start;
  out[1] = __builtin_readsteadycounter() - steady;
  out[2] = rounds;
}
)";

std::vector<uint64_t> spun(const Bytes& code, const std::string& arch,
                           device::OpenOptions options) {
  options.instruction_budget = 20'000;
  Emulated gpu(device_for(arch), options);
  gpu.load(code);
  const auto out = gpu.put(std::vector<uint64_t>(3));
  check_ok(gpu.launch("spin", {1}, {32}, out, 2000u));
  return gpu.get<uint64_t>(out, 3);
}

}  // namespace

TEST_CASE("clocks go on with every instruction, the same in every run") {
  for (const char* const arch : {"gfx90a", "gfx942", "gfx1100", "gfx1201"}) {
    CAPTURE(arch);
    const auto code = compile(kClocks, arch);
    if (!code) return;
    const auto plain = spun(*code, arch, {});
    CHECK(plain[0] >= 2000);
    CHECK(plain[0] < 2100);
    CHECK(plain[1] > plain[0]);
    CHECK(plain[1] < 2200);
    CHECK(plain[2] > 100);
    CHECK(spun(*code, arch, strict()) == plain);
    device::OpenOptions seeded;
    for (seeded.schedule_seed = 1; seeded.schedule_seed < 4; ++seeded.schedule_seed)
      CHECK(spun(*code, arch, seeded) == plain);
  }
}

TEST_CASE("a clock counts the instructions between two readings") {
  const auto code = compile(R"hip(
KERNEL k(u64* out) {
  u64 first, second, real;
  asm volatile("s_memtime %0\n s_waitcnt lgkmcnt(0)\n s_nop 0\n s_nop 0\n s_memtime %1\n"
               "s_memrealtime %2\n s_waitcnt lgkmcnt(0)"
               : "=&s"(first), "=&s"(second), "=&s"(real));
  out[0] = second - first;
  out[1] = real - second;
})hip",
                            "gfx942");
  if (!code) return;
  Emulated gpu(mi300x());
  gpu.load(*code);
  const auto out = gpu.put(std::vector<uint64_t>(2));
  check_ok(gpu.launch("k", {1}, {64}, out));
  const auto got = gpu.get<uint64_t>(out, 2);
  CHECK(got[0] == 4);
  CHECK(got[1] == 1);
}
