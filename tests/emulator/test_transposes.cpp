// Loads that transpose: every lane and element against a matrix written down element by element.
#include <unistd.h>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kShared = R"(
typedef i32 i2 __attribute__((ext_vector_type(2)));
typedef i32 i3 __attribute__((ext_vector_type(3)));
typedef short s4 __attribute__((ext_vector_type(4)));
#define LDS(T) (__attribute__((address_space(3))) T*)
#define KERNEL_OF(NAME, T, WORDS, BUILTIN)                                        \
  KERNEL NAME(T* out, const u32* in, const u32* at, u64 on) {                     \
    SHARED u32 lds[64 * WORDS];                                                   \
    for (u32 i = 0; i < WORDS; ++i) lds[i * 64 + item()] = in[i * 64 + item()];   \
    barrier();                                                                    \
    if (on >> item() & 1) out[item()] = BUILTIN(LDS(T)((char*)lds + at[item()])); \
  }
KERNEL_OF(b4, i2, 2, __builtin_amdgcn_ds_read_tr4_b64_v2i32)
KERNEL_OF(b8, i2, 2, __builtin_amdgcn_ds_read_tr8_b64_v2i32)
KERNEL_OF(b16, s4, 2, __builtin_amdgcn_ds_read_tr16_b64_v4i16)
KERNEL_OF(b6, i3, 3, __builtin_amdgcn_ds_read_tr6_b96_v3i32)
)";

/// Item `item` of `bits` bits behind byte `at`.
unsigned field(const std::vector<uint32_t>& words, size_t at, size_t item, size_t bits) {
  unsigned out = 0;
  for (size_t b = 0; b < bits; ++b) {
    const size_t bit = at * 8 + item * bits + b;
    out |= (words[bit / 32] >> (bit % 32) & 1u) << b;
  }
  return out;
}

std::vector<uint32_t> noise(size_t count) {
  std::vector<uint32_t> words(count);
  uint32_t seed = 12345;
  for (auto& word : words) seed = seed * 1664525 + 1013904223, word = seed ^ seed >> 15;
  return words;
}

/// One kernel: each 16 lanes load a matrix of 16 rows and `items` columns, column after column in
/// memory, and each lane gets its row.
void check_lds(Emulated& gpu, const char* kernel, size_t bits, size_t words) {
  CAPTURE(kernel);
  const size_t items = words * 32 / bits, bytes = words * 4;
  const auto memory = noise(64 * words);
  std::vector<uint32_t> at(64);
  // Lanes take their pieces from places all over the memory.
  for (uint32_t lane = 0; lane < 64; ++lane)
    at[lane] = static_cast<uint32_t>((lane * 37 + 11) % 64 * bytes);
  const auto out = gpu.put(std::vector<uint32_t>(64 * 4, 7));
  const size_t stride = words == 3 ? 4 : words;  // a vector of three has the size of four
  check_ok(gpu.launch(kernel, {1}, {64}, out, gpu.put(memory), gpu.put(at), ~uint64_t{0}));
  const auto got = gpu.get<uint32_t>(out, 64 * stride);
  for (size_t group = 0; group < 4; ++group) {
    // The matrix: lanes in order have its elements in memory order.
    std::vector<std::vector<unsigned>> matrix(16, std::vector<unsigned>(items));
    for (size_t n = 0; n < 16 * items; ++n)
      matrix[n % 16][n / 16] = field(memory, at[group * 16 + n / items], n % items, bits);
    for (size_t row = 0; row < 16; ++row)
      for (size_t k = 0; k < items; ++k) {
        const size_t lane = group * 16 + row;
        CHECK_MESSAGE(field(got, lane * stride * 4, k, bits) == matrix[row][k], "lane ", lane,
                      " item ", k);
      }
  }
}

const char* const kGlobal = R"(
typedef i32 i2 __attribute__((ext_vector_type(2)));
typedef short s4 __attribute__((ext_vector_type(4)));
typedef short s8 __attribute__((ext_vector_type(8)));
#define GLOBAL(T, P) (__attribute__((address_space(1))) T*)(P)
#ifdef WIDE
typedef s4 half_t; typedef i32 byte_t;
#define HALVES __builtin_amdgcn_global_load_tr_b128_v4i16
#define BYTES __builtin_amdgcn_global_load_tr_b64_i32
#else
typedef s8 half_t; typedef i2 byte_t;
#define HALVES __builtin_amdgcn_global_load_tr_b128_v8i16
#define BYTES __builtin_amdgcn_global_load_tr_b64_v2i32
#endif
KERNEL halves(half_t* out, const char* in, const u32* at) {
  out[item()] = HALVES(GLOBAL(half_t, in + at[item()]));
}
KERNEL some(half_t* out, const char* in, const u32* at, u64 on) {
  u32 place;  // nothing writes v50 in the other lanes
  asm volatile("s_mov_b64 s[20:21], exec\n s_mov_b64 exec, %2\n v_mov_b32 v50, %1\n s_mov_b64 exec, s[20:21]"
               : "={v50}"(place) : "v"(at[item()]), "s"(on) : "s20", "s21");
  out[item()] = HALVES(GLOBAL(half_t, in + place));
}
KERNEL bytes(byte_t* out, const char* in, const u32* at) {
  out[item()] = BYTES(GLOBAL(byte_t, in + at[item()]));
}
)";

/// A 16 x 16 matrix, stored column after column: afterwards lane l has row l % 16, columns from
/// 8 * (l / 16) on (waves of 64: 4 * (l / 16)), as WMMA wants its A.
void check_global(const std::string& arch, unsigned lanes) {
  CAPTURE(lanes);
  const auto code = compile(std::string(lanes == 64 ? "#define WIDE\n" : "") + kGlobal, arch,
                            lanes == 64 ? "-O3 -mwavefrontsize64" : "-O3");
  if (!code) return;
  Emulated gpu(device_for(arch, lanes));
  gpu.load(*code);
  for (const size_t bits : {16u, 8u}) {
    CAPTURE(bits);
    const auto memory = noise(16 * 16 * bits / 32 + 64);
    const size_t pitch = 16 * bits / 8 + 4;        // bytes from column to column
    const size_t per_lane = 128 / lanes * 2;       // elements that a lane gets
    std::vector<uint32_t> at(lanes, 0xfffffff0u);  // lanes 32 to 63 load nothing
    for (uint32_t lane = 0; lane < 32; ++lane) {
      // Eight lanes have eight rows of eight columns; bytes: 16 lanes 16 rows of eight columns.
      const size_t column = bits == 16 ? lane / 16 * 8 + lane % 8 : lane / 16 * 8 + lane % 16 / 2;
      const size_t row = bits == 16 ? lane / 8 % 2 * 8 : lane % 2 * 8;
      at[lane] = static_cast<uint32_t>(column * pitch + row * bits / 8);
    }
    const auto out = gpu.reserve(lanes * 16);
    check_ok(gpu.launch(bits == 16 ? "halves" : "bytes", {1}, {lanes}, out, gpu.put(memory),
                        gpu.put(at)));
    const size_t bytes = per_lane * bits / 8;
    const auto got = gpu.get<uint32_t>(out, lanes * bytes / 4);
    for (size_t lane = 0; lane < lanes; ++lane)
      for (size_t k = 0; k < per_lane; ++k) {
        const size_t row = lane % 16, column = per_lane * (lane / 16) + k;
        CHECK_MESSAGE(field(got, lane * bytes, k, bits) == field(memory, column * pitch, row, bits),
                      "lane ", lane, " item ", k);
      }
  }
}

}  // namespace

TEST_CASE("transposing loads from LDS") {
  const auto code = compile(kShared, "gfx950");
  if (!code) return;
  Emulated gpu(device_for("gfx950", 64));
  gpu.load(*code);
  check_lds(gpu, "b16", 16, 2);
  check_lds(gpu, "b8", 8, 2);
  check_lds(gpu, "b4", 4, 2);
  check_lds(gpu, "b6", 6, 3);
}

TEST_CASE("transposing loads with lanes off") {
  const auto code = compile(kShared, "gfx950");
  if (!code) return;
  Emulated gpu(device_for("gfx950", 64));
  gpu.load(*code);
  std::vector<uint32_t> at(64), memory(128, 0xffffffffu);
  at[5] = 1 << 20;  // off: it loads nothing from there
  const auto out = gpu.put(std::vector<uint16_t>(256, 7));
  check_ok(gpu.launch("b16", {1}, {64}, out, gpu.put(memory), gpu.put(at), ~uint64_t{1 << 5}));
  const auto got = gpu.get<uint16_t>(out, 256);
  for (size_t lane = 0; lane < 64; ++lane)
    for (size_t k = 0; k < 4; ++k) {
      // Lane 5 of 16 would have had rows 4 to 7 of column 1.
      const bool missing = lane / 4 == 1 && k == 1;
      CHECK(got[lane * 4 + k] == (lane == 5 ? 7 : missing ? 0 : 0xffff));
    }
  at[20] = 510;
  check_fault(gpu.launch("b16", {1}, {64}, out, gpu.put(memory), gpu.put(at), ~uint64_t{0}),
              "bad-lds-address", {"ds_read_b64_tr_b16", "lane 5"});
}

TEST_CASE("transposing loads from global memory, waves of 32 and of 64") {
  check_global("gfx1201", 32);
  check_global("gfx1201", 64);
}

TEST_CASE("in waves of 64 the addresses of lanes 32 to 63 may be undefined") {
  const auto code =
      compile(std::string("#define WIDE\n") + kGlobal, "gfx1201", "-O3 -mwavefrontsize64");
  if (!code) return;
  Emulated gpu(device_for("gfx1201", 64), strict());
  gpu.load(*code);
  const auto out = gpu.reserve(64 * 8), in = gpu.put(noise(256)),
             at = gpu.put(std::vector<uint32_t>(64));
  check_ok(gpu.launch("some", {1}, {64}, out, in, at, uint64_t{0xffffffff}));
  check_fault(gpu.launch("some", {1}, {64}, out, in, at, uint64_t{0xfffffff7}), "uninitialized",
              {"the address comes from v", "global_load_tr_b128", "lane 3"});
}
