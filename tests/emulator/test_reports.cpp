// Order by atomics in the race check; registers and private memory that nothing has written; source
// lines in reports.
#include <unistd.h>

#include <algorithm>

#include "device/emulator/source_lines.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kOrder = R"(
#define DEV __HIP_MEMORY_SCOPE_AGENT
#define SPLIT_K(NAME, ORDER) KERNEL NAME(u32* part, u32* count, u32* out) { \
  SHARED u32 last; \
  part[index()] = item() + group(); \
  if (ORDER != __ATOMIC_RELAXED) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent"); \
  barrier(); \
  if (item() == 0) last = __hip_atomic_fetch_add(count, 1u, ORDER, DEV) == 7; \
  barrier(); \
  if (last == 0) return; \
  u32 sum = 0; \
  for (u32 i = 0; i < 8; ++i) sum += part[i * 128 + item()]; \
  out[item()] = sum; }
SPLIT_K(split_k, __ATOMIC_ACQ_REL)
SPLIT_K(split_k_relaxed, __ATOMIC_RELAXED)
KERNEL exchange(u32* data, u32* flag) {  // group n hands on to group n + 1
  if (item() != 0) return;
  if (group() != 0 && __hip_atomic_fetch_add(flag + group() - 1, 0u, __ATOMIC_ACQUIRE, DEV) == 0) return;
  data[0] = data[0] + 1;
  __hip_atomic_exchange(flag + group(), 1u, __ATOMIC_RELEASE, DEV);
}
KERNEL plain_flag(u32* data, u32* flag) {
  if (item() != 0) return;
  if (group() == 0) { data[0] = 1; flag[0] = 1; }
  else if (flag[0] != 0) data[1] = data[0];
}
KERNEL released_only(u32* data, u32* flag) {  // the reader does not acquire
  if (item() != 0) return;
  if (group() == 0) { data[0] = 1; __hip_atomic_exchange(flag, 1u, __ATOMIC_RELEASE, DEV); }
  else if (__hip_atomic_fetch_add(flag, 0u, __ATOMIC_RELAXED, DEV) != 0) data[1] = data[0];
}
KERNEL written_again(u32* data, u32* flag) {  // after the release, in the next interval
  if (group() == 0) {
    if (item() == 0) { data[0] = 1; __hip_atomic_exchange(flag, 1u, __ATOMIC_RELEASE, DEV); }
    barrier();
    if (item() == 64) data[0] = 2;
  } else if (item() == 0 && __hip_atomic_fetch_add(flag, 0u, __ATOMIC_ACQUIRE, DEV) != 0) data[1] = data[0];
}
)";

Result<void> ordered(const std::string& arch, const std::string& kernel, uint32_t groups) {
  static std::map<std::string, Bytes> compiled;
  if (compiled.count(arch) == 0) {
    auto code = compile(kOrder, arch, "-O2");
    if (!code) return {};
    compiled[arch] = std::move(*code);
  }
  device::OpenOptions options;
  options.check_races = true;
  Emulated gpu(device_for(arch), options);
  gpu.load(compiled[arch]);
  const auto data = gpu.put(std::vector<uint32_t>(1024)), flag = gpu.put(std::vector<uint32_t>(64)),
             out = gpu.put(std::vector<uint32_t>(128));
  const bool split = kernel.rfind("split", 0) == 0;
  Result<void> done = split ? gpu.launch(kernel, {groups}, {128}, data, flag, out)
                            : gpu.launch(kernel, {groups}, {128}, data, flag);
  if (done && split) CHECK(gpu.get<uint32_t>(out, 128)[5] == 8 * 5 + 28);
  if (done && kernel == "exchange") CHECK(gpu.get<uint32_t>(data, 1)[0] == groups);
  return done;
}

}  // namespace

TEST_CASE("release and acquire through atomics order workgroups") {
  for (const char* arch : {"gfx90a", "gfx942", "gfx1100", "gfx1201"}) {
    CAPTURE(arch);
    check_ok(ordered(arch, "split_k", 8));
    check_ok(ordered(arch, "exchange", 6));
    for (const char* wrong : {"split_k_relaxed", "plain_flag", "released_only", "written_again"}) {
      CAPTURE(wrong);
      check_fault(ordered(arch, wrong, wrong[0] == 's' ? 8 : 2), "race", {"workgroup"});
    }
  }
}

namespace {

const char* const kRegisters = R"hip(
DEVICE u32 nothing() { u32 v; asm volatile("v_mov_b32 %0, v77" : "=v"(v) :: "v77"); return v; }
KERNEL address(u32* out) { u32 v = nothing(); out[v & 3] = 1; }
KERNEL data(u32* out) { out[item()] = nothing() + 1; }
KERNEL shared_data(u32* out) { SHARED u32 s[64]; s[item()] = nothing(); barrier(); out[item()] = s[0]; }
KERNEL lanes(u32* out) {  // only the even lanes
  u32 v;
  if (item() % 2 == 0) asm volatile("v_mov_b32 v78, 5" ::: "v78");
  asm volatile("v_mov_b32 %0, v78" : "=v"(v) :: "v78");
  out[item()] = v;
}
KERNEL scalar(u32* out) {
  u32 v;
  asm volatile("s_load_dword %0, s[60:61], 0x0\n s_waitcnt lgkmcnt(0)" : "=s"(v) :: "s60", "s61");
  out[0] = v;
}
KERNEL spilled(u32* out) {
  volatile u32 a[16];
  a[item() & 7] = 3;
  out[item()] = a[(item() & 7) + 8];
}
KERNEL right(u32* out) {
  volatile u32 a[16];
  const u32 v = nothing();
  a[8] = v;             // a copy
  a[item() & 7] = 3;
  u32 r = a[item() & 7] + a[8] * 0;
  u32 chosen;
  asm volatile("v_mov_b32 v76, 7\n v_cmp_eq_u32 vcc, 0, 0\n v_cndmask_b32 %0, v77, v76, vcc" : "=v"(chosen) :: "v76", "v77", "vcc");
  if (item() == 99) out[0] = r;
  out[item()] = chosen;
}
)hip";

// Each half of a pair has its own rule: the choice takes one source, the product both.
const char* const kPairs = R"hip(
#define PAIR(NAME, RESULT) KERNEL NAME(u32* out) { \
  u32 v; \
  asm volatile("v_mov_b32 v70, 7\n v_mov_b32 v77, 0\n v_cmp_eq_u32 vcc_lo, 0, 0\n" \
               "v_dual_cndmask_b32 v72, v71, v70 :: v_dual_mul_f32 v75, v73, v77\n v_mov_b32 %0, " RESULT \
               : "=v"(v) :: "v70", "v71", "v72", "v73", "v77", "v75", "vcc"); \
  out[item()] = v; }
PAIR(chosen, "v72")
PAIR(multiplied, "v75")
)hip";

}  // namespace

TEST_CASE("registers and private memory that nothing has written") {
  const auto code = compile(kRegisters, "gfx942", "-O1");
  if (!code) return;
  device::OpenOptions options;
  options.check_uninitialized = true;
  Emulated gpu(mi300x(), options);
  gpu.load(*code);
  const auto out = gpu.reserve(256);
  const auto run = [&](const char* kernel) { return gpu.launch(kernel, {1}, {64}, out); };
  check_fault(run("address"), "uninitialized", {"the address comes from v", "lane 0"});
  check_fault(run("data"), "uninitialized", {"the data comes from v", "global_store", "lane 0"});
  check_fault(run("shared_data"), "uninitialized", {"the data comes from v", "ds_write"});
  check_fault(run("lanes"), "uninitialized", {"the data comes from v", "lane 1"});
  check_fault(run("scalar"), "uninitialized", {"the address comes from s60"});
  check_fault(run("spilled"), "uninitialized", {"the data comes from v"});
  check_ok(run("right"));
  CHECK(gpu.get<uint32_t>(out, 1)[0] == 7);
  Emulated unchecked(mi300x());
  unchecked.load(*code);
  check_ok(unchecked.launch("data", {1}, {64}, unchecked.reserve(256)));
}

TEST_CASE("halves of a pair and registers that nothing has written") {
  const auto code = compile(kPairs, "gfx1100", "-O1");
  if (!code) return;
  device::OpenOptions options;
  options.check_uninitialized = true;
  Emulated gpu(rx7900(), options);
  gpu.load(*code);
  const auto out = gpu.reserve(128);
  check_ok(gpu.launch("chosen", {1}, {32}, out));
  CHECK(gpu.get<uint32_t>(out, 1)[0] == 7);
  check_fault(gpu.launch("multiplied", {1}, {32}, out), "uninitialized",
              {"the data comes from v", "lane 0"});
}

TEST_CASE("reports name the source line of a kernel with debug information") {
  const std::string text =
      "KERNEL k(u32* out) {\n  u32 v = out[item()];\n  out[v + 1000000] = v;\n}\n";
  const std::string prelude = kPrelude;
  const auto line = std::count(prelude.begin(), prelude.end(), '\n') + 3;
  for (const char* options : {"-O1 -g", "-O1 -gline-tables-only"}) {
    const auto code = compile(text, "gfx942", options);
    if (!code) return;
    Emulated gpu(mi300x());
    gpu.load(*code);
    check_fault(gpu.launch("k", {1}, {64}, gpu.put(std::vector<uint32_t>(64))), "bad-address",
                {", source ", cat(".hip:", line)});
  }
  const auto code = compile(text, "gfx942", "-O1");
  Emulated gpu(mi300x());
  gpu.load(*code);
  const auto done = gpu.launch("k", {1}, {64}, gpu.put(std::vector<uint32_t>(64)));
  CHECK(done.error().text().find("source") == std::string::npos);
}

TEST_CASE("damaged line programs are read without harm") {
  const auto code = compile("KERNEL k(u32* out) { out[item()] = 1; }", "gfx942", "-O1 -g");
  if (!code) return;
  REQUIRE(!emulator::SourceLines::read(*code).empty());
  uint32_t state = 7;
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = *code;
    for (int i = 0; i < 4; ++i) {
      state = state * 1664525u + 1013904223u;
      // Mostly in the second half, where the sections without addresses are.
      const size_t at = bytes.size() / 2 + (state >> 8) % (bytes.size() / 2);
      bytes[at] = static_cast<std::byte>(state >> 3);
    }
    (void)emulator::SourceLines::read(bytes).find(0x1900);
  }
  // A program of its own: every prefix, and lengths that lie.
  const unsigned char program[] = {
      0x2d, 0, 0, 0, 5, 0, 8, 0, 0x20, 0,   0, 0, 1, 1, 1, 0xfb, 14, 13,  0, 1, 1,    1, 1, 0, 0,
      0,    1, 0, 0, 1, 1, 1, 8, 1,    'd', 0, 2, 1, 8, 2, 0x0b, 1,  'f', 0, 0, 0x12, 1, 0, 1, 1};
  const auto view = std::as_bytes(std::span(program));
  for (size_t length = 0; length <= view.size(); ++length) {
    (void)emulator::SourceLines::parse(view.subspan(0, length), {}, {}).find(0);
    Bytes bytes(view.begin(), view.begin() + static_cast<std::ptrdiff_t>(length));
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const int value : {0, 1, 127, 128, 255}) {
        const std::byte old = bytes[at];
        bytes[at] = static_cast<std::byte>(value);
        (void)emulator::SourceLines::parse(bytes, {}, {}).find(4);
        bytes[at] = old;
      }
    }
  }
}
