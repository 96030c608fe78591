// DS instructions that exchange two values, compare and swap, wrap, or address by lane number.
#include <unistd.h>

#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

bool is_gfx9(const std::string& arch) {
  return arch.rfind("gfx9", 0) == 0;
}

// Names by generation, then kernels of 32 items with 4 KiB of LDS that starts as a copy of `in`.
std::string names(const std::string& arch) {
  const bool gfx9 = is_gfx9(arch), gfx12 = arch.rfind("gfx12", 0) == 0;
  const std::string wait = gfx12 ? "s_wait_dscnt 0x0" : "s_waitcnt lgkmcnt(0)";
  const std::string prefix = gfx9 ? "ds_wrxchg2" : "ds_storexchg_2addr";
  const std::string far = gfx9 ? "st64" : "_stride64";
  return "#define WAIT \"\\n" + wait + "\"\n#define TWO \"" + prefix +
         "_rtn_b32\"\n#define FAR \"" + prefix + far + "_rtn_b32\"\n#define TWO64 \"" + prefix +
         "_rtn_b64\"\n#define FAR64 \"" + prefix + far + "_rtn_b64\"\n#define GET \"" +
         (gfx9 ? "ds_read_addtid_b32" : "ds_load_addtid_b32") + "\"\n#define PUT \"" +
         (gfx9 ? "ds_write_addtid_b32" : "ds_store_addtid_b32") + "\"\n#define SWAP_IF \"" +
         (gfx9 ? "ds_cmpst_rtn_f" : "ds_cmpstore_rtn_f") + "\"\n#define FIRST " +
         (gfx9 ? "c, d" : "d, c") + "\n";
}

const char* const kText = R"(
#define OPEN SHARED u32 lds[1024]; const u32 i = item(); \
  for (u32 k = 0; k < 32; ++k) lds[k * 32 + i] = in[k * 32 + i]; \
  barrier(); const u32 at = (u32)(__attribute__((address_space(3))) u32*)lds;
#define CLOSE barrier(); for (u32 k = 0; k < 32; ++k) lds_out[k * 32 + i] = lds[k * 32 + i];
#define EXCHANGE(NAME, OP, T, T2, STEP)                                                       \
  KERNEL NAME(T2* out, u32* lds_out, const u32* in, const T* a, const T* b) {                 \
    OPEN T2 old; T x = a[i], y = b[i]; u32 place = at + i * STEP;                             \
    asm volatile(OP " %0, %1, %2, %3 offset0:1 offset1:6" WAIT : "=v"(old) : "v"(place), "v"(x), "v"(y) : "memory"); \
    out[i] = old; CLOSE }
typedef u64 two64 __attribute__((ext_vector_type(2)));
EXCHANGE(two, TWO, u32, u64, 32) EXCHANGE(far, FAR, u32, u64, 4)
EXCHANGE(two64b, TWO64, u64, two64, 64) EXCHANGE(far64, FAR64, u64, two64, 8)
KERNEL same(u64* out, u32* lds_out, const u32* in, const u32* a, const u32* b) {
  OPEN u64 old; u32 place = at + i * 4, x = a[i], y = b[i];
  asm volatile(TWO " %0, %1, %2, %3 offset0:3 offset1:3" WAIT : "=v"(old) : "v"(place), "v"(x), "v"(y) : "memory");
  out[i] = old; CLOSE }
KERNEL by_thread(u32* out, u32* lds_out, const u32* in, u32 m0) {
  OPEN u32 value;
  asm volatile("s_mov_b32 m0, %1\ns_nop 0\n" GET " %0 offset:256" WAIT : "=v"(value) : "s"(m0) : "memory");
  out[i] = value;
  value = value * 3 + 1;
  if (i % 3 == 0) asm volatile(PUT " %0 offset:1024" WAIT : : "v"(value) : "memory");
  CLOSE }
KERNEL marked(u64* out, u32* lds_out, const u32* in, const u64* a) {
  OPEN u64 old, x = a[i]; u32 place = at + i * 8 + (i & 7);  // rounded down
  asm volatile("ds_condxchg32_rtn_b64 %0, %1, %2 offset:16" WAIT : "=v"(old) : "v"(place), "v"(x) : "memory");
  out[i] = old; CLOSE }
#ifndef NO_FLOATS
#define ATOMIC_IF(NAME, OP, T, STEP)                                                          \
  KERNEL NAME(T* out, u32* lds_out, const u32* in, const T* compare, const T* data) {         \
    OPEN T old, c = compare[i], d = data[i]; u32 place = at + i * STEP;                       \
    asm volatile(OP " %0, %1, %2, %3 offset:8" WAIT : "=v"(old) : "v"(place), "v"(FIRST_OF), "v"(SECOND_OF) : "memory"); \
    out[i] = old; CLOSE }
ATOMIC_IF(if32, SWAP_IF "32", float, 4) ATOMIC_IF(if64, SWAP_IF "64", double, 8)
KERNEL wrap(u32* out, u32* lds_out, const u32* in, const u32* a, const u32* b) {
  OPEN u32 old, x = a[i], y = b[i], place = at + i * 4;
  asm volatile("ds_wrap_rtn_b32 %0, %1, %2, %3 offset:4\nds_nop" WAIT : "=v"(old) : "v"(place), "v"(x), "v"(y) : "memory");
  out[i] = old; CLOSE }
#endif
)";

struct Bench {
  Emulated& gpu;
  std::vector<uint32_t> lds;
  explicit Bench(Emulated& device) : gpu(device), lds(1024) {
    for (uint32_t i = 0; i < 1024; ++i) lds[i] = i * 2654435761u ^ i;
  }
  /// Launches, and compares LDS afterwards.
  template <class R, class... A>
  std::vector<R> run(const char* kernel, const std::vector<uint32_t>& want, const A&... more) {
    CAPTURE(kernel);
    const auto out = gpu.reserve(32 * sizeof(R)), after = gpu.reserve(4096);
    check_ok(gpu.launch(kernel, {1}, {32}, out, after, gpu.put(lds), more...));
    CHECK(gpu.get<uint32_t>(after, 1024) == want);
    return gpu.get<R>(out, 32);
  }
};

/// Two dwords (or pairs of them) of each lane change places with registers.
void check_two(Bench& bench, const char* kernel, size_t words, size_t step, size_t scale) {
  std::vector<uint32_t> a(32 * words), b(32 * words), want = bench.lds;
  std::vector<uint32_t> old(64 * words);
  for (size_t i = 0; i < a.size(); ++i) a[i] = 0xa0000000u + static_cast<uint32_t>(i), b[i] = ~a[i];
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t w = 0; w < words; ++w) {
      const size_t base = (lane * step) / 4 + w, x = base + scale / 4, y = base + 6 * scale / 4;
      old[lane * 2 * words + w] = want[x], old[(lane * 2 + 1) * words + w] = want[y];
      want[x] = a[lane * words + w], want[y] = b[lane * words + w];
    }
  if (words == 1) {
    const auto got = bench.run<uint64_t>(kernel, want, bench.gpu.put(a), bench.gpu.put(b));
    CHECK(std::memcmp(got.data(), old.data(), old.size() * 4) == 0);
  } else {
    struct Pair {
      uint64_t low, high;
    };
    const auto got = bench.run<Pair>(kernel, want, bench.gpu.put(a), bench.gpu.put(b));
    CHECK(std::memcmp(got.data(), old.data(), old.size() * 4) == 0);
  }
}

template <class T>
void check_if(Bench& bench, const char* kernel, const std::vector<T>& edges) {
  // Every edge in memory against every edge as comparand.
  std::vector<T> memory(32), compare(32), data(32), old(32);
  for (size_t i = 0; i < 32; ++i) {
    memory[i] = edges[i % edges.size()], compare[i] = edges[(i + i / edges.size()) % edges.size()];
    data[i] = static_cast<T>(i) + T{100};
  }
  const auto start = bench.lds;
  std::memcpy(bench.lds.data() + 2, memory.data(), 32 * sizeof(T));
  auto after = memory;
  for (size_t i = 0; i < 32; ++i)
    if (memory[i] == compare[i]) after[i] = data[i];
  auto want = bench.lds;
  std::memcpy(want.data() + 2, after.data(), 32 * sizeof(T));
  const auto got = bench.run<T>(kernel, want, bench.gpu.put(compare), bench.gpu.put(data));
  CHECK(std::memcmp(got.data(), memory.data(), 32 * sizeof(T)) == 0);
  bench.lds = start;
}

void check_marked(Bench& bench) {
  std::vector<uint64_t> data(32), old(32);
  auto want = bench.lds;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t low = (i % 2 != 0 ? 0x80000000u : 0) | (i + 5),
                   high = (i % 4 > 1 ? 0x80000000u : 0) | (i * 3);
    data[i] = low | static_cast<uint64_t>(high) << 32;
    const size_t at = i * 2 + 4;
    old[i] = want[at] | static_cast<uint64_t>(want[at + 1]) << 32;
    if (i % 2 != 0) want[at] = i + 5;
    if (i % 4 > 1) want[at + 1] = i * 3;
  }
  CHECK(bench.run<uint64_t>("marked", want, bench.gpu.put(data)) == old);
}

void check_wrap(Bench& bench) {
  std::vector<uint32_t> a(32), b(32), old(32);
  auto want = bench.lds;
  for (uint32_t i = 0; i < 32; ++i) {
    old[i] = want[i + 1];
    a[i] = i % 3 == 0 ? old[i] : i % 3 == 1 ? old[i] + 1 : 17;
    b[i] = 0xfffffff0u + i;
    want[i + 1] = old[i] >= a[i] ? old[i] - a[i] : old[i] + b[i];
  }
  CHECK(bench.run<uint32_t>("wrap", want, bench.gpu.put(a), bench.gpu.put(b)) == old);
}

void check_by_thread(Bench& bench) {
  std::vector<uint32_t> got_want(32);
  auto want = bench.lds;
  for (size_t i = 0; i < 32; ++i) {
    got_want[i] = want[(256 + 40) / 4 + i];
    if (i % 3 == 0) want[(1024 + 40) / 4 + i] = got_want[i] * 3 + 1;
  }
  CHECK(bench.run<uint32_t>("by_thread", want, 40u | 7u << 16) == got_want);
  check_fault(bench.gpu.launch("by_thread", {1}, {32}, bench.gpu.reserve(128),
                               bench.gpu.reserve(4096), bench.gpu.put(bench.lds), 4096u - 256 - 60),
              "bad-lds-address", {"addtid", "lane 15"});
}

void run(const std::string& arch) {
  CAPTURE(arch);
  std::string definitions = names(arch);
  const bool gfx12 = arch.rfind("gfx12", 0) == 0;
  if (gfx12) definitions += "#define NO_FLOATS\n";
  definitions += is_gfx9(arch) ? "#define FIRST_OF c\n#define SECOND_OF d\n"
                               : "#define FIRST_OF d\n#define SECOND_OF c\n";
  const auto code = compile(definitions + kText, arch);
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  Bench bench(gpu);
  check_two(bench, "two", 1, 32, 4);
  check_two(bench, "far", 1, 4, 256);
  check_two(bench, "two64b", 2, 64, 8);
  check_two(bench, "far64", 2, 8, 512);
  std::vector<uint32_t> a(32, 1), b(32, 2);
  auto want = bench.lds;
  std::fill_n(want.begin() + 3, 32, 2u);
  const auto both = bench.run<uint64_t>("same", want, gpu.put(a), gpu.put(b));
  for (size_t i = 0; i < 32; ++i) CHECK(both[i] == bench.lds[i + 3] * 0x100000001ull);
  check_marked(bench);
  check_by_thread(bench);
  if (gfx12) return;
  check_if<float>(bench, "if32", {0.0f, -0.0f, 1.5f, NAN, INFINITY, -INFINITY, 1e-40f});
  check_if<double>(bench, "if64", {0.0, -0.0, 1.5, static_cast<double>(NAN), 5e-324});
  check_wrap(bench);
}

}  // namespace

TEST_CASE("exchanges in LDS") {
  run("gfx942");
  run("gfx1100");
  run("gfx1201");
}

TEST_CASE("exchanges in LDS are atomics to the race check") {
  const auto code = compile(names("gfx1100") + "#define NO_FLOATS\n" + R"(
KERNEL hot(u32* out) {
  SHARED u32 lds[64];
  if (item() == 0) lds[0] = lds[1] = 0;
  barrier();
  u64 old; u32 one = item(), at = (u32)(__attribute__((address_space(3))) u32*)lds;
  asm volatile(TWO " %0, %1, %2, %2 offset0:0 offset1:1" WAIT : "=v"(old) : "v"(at), "v"(one) : "memory");
  asm volatile("ds_storexchg_rtn_b32 %0, %1, %1" WAIT : "=v"(one) : "v"(at) : "memory");
  asm volatile("ds_cmpstore_rtn_b32 %0, %1, %1, %1" WAIT : "=v"(one) : "v"(at) : "memory");
  out[item()] = (u32)old;
}
KERNEL plain(u32* out, u32 m0) {
  SHARED u32 lds[64];
  u32 one = item();
  lds[one] = m0;
  barrier();
  asm volatile("s_mov_b32 m0, %1\n" PUT " %0" WAIT : : "v"(one), "s"(m0) : "memory");
  out[item()] = lds[item() & 31];
}
)",
                            "gfx1100");
  if (!code) return;
  device::OpenOptions options;
  options.check_races = true;
  Emulated gpu(device_for("gfx1100"), options);
  gpu.load(*code);
  check_ok(gpu.launch("hot", {1}, {64}, gpu.reserve(256)));
  check_fault(gpu.launch("plain", {1}, {64}, gpu.reserve(256), 0u), "race",
              {"ds_store_addtid_b32", "write of 4 bytes"});
}
