// Buffer instructions: offsets, bounds, sub-dword and atomic accesses; instructions that compilers
// seldom emit.
#include <unistd.h>

#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
#define RESOURCE(P, BYTES) __builtin_amdgcn_make_buffer_rsrc((void*)(P), 0, BYTES, FLAGS)
KERNEL loads(u32* out, const u32* in, u32 bytes) {
  __amdgpu_buffer_rsrc_t r = RESOURCE(in, bytes);
  const u32 i = item();
  out[i * 4 + 0] = __builtin_amdgcn_raw_buffer_load_b32(r, i * 4, 0, 0);
  out[i * 4 + 1] = __builtin_amdgcn_raw_buffer_load_b32(r, i * 4 + 8, 64, 0);
  out[i * 4 + 2] = (u32)__builtin_amdgcn_raw_buffer_load_b16(r, i * 2, 0, 0) << 8 | (unsigned char)__builtin_amdgcn_raw_buffer_load_b8(r, i, 3, 0);
  out[i * 4 + 3] = __builtin_amdgcn_raw_buffer_load_b64(r, i * 8, 0, 0)[1];
}
KERNEL stores(u32* out, u32 bytes) {
  __amdgpu_buffer_rsrc_t r = RESOURCE(out, bytes);
  const u32 i = item();
  __builtin_amdgcn_raw_buffer_store_b32(i + 1000, r, i * 4, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b8((unsigned char)i, r, i + 512, 0, 0);
  __builtin_amdgcn_raw_buffer_store_b16((unsigned short)(i * 3), r, i * 2, 768, 0);
}
KERNEL rare(u64* q, double* d, const double* x) {
  const u32 i = item();
  q[i] = __builtin_amdgcn_qsad_pk_u16_u8(0x8877665544332211ull + i, 0x10203040u, 0x0004000300020001ull);
  d[i] = __builtin_amdgcn_trig_preop(x[0], (int)i);
}
)";

uint32_t distance(uint64_t a, uint64_t b) {
  uint32_t sum = 0;
  for (int i = 0; i < 32; i += 8)
    sum += static_cast<uint32_t>(
        std::abs(static_cast<int>(a >> i & 255) - static_cast<int>(b >> i & 255)));
  return sum;
}

void run(const target::Description& description, const std::string& flags) {
  CAPTURE(description.arch.base);
  const auto code = compile("#define FLAGS " + flags + kText, description.arch.base);
  if (!code) return;
  Emulated gpu(description);
  gpu.load(*code);
  std::vector<uint32_t> in(64);
  for (uint32_t i = 0; i < 64; ++i) in[i] = 0x01010101u * (i + 1);
  const auto source = gpu.put(in), out = gpu.put(std::vector<uint32_t>(256));
  const uint32_t bytes = 160;  // 40 dwords: what lies beyond reads 0
  check_ok(gpu.launch("loads", {1}, {32}, out, source, bytes));
  const auto got = gpu.get<uint32_t>(out, 128);
  const auto at = [&](uint32_t offset, uint32_t size) {
    uint64_t value = 0;
    if (offset + size <= bytes)
      std::memcpy(&value, reinterpret_cast<const char*>(in.data()) + offset, size);
    return value;
  };
  for (uint32_t i = 0; i < 32; ++i) {
    CAPTURE(i);
    CHECK(got[i * 4] == at(i * 4, 4));
    CHECK(got[i * 4 + 1] ==
          (i * 4 + 12 <= bytes ? in[(i * 4 + 72) / 4] : 0));  // soffset is not checked
    CHECK(got[i * 4 + 2] == (at(i * 2, 2) << 8 | at(i + 3, 1)));
    CHECK(got[i * 4 + 3] == static_cast<uint32_t>(at(i * 8, 8) >> 32));
  }
  const auto target = gpu.put(std::vector<uint32_t>(256));
  check_ok(gpu.launch("stores", {1}, {32}, target, 1024u));
  const auto stored = gpu.get<uint8_t>(target, 1024);
  for (uint32_t i = 0; i < 32; ++i) {
    uint32_t word = 0;
    uint16_t half = 0;
    std::memcpy(&word, stored.data() + i * 4, 4);
    std::memcpy(&half, stored.data() + 768 + i * 2, 2);
    CHECK(word == i + 1000);
    CHECK(stored[512 + i] == i);
    CHECK(half == i * 3);
  }
  // Beyond four bytes everything is dropped; the scalar offset does not count for the bound.
  const auto small = gpu.put(std::vector<uint32_t>(256));
  check_ok(gpu.launch("stores", {1}, {32}, small, 4u));
  std::vector<uint32_t> kept(256);
  kept[0] = 1000, kept[768 / 4] = 3u << 16;
  CHECK(gpu.get<uint32_t>(small, 256) == kept);

  const auto sums = gpu.reserve(256), pieces = gpu.reserve(256);
  const double angle = 1e22;
  check_ok(gpu.launch("rare", {1}, {32}, sums, pieces, gpu.put(std::vector<double>{angle})));
  const auto q = gpu.get<uint64_t>(sums, 32);
  for (uint64_t i = 0; i < 32; ++i)
    for (int k = 0; k < 4; ++k)
      CHECK((q[i] >> (16 * k) & 0xffff) ==
            distance((0x8877665544332211ull + i) >> (8 * k), 0x10203040u) +
                static_cast<uint32_t>(k) + 1);
  // 1e22 has exponent field 1096, so the pieces start 19 bits into the fraction of 2/pi.
  const auto d = gpu.get<double>(pieces, 32);
  const double rest = std::fmod(std::ldexp(0x1.45f306dc9c883p-1, 19), 1.0);
  CHECK(std::fabs(d[0] - std::ldexp(rest, -19)) < 0x1p-53);
  CHECK(d[0] < 0x1p-19);
  CHECK(d[1] > 0);
  CHECK(d[1] < std::ldexp(1.0, -53 - 19));
}

const char* const kSwizzled = R"(
typedef i32 i4 __attribute__((ext_vector_type(4)));
extern "C" __attribute__((device)) u32 load(i4, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.buffer.load.i32");
KERNEL swizzled(u32* out, i32 w0, i32 w1, i32 w2, i32 w3, u32 scale) {
  i4 r = {w0, w1, w2, w3};
  for (u32 offset = 0; offset < 8; ++offset)
    out[offset * 32 + item()] = load(r, item() * scale, offset * 4, 0, 0);
}
)";

/// Records of 24 bytes whose pieces of `piece` bytes lie `together` records at a time.
void check_swizzled(const std::string& arch, uint32_t piece, uint32_t together, bool by_lane) {
  CAPTURE(arch);
  CAPTURE(piece);
  const bool gfx9 = arch == "gfx942";
  const auto code = compile(kSwizzled, arch);
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  constexpr uint32_t kRecords = 32, kStride = 24;
  std::vector<uint32_t> memory;
  const auto value = [](uint32_t record, uint32_t offset) { return record * 1000 + offset + 1; };
  for (uint32_t block = 0; block < kRecords; block += together)
    for (uint32_t offset = 0; offset < kStride; offset += piece)
      for (uint32_t record = block; record < block + together; ++record)
        for (uint32_t word = 0; word < piece; word += 4)
          memory.push_back(value(record, offset + word));
  memory.resize(memory.size() + 256, 7);
  const auto base = gpu.put(memory), out = gpu.reserve(8 * 32 * 4);
  const uint32_t swizzle = piece == 4 ? 1 : piece == 8 ? 2 : 3;
  const uint32_t high = static_cast<uint32_t>(base >> 32) | kStride << 16 |
                        (together == 0 ? 0
                         : gfx9        ? 1u << 31
                                       : swizzle << 30);
  uint32_t strides = 0;
  while (8u << strides < together) ++strides;
  const uint32_t last = strides << 21 | (by_lane ? 1u << 23 : 0);
  check_ok(gpu.launch("swizzled", {1}, {32}, out, static_cast<uint32_t>(base), high, 31u, last,
                      by_lane ? 0u : 1u));
  const auto got = gpu.get<uint32_t>(out, 256);
  for (uint32_t offset = 0; offset < 8; ++offset)
    for (uint32_t lane = 0; lane < 32; ++lane)
      CHECK(got[offset * 32 + lane] ==
            (lane < 31 && offset < 6 ? value(lane, offset * 4) : 0));  // 31 records
}

const char* const kWide = R"(
typedef i32 i4 __attribute__((ext_vector_type(4)));
typedef u32 u2 __attribute__((ext_vector_type(2)));
typedef u32 u4 __attribute__((ext_vector_type(4)));
typedef float f4 __attribute__((ext_vector_type(4)));
#define DECLARE(NAME, T, OF) extern "C" __attribute__((device)) T NAME(i4, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.buffer.load." OF)
DECLARE(load2, u2, "v2i32"); DECLARE(load4, u4, "v4i32"); DECLARE(load_format, f4, "format.v4f32");
extern "C" __attribute__((device)) void store2(u2, i4, i32, i32, i32, i32) __asm("llvm.amdgcn.struct.buffer.store.v2i32");
#define WIDE(NAME, T, BODY) KERNEL NAME(T* out, i32 w0, i32 w1, i32 w2, i32 w3, u32 offset) { i4 r = {w0, w1, w2, w3}; BODY }
WIDE(two, u2, out[item()] = load2(r, item(), offset, 0, 0);)
WIDE(four, u4, out[item()] = load4(r, item(), offset, 0, 0);)
WIDE(format, f4, out[item()] = load_format(r, item(), offset, 0, 0);)
WIDE(store, u2, store2((u2){7, 8}, r, item(), offset, 0, 0);)
)";

/// Records of 32 bytes, eight of which lie together; the bytes that stay together are 4, 8 or 16.
struct Swizzled {
  Emulated gpu;
  uint32_t piece;
  bool gfx9;
  device::Address base = 0, out = 0;
  Swizzled(const std::string& arch, const Bytes& code, uint32_t bytes)
      : gpu(device_for(arch)), piece(bytes), gfx9(arch.rfind("gfx9", 0) == 0) {
    gpu.load(code);
    std::vector<uint32_t> memory(64 + 64);
    for (uint32_t i = 0; i < memory.size(); ++i) memory[i] = i;
    base = gpu.put(memory);
    out = gpu.reserve(128);
  }
  Result<void> launch(const char* kernel, uint32_t offset, uint32_t last) {
    const uint32_t swizzle = gfx9 ? 1u << 31 : (piece == 4 ? 1u : piece == 8 ? 2u : 3u) << 30;
    const uint32_t high = static_cast<uint32_t>(base >> 32) | 32u << 16 | swizzle;
    return gpu.launch(kernel, {1}, {8}, out, static_cast<uint32_t>(base), high, 8u, last, offset);
  }
  void check(const char* kernel, uint32_t words, uint32_t offset) {
    check_ok(launch(kernel, offset, 0));
    const auto got = gpu.get<uint32_t>(out, 8 * words);
    for (uint32_t i = 0; i < 8; ++i)
      for (uint32_t w = 0; w < words; ++w)
        CHECK(got[i * words + w] ==
              offset / piece * piece * 2 + (i * piece + offset % piece) / 4 + w);
  }
  void refuse(const char* kernel, uint32_t offset, const std::string& bytes, uint32_t last = 0) {
    check_fault(launch(kernel, offset, last), "buffer-resource",
                {bytes, "swizzled buffer", std::to_string(piece) + " bytes"});
  }
};

}  // namespace

TEST_CASE("an access of a swizzled buffer stays inside an element") {
  // 32_32_32_32 FLOAT, X to W
  constexpr uint32_t kFloats = 4u | 5u << 3 | 6u << 6 | 7u << 9;
  if (const auto code = compile(kWide, "gfx942")) {
    Swizzled four("gfx942", *code, 4);
    four.refuse("two", 0, "8 bytes");
    four.refuse("four", 0, "16 bytes");
    four.refuse("format", 0, "16 bytes", kFloats | 7u << 12 | 14u << 15);
    four.refuse("store", 8, "8 bytes at offset 8");
    // Adding the lane's number takes the bits of the format.
    check_fault(four.launch("format", 0, kFloats | 7u << 12 | 14u << 15 | 1u << 23),
                "buffer-resource", {"adds the lane's number", "buffer_load_format"});
  }
  if (const auto code = compile(kWide, "gfx1100")) {
    Swizzled eight("gfx1100", *code, 8);
    eight.check("two", 2, 0);
    eight.check("two", 2, 24);
    eight.refuse("two", 4, "8 bytes at offset 4");
    eight.refuse("four", 8, "16 bytes");
    Swizzled sixteen("gfx1100", *code, 16);
    sixteen.check("two", 2, 4);
    sixteen.check("four", 4, 16);
    sixteen.refuse("two", 12, "8 bytes");
  }
}

TEST_CASE("swizzled buffers, and indices by lane") {
  check_swizzled("gfx942", 4, 8, false);
  check_swizzled("gfx942", 4, 32, true);
  check_swizzled("gfx1100", 4, 16, false);
  check_swizzled("gfx1100", 8, 8, true);
  check_swizzled("gfx1201", 8, 32, false);
}

TEST_CASE("buffer accesses stay inside their resource; rare instructions") {
  run(mi300x(), "0x00020000");
  auto rdna = rx7900();
  run(rdna, "0x31014000");
}
