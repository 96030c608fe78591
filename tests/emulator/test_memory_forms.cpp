// Memory instructions in forms of their own: blocks of registers, addresses by lane number, loads
// that go to LDS, one value of LDS for all lanes.
#include <unistd.h>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

std::vector<uint32_t> counting(size_t count) {
  std::vector<uint32_t> words(count);
  for (size_t i = 0; i < count; ++i) words[i] = static_cast<uint32_t>(i * 2654435761u + 17);
  return words;
}

// Registers v40 to v71 hold 1000 * register + lane before the load; all of them are stored.
std::string block_kernels() {
  std::string set, clobbers;
  for (int r = 40; r < 72; ++r) {
    const std::string name = "v" + std::to_string(r);
    set += "v_add_nc_u32 " + name + ", " + std::to_string(r * 1000) + ", %0\\n";
    clobbers += ", \"" + name + "\"";
  }
  return "#define SET \"" + set + "\"\n#define CLOBBERED \"memory\"" + clobbers + "\n" + R"x(
#define MASK "s_mov_b32 m0, %3\ns_nop 0\n"
#define ALL "s_mov_b32 m0, -1\ns_nop 0\n"
#define WAIT "s_wait_loadcnt 0x0\n"
#define STORE_ALL ALL "global_store_block %1, v[40:71], off\ns_wait_storecnt 0x0\n"
#define BLOCK(NAME, BODY)                                                             \
  KERNEL NAME(u32* out, const u32* in, u32 mask) {                                    \
    volatile u32 mine[33];                                                            \
    mine[32] = 99;                                                                    \
    u32 i = item(), at = (u32)(__attribute__((address_space(5))) volatile u32*)mine;  \
    asm volatile(SET BODY : : "v"(i), "v"(out + i * 32), "v"(in + i * 32), "s"(mask), "v"(at) : CLOBBERED); \
  }
BLOCK(loads, MASK "global_load_block v[40:71], %2, off offset:8\n" WAIT STORE_ALL)
BLOCK(stores, MASK "global_store_block %1, v[40:71], off offset:8\ns_wait_storecnt 0x0")
BLOCK(through, ALL "scratch_store_block %4, v[40:71], off\n" MASK
      "scratch_load_block v[40:71], %4, off offset:4\n" WAIT STORE_ALL)
BLOCK(unwritten, MASK "scratch_load_block v[40:71], %4, off\n" WAIT STORE_ALL)
BLOCK(beyond, ALL "scratch_load_block v[40:71], %4, off offset:16384")
)x";
}

const char* const kToLds = R"(
typedef i32 i4 __attribute__((ext_vector_type(4)));
typedef u32 u4 __attribute__((ext_vector_type(4)));
#define LDS(P) (__attribute__((address_space(3))) void*)(P)
#define RESOURCE(P, BYTES) __builtin_amdgcn_make_buffer_rsrc((void*)(P), 0, BYTES, 0x00020000)
KERNEL buffers(u32* out, const char* in, u32 bytes, const u32* at) {
  SHARED u32 lds[256];
  __amdgpu_buffer_rsrc_t r = RESOURCE(in, bytes);
  for (u32 k = 0; k < 4; ++k) lds[k * 64 + item()] = 0x55555555;
  barrier();
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, LDS(lds), 4, at[item()], 0, 0, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, LDS(lds + 64), 2, at[item()], 4, 2, 0);
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, LDS(lds + 128), 1, at[item()], 0, 0, 0);
#ifdef WIDE
  __builtin_amdgcn_raw_ptr_buffer_load_lds(r, LDS(lds), 16, at[item()], 0, 0, 0);
#endif
  __builtin_amdgcn_s_waitcnt(0);
  barrier();
  for (u32 k = 0; k < 4; ++k) out[k * 64 + item()] = lds[k * 64 + item()];
}
)";

void check_to_lds(const std::string& arch, bool wide) {
  CAPTURE(arch);
  const auto code = compile((wide ? "#define WIDE\n" : "") + std::string(kToLds), arch);
  if (!code) return;
  Emulated gpu(device_for(arch), strict());
  gpu.load(*code);
  const auto in = counting(512);
  const uint32_t bytes = 1024;
  std::vector<uint32_t> at(64);
  for (uint32_t i = 0; i < 64; ++i) at[i] = i * 37 % 64 * 16 + (i == 7 ? 4096 : 0);
  const auto out = gpu.reserve(1024);
  check_ok(gpu.launch("buffers", {1}, {64}, out, gpu.put(in), bytes, gpu.put(at)));
  const auto got = gpu.get<uint32_t>(out, 256);
  const auto value = [&](uint32_t offset, uint32_t extra, unsigned size) {
    uint32_t out_of = 0;
    if (offset + size <= bytes)
      std::memcpy(&out_of, reinterpret_cast<const char*>(in.data()) + offset + extra, size);
    return out_of;
  };
  for (size_t i = 0; i < 64; ++i) {
    CAPTURE(i);
    if (wide) {
      for (uint32_t w = 0; w < 4; ++w)
        CHECK(got[i * 4 + w] == (i == 7 ? 0 : value(at[i] + 4 * w, 0, 4)));
      continue;
    }
    CHECK(got[i] == value(at[i], 0, 4));
    // The offset counts on both sides, the scalar one in memory.
    uint16_t half = 0;
    std::memcpy(&half, reinterpret_cast<const char*>(got.data()) + 256 + 2 + 4 * i, 2);
    if (i < 31) CHECK(half == value(at[i] + 2, 4, 2));
    CHECK((got[128 + i] & 0xffu) == value(at[i], 0, 1));
    CHECK(got[192 + i] == 0x55555555u);
  }
}

const char* const kDirect = R"(
KERNEL direct(u32* out, const u32* in, u32 m0) {
  SHARED u32 lds[64];
  lds[item()] = in[item()]; lds[item() + 32] = in[item() + 32];
  barrier();
  u32 value = 7;
  if (item() % 2 == 0)
    asm volatile("s_mov_b32 m0, %1\ns_nop 0\n" LOAD : "+v"(value) : "s"(m0), "v"(lds[item()]) : "memory");
  out[item()] = value;
}
)";

void check_direct(const std::string& arch, const std::string& load) {
  CAPTURE(arch);
  const auto code = compile("#define LOAD \"" + load + "\"\n" + kDirect, arch);
  if (!code) return;
  Emulated gpu(device_for(arch), strict());
  gpu.load(*code);
  auto in = counting(64);
  in[5] = 0x8081fe90u;
  const auto from = gpu.put(in), out = gpu.reserve(128);
  const uint32_t want[] = {0x90, 0xfe90, 0x8081fe90u, 0, 0xffffff90u, 0xfffffe90u};
  for (const uint32_t type : {0u, 1u, 2u, 4u, 5u}) {
    check_ok(gpu.launch("direct", {1}, {32}, out, from, 20u | type << 16));
    const auto got = gpu.get<uint32_t>(out, 32);
    for (size_t i = 0; i < 32; ++i) CHECK(got[i] == (i % 2 == 0 ? want[type] : 7));
  }
  check_fault(gpu.launch("direct", {1}, {32}, out, from, 20u | 3u << 16), "bad-lds-address",
              {"names no type"});
  check_fault(gpu.launch("direct", {1}, {32}, out, from, 253u | 2u << 16), "bad-lds-address",
              {"0xfd"});
}

}  // namespace

TEST_CASE("blocks of registers") {
  const auto code = compile(block_kernels(), "gfx1201");
  if (!code) return;
  Emulated gpu(device_for("gfx1201"));
  gpu.load(*code);
  const auto in = counting(32 * 32 + 2);
  const auto from = gpu.put(in);
  for (const uint32_t mask : {0u, 1u, 0x80000000u, 0xa5f00f5au, 0xffffffffu}) {
    CAPTURE(mask);
    const auto set = [](size_t r, size_t lane) {
      return static_cast<uint32_t>((r + 40) * 1000 + lane);
    };
    const auto out = gpu.reserve(32 * 128);
    check_ok(gpu.launch("loads", {1}, {32}, out, from, mask));
    auto got = gpu.get<uint32_t>(out, 1024);
    const auto put = gpu.put(std::vector<uint32_t>(32 * 32 + 2, 9));
    check_ok(gpu.launch("stores", {1}, {32}, put, from, mask & 0xffffu));
    const auto stored = gpu.get<uint32_t>(put, 1026);
    const auto through = gpu.reserve(32 * 128);
    check_ok(gpu.launch("through", {1}, {32}, through, from, mask));
    const auto private_values = gpu.get<uint32_t>(through, 1024);
    for (size_t lane = 0; lane < 32; ++lane)
      for (size_t r = 0; r < 32; ++r) {
        const bool on = (mask >> r & 1u) != 0, half_on = on && r < 16;
        CHECK(got[lane * 32 + r] == (on ? in[lane * 32 + r + 2] : set(r, lane)));
        const uint32_t next = r == 31 ? 99 : set(r + 1, lane);  // the load is a dword further on
        CHECK(private_values[lane * 32 + r] == (on ? next : set(r, lane)));
        CHECK(stored[lane * 32 + r + 2] == (half_on ? set(r, lane) : 9));
      }
  }
  // The last lane's 31st dword lies beyond the end.
  const auto small = gpu.put(std::vector<uint32_t>(32 * 32));
  check_fault(gpu.launch("loads", {1}, {32}, gpu.reserve(4096), small, 1u << 30), "bad-address",
              {"global_load_block", "lane 31", "read of 4 bytes"});
  check_ok(gpu.launch("loads", {1}, {32}, gpu.reserve(4096), small, 1u << 29));
  check_fault(gpu.launch("beyond", {1}, {32}, small, small, 0u), "bad-private-address",
              {"scratch_load_block"});
  // Registers that are loaded from private memory that nothing has written; the others stay.
  Emulated checked(device_for("gfx1201"), strict());
  checked.load(*code);
  const auto out = checked.reserve(4096);
  check_ok(checked.launch("unwritten", {1}, {32}, out, out, 0u));
  check_fault(checked.launch("unwritten", {1}, {32}, out, out, 1u << 3 | 1u << 9), "uninitialized",
              {"global_store_block", "the data comes from v43"});
}

TEST_CASE("addresses by lane number") {
  for (const std::string arch : {"gfx1100", "gfx1201"}) {
    CAPTURE(arch);
    const auto code = compile(R"(
KERNEL copy(u32* out, const u32* in) {
  u32 value;
  asm volatile("global_load_addtid_b32 %0, %1 offset:16" : "=v"(value) : "s"(in) : "memory");
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  asm volatile("s_nop 0\nglobal_store_addtid_b32 %0, %1 offset:32" : : "v"(value), "s"(out) : "memory");
}
)",
                              arch);
    if (!code) return;
    Emulated gpu(device_for(arch), strict());
    gpu.load(*code);
    const auto in = counting(36);
    const auto out = gpu.put(std::vector<uint32_t>(40));
    check_ok(gpu.launch("copy", {1}, {32}, out, gpu.put(in)));
    std::vector<uint32_t> want(8);
    want.insert(want.end(), in.begin() + 4, in.end());
    CHECK(gpu.get<uint32_t>(out, 40) == want);
    check_fault(gpu.launch("copy", {1}, {32}, out, gpu.put(counting(35))), "bad-address",
                {"global_load_addtid_b32", "lane 31"});
  }
}

TEST_CASE("loads that go to LDS") {
  check_to_lds("gfx90a", false);
  check_to_lds("gfx942", false);
  check_to_lds("gfx950", true);
}

TEST_CASE("one value of LDS for all lanes") {
  check_direct("gfx1100", "lds_direct_load %0");
  check_direct("gfx1201", "ds_direct_load %0");
}

TEST_CASE("other ways into LDS") {
  const std::string text = R"x(
KERNEL ways(u32* out, const u32* in, u32 m0) {
  SHARED u32 lds[128];
  volatile u32 mine[4];
  u32 i = item();
  lds[i] = lds[i + 64] = 7;
  mine[1] = i * 3 - 5;
  barrier();
  u32 at = (u32)(__attribute__((address_space(5))) volatile u32*)mine;
  asm volatile("s_mov_b32 m0, %2\ns_nop 0\n" LOAD "\ns_waitcnt vmcnt(0)"
               : : "v"(in + i), "v"(at), "s"(m0), "v"(lds[i]) : "memory");
  barrier();
  out[i] = lds[i]; out[i + 64] = lds[i + 64];
}
KERNEL unwritten(u32 m0) {
  SHARED u32 lds[128];
  volatile u32 mine[4];
  mine[0] = 5;
  u32 at = (u32)(__attribute__((address_space(5))) volatile u32*)mine;
  asm volatile("s_mov_b32 m0, 0\ns_nop 0\n" LOAD "\ns_waitcnt vmcnt(0)"
               : : "v"((u64)at), "v"(at + m0), "v"((u32)(__attribute__((address_space(3))) u32*)lds) : "memory");
}
)x";
  const auto in = counting(64);
  for (const std::string arch : {"gfx90a", "gfx942"}) {
    const bool scratch = arch == "gfx942";
    const auto code = compile("#define LOAD \"" +
                                  std::string(scratch ? "scratch_load_lds_sshort %1, off offset:4"
                                                      : "global_load_ushort %0, off lds") +
                                  "\"\n" + text,
                              arch);
    if (!code) return;
    Emulated gpu(device_for(arch));
    gpu.load(*code);
    const auto out = gpu.reserve(512);
    check_ok(gpu.launch("ways", {1}, {64}, out, gpu.put(in), scratch ? 252u : 256u));
    const auto got = gpu.get<uint32_t>(out, 128);
    for (uint32_t i = 0; i < 64; ++i) {
      CHECK(got[i] == 7);
      CHECK(got[i + 64] == (scratch ? i * 3 - 5 : in[i] & 0xffffu));
    }
    if (!scratch) continue;
    Emulated checked(device_for(arch), strict());
    checked.load(*code);
    check_ok(checked.launch("unwritten", {1}, {64}, ~3u));  // the load adds 4
    check_fault(checked.launch("unwritten", {1}, {64}, 4u), "uninitialized",
                {"scratch_load_lds_sshort", "private memory that nothing has written", "lane 0"});
  }
}
