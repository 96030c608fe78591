// Scalar stores and atomics, compare-and-swap of floats.
#include <unistd.h>

#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kScalar = R"x(
typedef u32 u4 __attribute__((ext_vector_type(4)));
#define S_STORE(NAME, OP, T) KERNEL NAME(u64 to, T value, u32 offset) { \
  asm volatile(OP "\ns_dcache_wb\ns_waitcnt lgkmcnt(0)" : : "s"(value), "s"(to), "s"(offset) : "memory"); }
S_STORE(dword, "s_store_dword %0, %1, 0x14", u32)
S_STORE(two, "s_store_dwordx2 %0, %1, %2", u64)
S_STORE(four, "s_store_dwordx4 %0, %1, %2", u4)
KERNEL coherent(u64 to, u32* out) {
  u32 value = 3;
  asm volatile("s_store_dword %0, %1, 0x4 glc\ns_waitcnt lgkmcnt(0)" : : "s"(value), "s"(to) : "memory");
  asm volatile("s_load_dword %0, %1, 0x4 glc\ns_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(to) : "memory");
  out[group()] = value;
}
KERNEL half_coherent(u64 to, u32* out) {
  u32 value = 3;
  if (group() == 0) asm volatile("s_store_dword %0, %1, 0x4 glc\ns_waitcnt lgkmcnt(0)" : : "s"(value), "s"(to) : "memory");
  else asm volatile("s_load_dword %0, %1, 0x4\ns_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(to) : "memory");
  out[group()] = value;
}
KERNEL cut(u64 base, u32 size, u4 value, u32 offset) {
  u4 r = {(u32)base, (u32)(base >> 32), size, 0x20000};
  asm volatile("s_buffer_store_dwordx4 %0, %1, %2\ns_waitcnt lgkmcnt(0)" : : "s"(value), "s"(r), "s"(offset) : "memory");
}
#define ATOMIC(NAME, OP, T) KERNEL NAME(u64 to, T* out, T value) { \
  asm volatile(OP " %0, %1, 0x8 glc\ns_waitcnt lgkmcnt(0)" : "+s"(value) : "s"(to) : "memory"); \
  out[item()] = value; }
ATOMIC(add, "s_atomic_add", u32)
ATOMIC(smin, "s_atomic_smin", i32)
ATOMIC(umax64, "s_atomic_umax_x2", u64)
ATOMIC(inc, "s_atomic_inc", u32)
ATOMIC(dec, "s_atomic_dec", u32)
ATOMIC(swap_if, "s_atomic_cmpswap", u64)
KERNEL silent(u64 base, u32 size, u32 value) {
  u4 r = {(u32)base, (u32)(base >> 32), size, 0x20000};
  asm volatile("s_buffer_atomic_xor %0, %1, 0x8\ns_atc_probe 1, %2, 0x0\ns_waitcnt lgkmcnt(0)" : : "s"(value), "s"(r), "s"(base) : "memory");
}
)x";

template <class T>
void check_scalar_atomic(Emulated& gpu, const char* kernel, T old, T value, T returned, T left) {
  CAPTURE(kernel);
  std::vector<T> memory(8);
  memory[8 / sizeof(T)] = old;
  const auto to = gpu.put(memory), out = gpu.reserve(64 * sizeof(T));
  check_ok(gpu.launch(kernel, {1}, {1}, to, out, value));
  memory[8 / sizeof(T)] = left;
  CHECK(gpu.get<T>(to, 8) == memory);
  CHECK(gpu.get<T>(out, 1)[0] == returned);
}

}  // namespace

TEST_CASE("scalar stores and atomics") {
  const auto code = compile(kScalar, "gfx942");
  if (!code) return;
  Emulated gpu(device_for("gfx942"), strict());
  gpu.load(*code);
  struct Four {
    alignas(16) uint32_t word[4];
  };
  const Four four{{11, 12, 13, 14}};
  const auto to = gpu.put(std::vector<uint32_t>(16));
  check_ok(gpu.launch("dword", {1}, {1}, to, 5u, 0u));
  check_ok(gpu.launch("two", {1}, {1}, to, 0x700000006ull, 10u));  // bits 0 and 1 do not count
  check_ok(gpu.launch("four", {1}, {1}, to, four, 32u));
  CHECK(gpu.get<uint32_t>(to, 12) == std::vector<uint32_t>{0, 0, 6, 7, 0, 5, 0, 0, 11, 12, 13, 14});
  const auto part = gpu.put(std::vector<uint32_t>(8));
  check_ok(gpu.launch("cut", {1}, {1}, part, 20u, four, 8u));  // three dwords are inside
  CHECK(gpu.get<uint32_t>(part, 8) == std::vector<uint32_t>{0, 0, 11, 12, 13, 0, 0, 0});
  check_ok(gpu.launch("silent", {1}, {1}, part, 32u, 0xffu));
  check_ok(gpu.launch("silent", {1}, {1}, part, 8u, 0xff00u));  // outside
  CHECK(gpu.get<uint32_t>(part, 3)[2] == (11u ^ 0xffu));

  check_scalar_atomic<uint32_t>(gpu, "add", 0xfffffff0u, 0x20, 0xfffffff0u, 0x10);
  check_scalar_atomic<int32_t>(gpu, "smin", 5, -3, 5, -3);
  check_scalar_atomic<uint64_t>(gpu, "umax64", 1, ~uint64_t{0}, 1, ~uint64_t{0});
  check_scalar_atomic<uint32_t>(gpu, "inc", 7, 7, 7, 0);
  check_scalar_atomic<uint32_t>(gpu, "dec", 0, 9, 0, 9);
  // The comparand follows the new value; the old one takes the first register only.
  check_scalar_atomic<uint64_t>(gpu, "swap_if", 3, 4 | 3ull << 32, 3 | 3ull << 32, 4);

  check_fault(gpu.launch("dword", {1}, {1}, gpu.reserve(20), 5u, 0u), "bad-address",
              {"s_store_dword", "write of 4 bytes"});
  check_fault(gpu.launch("add", {1}, {1}, to + 2, gpu.reserve(256), 5u), "misaligned",
              {"s_atomic_add"});
  check_fault(gpu.launch("dword", {2}, {1}, to, 5u, 0u), "race", {"s_store_dword"});
  check_ok(gpu.launch("coherent", {3}, {1}, to, gpu.reserve(64)));       // no plain accesses
  check_ok(gpu.launch("half_coherent", {2}, {1}, to, gpu.reserve(64)));  // nor is a plain load one
  check_ok(gpu.launch("silent", {2}, {1}, part, 32u, 1u));               // atomics do not race
}

TEST_CASE("compare-and-swap of floats in global memory") {
  const auto code = compile(R"x(
typedef float f2 __attribute__((ext_vector_type(2)));
typedef i32 i4 __attribute__((ext_vector_type(4)));
KERNEL swap(float* out, float* memory, const f2* pairs, i32 w0, i32 w1, i32 w2, i32 w3) {
  i4 r = {w0, w1, w2, w3};
  u32 i = item(), at = i * 4; float a, b; f2 c = pairs[i]; float* p = memory + i; u32 zero = 0;
  asm volatile("global_atomic_cmpswap_f32 %0, %2, %3, off glc\nflat_atomic_cmpswap_f32 %1, %4, %3 glc\n"
               "s_waitcnt vmcnt(0) lgkmcnt(0)" : "=&v"(a),
                            "=&v"(b) : "v"(p), "v"(c), "v"(p + 32) : "memory");
  asm volatile("buffer_atomic_cmpswap_f32 %0, %1, %2, %3 offen glc\ns_waitcnt vmcnt(0)"
               : "+v"(c)
               : "v"(at), "s"(r), "s"(zero)
               : "memory");
  out[i * 3] = a;
  out[i * 3 + 1] = b;
  out[i * 3 + 2] = c.x;
}
)x",
                            "gfx1100");
  if (!code) return;
  Emulated gpu(device_for("gfx1100"));
  gpu.load(*code);
  const float edges[] = {0.0f, -0.0f, NAN, 1.0f, INFINITY, 1e-41f};
  std::vector<float> memory, pairs;
  for (size_t i = 0; i < 96; ++i) memory.push_back(edges[i % 32 % 6]);
  for (size_t i = 0; i < 32; ++i)
    pairs.push_back(static_cast<float>(i + 50)), pairs.push_back(edges[i / 6 % 6]);
  const auto at = gpu.put(memory), out = gpu.reserve(32 * 12);
  const auto base = at + 256;
  check_ok(gpu.launch("swap", {1}, {32}, out, at, gpu.put(pairs), static_cast<uint32_t>(base),
                      static_cast<uint32_t>(base >> 32), 128u, 0x31014000u));
  const auto after = gpu.get<float>(at, 96), got = gpu.get<float>(out, 96);
  for (size_t i = 0; i < 32; ++i)
    for (size_t k = 0; k < 3; ++k) {
      const float old = memory[k * 32 + i];
      const float want = old == pairs[i * 2 + 1] ? pairs[i * 2] : old;
      CHECK(std::memcmp(&after[k * 32 + i], &want, 4) == 0);
      CHECK(std::memcmp(&got[i * 3 + k], &old, 4) == 0);
    }
}
