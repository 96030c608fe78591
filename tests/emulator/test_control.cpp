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
