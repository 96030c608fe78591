// gfx950: products of floats of 8, 6 and 4 bits with scales, conversions of them, wide sparse
// products. gfx12: WMMA in waves of 64, SWMMAC.
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// E4M3, E5M2, E2M3, E3M2, E2M1: what cbsz and blgp 0 to 4 name.
struct Format {
  int bits, mantissa, bias;
  unsigned greatest;  ///< greatest code of a number
};
constexpr Format kFormats[] = {
    {8, 3, 7, 0x7e}, {8, 2, 15, 0x7b}, {6, 3, 1, 0x1f}, {6, 2, 3, 0x1f}, {4, 1, 1, 0x7}};

double value_of(unsigned code, const Format& f) {
  const auto magnitude = static_cast<int>(code & ((1u << (f.bits - 1)) - 1));
  const int exponent = magnitude >> f.mantissa, fraction = magnitude & ((1 << f.mantissa) - 1);
  const double value =
      exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissa)
                    : std::ldexp(fraction + (1 << f.mantissa), exponent - f.bias - f.mantissa);
  return (code >> (f.bits - 1)) != 0 ? -value : value;
}
/// The code nearest to `x`, an even one of two; the greatest for all beyond it.
unsigned nearest(double x, const Format& f) {
  unsigned best = 0;
  const double magnitude = std::min(std::fabs(x), value_of(f.greatest, f));
  for (unsigned code = 1; code <= f.greatest; ++code) {
    const double here = std::fabs(value_of(code, f) - magnitude);
    const double least = std::fabs(value_of(best, f) - magnitude);
    if (here < least || (here == least && code % 2 == 0)) best = code;
  }
  return best | (std::signbit(x) ? 1u << (f.bits - 1) : 0u);
}

/// Element `item` of a lane's bits.
unsigned field(const std::vector<uint32_t>& words, size_t first_word, unsigned item, int bits) {
  unsigned out = 0;
  for (unsigned b = 0; b < static_cast<unsigned>(bits); ++b) {
    const unsigned at = item * static_cast<unsigned>(bits) + b;
    out |= (words[first_word + at / 32] >> (at % 32) & 1u) << b;
  }
  return out;
}

uint32_t noise(uint32_t& state) {
  state ^= state << 13, state ^= state >> 17, state ^= state << 5;
  return state;
}
/// Random codes that are numbers: eight registers for each of 64 lanes.
std::vector<uint32_t> codes(const Format& f, uint32_t seed) {
  std::vector<uint32_t> out(64 * 8);
  for (uint32_t& word : out) {
    word = noise(seed);
    if (f.bits == 8) word &= 0xbfbfbfbfu;  // the exponent's upper half would be large or no number
  }
  return out;
}

const char* const kProducts = R"(
typedef int i8v __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
#define SMALL(NAME, A, B, SA, SB) KERNEL NAME(f4* d, const i8v* a, const i8v* b, const u32* s) { \
  d[item()] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[item()], b[item()], d[item()], A, B, SA, s[item()], SB, s[item() + 64]); }
SMALL(p00, 0, 0, 0, 3) SMALL(p14, 1, 4, 1, 2) SMALL(p23, 2, 3, 2, 1) SMALL(p42, 4, 2, 3, 0)
KERNEL plain(f4* d, const i8v* a, const i8v* b, const u32* s) {
  d[item()] = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[item()], b[item()], d[item()], 0, 4, 0, 0, 0, 0); }
KERNEL large(f16v* d, const i8v* a, const i8v* b, const u32* s) {
  d[item()] = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(a[item()], b[item()], d[item()], 1, 0, 0, s[item()], 1, s[item() + 64]); }
)";

struct Product {
  const char* kernel;
  unsigned size, depth;
  int a, b, a_byte, b_byte;  ///< a_byte -1: no scales
};

void check_product(Emulated& gpu, const Product& p) {
  CAPTURE(p.kernel);
  const Format &fa = kFormats[p.a], &fb = kFormats[p.b];
  const auto a = codes(fa, 77), b = codes(fb, 1234);
  std::vector<uint32_t> scales(128);
  uint32_t seed = 5;
  for (uint32_t& word : scales) {
    word = 0;
    for (int byte = 0; byte < 4; ++byte) word |= (120 + noise(seed) % 12) << (8 * byte);
  }
  const unsigned size = p.size, depth = p.depth, groups = 64 / size;
  // Element (index, k), with its scale.
  const auto element = [&](const std::vector<uint32_t>& from, const Format& f, unsigned index,
                           unsigned k, int byte, unsigned scale_lanes) {
    unsigned group = k / 32, item = k % 32;
    if (f.bits == 8) group = k / 16 % groups, item = k % 16 + k / (16 * groups) * 16;
    const size_t lane = index + size * group;
    double value = value_of(field(from, lane * 8, item, f.bits), f);
    if (byte >= 0) {
      const uint32_t word = scales[scale_lanes + index + size * (k / 32)];
      value *= std::ldexp(1.0, static_cast<int>(word >> (8 * byte) & 255u) - 127);
    }
    return value;
  };
  const unsigned items = size * size / 64;
  const auto d = gpu.put(std::vector<float>(64 * items, 0.5f));
  check_ok(gpu.launch(p.kernel, {1}, {64}, d, gpu.put(a), gpu.put(b), gpu.put(scales)));
  const auto got = gpu.get<float>(d, 64 * items);
  for (unsigned i = 0; i < size; ++i)
    for (unsigned j = 0; j < size; ++j) {
      double want = 0.5, sum = 0.5;
      for (unsigned k = 0; k < depth; ++k) {
        const double product =
            element(a, fa, i, k, p.a_byte, 0) * element(b, fb, j, k, p.b_byte, 64);
        want += product, sum += std::fabs(product);
      }
      const unsigned lane = j + size * (i / 4 % groups), item = i % 4 + 4 * (i / (4 * groups));
      CAPTURE(i);
      CAPTURE(j);
      CHECK(std::fabs(static_cast<double>(got[lane * items + item]) - want) <=
            depth * 0x1p-24 * sum);
    }
}

const char* const kConversions = R"(
typedef u32 u6 __attribute__((ext_vector_type(6)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef float f32v __attribute__((ext_vector_type(32)));
typedef _Float16 h32 __attribute__((ext_vector_type(32)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef short s2 __attribute__((ext_vector_type(2)));
KERNEL widen(float* e4, float* e2, f32v* six, h32* bsix, h2* halves, const u32* x, const u6* sixes, float scale) {
  const u32 v = x[item()];
  e4[item() * 4 + 0] = __builtin_amdgcn_cvt_scalef32_f32_fp8(v, scale, 0);
  e4[item() * 4 + 1] = __builtin_amdgcn_cvt_scalef32_f32_fp8(v, scale, 1);
  e4[item() * 4 + 2] = __builtin_amdgcn_cvt_scalef32_f32_fp8(v, scale, 2);
  e4[item() * 4 + 3] = __builtin_amdgcn_cvt_scalef32_f32_fp8(v, scale, 3);
  auto a = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(v, scale, 1), b = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(v, scale, 2);
  e2[item() * 4 + 0] = a[0]; e2[item() * 4 + 1] = a[1]; e2[item() * 4 + 2] = b[0]; e2[item() * 4 + 3] = b[1];
  h2 h = {}; h = __builtin_amdgcn_cvt_scalef32_f16_bf8(h, v, scale, 3, true); h = __builtin_amdgcn_cvt_scalef32_f16_bf8(h, v, scale, 1, false);
  halves[item()] = h;
  six[item()] = __builtin_amdgcn_cvt_scalef32_pk32_f32_fp6(sixes[item()], scale);
  bsix[item()] = __builtin_amdgcn_cvt_scalef32_pk32_f16_bf6(sixes[item()], scale);
}
KERNEL narrow(u32* e4, u32* e2, u6* six, u6* cut, const float* x, const f16v* wide, float scale) {
  const float* p = x + item() * 32;
  s2 w = {}; w = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(w, p[0], p[1], scale, false); w = __builtin_amdgcn_cvt_scalef32_pk_fp8_f32(w, p[2], p[3], scale, true);
  e4[item()] = __builtin_bit_cast(u32, w);
  u32 v = 0x11223344; v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, p[0], p[1], scale, 1); v = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(v, p[2], p[3], scale, 3);
  e2[item()] = v;
  six[item()] = __builtin_amdgcn_cvt_scalef32_2xpk16_fp6_f32(wide[2 * item()], wide[2 * item() + 1], scale);
  cut[item()] = __builtin_amdgcn_cvt_scalef32_sr_pk32_bf6_f32(*(const f32v*)(wide + 2 * item()), 0u, scale);
}
KERNEL others(u32* out) {
  short s = __builtin_amdgcn_ashr_pk_i8_i32(-70000, 1000, 3);
  out[0] = (unsigned short)s;
  out[1] = (unsigned short)__builtin_amdgcn_ashr_pk_u8_i32(-70000, 1000, 2);
}
)";

}  // namespace

TEST_CASE("scaled products of small floats") {
  const auto code = compile(kProducts, "gfx950");
  if (!code) return;
  Emulated gpu(device_for("gfx950"));
  gpu.load(*code);
  for (const Product& p :
       {Product{"p00", 16, 128, 0, 0, 0, 3}, Product{"p14", 16, 128, 1, 4, 1, 2},
        Product{"p23", 16, 128, 2, 3, 2, 1}, Product{"p42", 16, 128, 4, 2, 3, 0},
        Product{"plain", 16, 128, 0, 4, -1, -1}, Product{"large", 32, 64, 1, 0, 0, 1}})
    check_product(gpu, p);
  // A scale of 255 is no number.
  const auto d = gpu.put(std::vector<float>(256));
  check_ok(gpu.launch("p00", {1}, {64}, d, gpu.put(codes(kFormats[0], 77)),
                      gpu.put(codes(kFormats[0], 78)), gpu.put(std::vector<uint32_t>(128, ~0u))));
  CHECK(std::isnan(gpu.get<float>(d, 1)[0]));
}

TEST_CASE("scaled conversions of small floats") {
  const auto code = compile(kConversions, "gfx950");
  if (!code) return;
  Emulated gpu(device_for("gfx950"));
  gpu.load(*code);
  const float scale = -0x1.8p-3f;              // only its exponent counts: 2^-3
  std::vector<uint32_t> x(64), sixes(64 * 8);  // six registers, at a distance of eight
  for (uint32_t i = 0; i < 64; ++i) x[i] = 0x03020100u + i * 0x04040404u;
  uint32_t seed = 99;
  for (uint32_t& word : sixes) word = noise(seed);
  const auto e4 = gpu.reserve(1024), e2 = gpu.reserve(1024), six = gpu.reserve(64 * 128),
             bsix = gpu.reserve(64 * 64), halves = gpu.reserve(256);
  check_ok(
      gpu.launch("widen", {1}, {64}, e4, e2, six, bsix, halves, gpu.put(x), gpu.put(sixes), scale));
  const auto got4 = gpu.get<float>(e4, 256), got2 = gpu.get<float>(e2, 256),
             got6 = gpu.get<float>(six, 64 * 32);
  const auto gotb = gpu.get<uint16_t>(bsix, 64 * 32), goth = gpu.get<uint16_t>(halves, 128);
  const auto half_value = [](uint16_t bits) {
    const int e = bits >> 10 & 31;
    const double m =
        e == 0 ? std::ldexp(bits & 1023, -24) : std::ldexp(1024 + (bits & 1023), e - 25);
    return (bits & 0x8000) != 0 ? -m : m;
  };
  for (unsigned code8 = 0; code8 < 256; ++code8) {
    CAPTURE(code8);
    if ((code8 & 0x7f) != 0x7f)
      CHECK(static_cast<double>(got4[code8]) == value_of(code8, kFormats[0]) / 8);
    else
      CHECK(std::isnan(got4[code8]));
    const unsigned lane = code8 / 4, which = code8 % 4, byte = 1 + which / 2;
    const unsigned four = x[lane] >> (8 * byte + 4 * (which % 2)) & 15u;
    CHECK(static_cast<double>(got2[code8]) == value_of(four, kFormats[4]) / 8);
  }
  for (unsigned i = 0; i < 64 * 32; ++i) {
    const unsigned bits = field(sixes, i / 32 * 8, i % 32, 6);
    CHECK(static_cast<double>(got6[i]) == value_of(bits, kFormats[2]) / 8);
    CHECK(half_value(gotb[i]) == value_of(bits, kFormats[3]) / 8);
  }
  for (unsigned lane = 0; lane < 20; ++lane) {  // small enough for f16
    CHECK(half_value(goth[2 * lane]) == value_of(x[lane] >> 8 & 255u, kFormats[1]) / 8);
    CHECK(half_value(goth[2 * lane + 1]) == value_of(x[lane] >> 24, kFormats[1]) / 8);
  }

  std::vector<float> values(64 * 32);
  for (float& value : values) {
    const int exponent = static_cast<int>(noise(seed) % 7) - 4;
    value = static_cast<float>(std::ldexp(1 + noise(seed) % 4096 / 4096.0, exponent) / 8);
    if (noise(seed) % 2 != 0) value = -value;
  }
  values[0] = 0.0f, values[1] = -0.0f, values[2] = 1e20f, values[3] = 0x1.5p-1f;
  const auto out6 = gpu.reserve(64 * 32), cut = gpu.reserve(64 * 32), in = gpu.put(values);
  check_ok(gpu.launch("narrow", {1}, {64}, e4, e2, out6, cut, in, in, scale));
  const auto n4 = gpu.get<uint8_t>(e4, 256);
  const auto n2 = gpu.get<uint32_t>(e2, 64), n6 = gpu.get<uint32_t>(out6, 64 * 8),
             nb = gpu.get<uint32_t>(cut, 64 * 8);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned i = 0; i < 32; ++i) {
      CAPTURE(lane);
      CAPTURE(i);
      const double value = 8 * static_cast<double>(values[lane * 32 + i]);
      if (i < 4) {
        if (value < 1e6) CHECK(n4[lane * 4 + i] == nearest(value, kFormats[0]));
        const unsigned at = (i < 2 ? 8u : 24u) + 4 * (i % 2);
        CHECK((n2[lane] >> at & 15u) == nearest(value, kFormats[4]));
      }
      // 2xpk16 takes its elements from the two operands in turn.
      const double turn =
          8 * static_cast<double>(values[lane * 32 + i / 2 + (i % 2 != 0 ? 16u : 0u)]);
      CHECK(field(n6, lane * 8, i, 6) == nearest(turn, kFormats[2]));
      // With random numbers of 0 (v_prng of 0 is 0) the stochastic form cuts off.
      const unsigned down = field(nb, lane * 8, i, 6) & 31u;
      CHECK(value_of(down, kFormats[3]) <= std::fabs(value));
      if (down < 31) CHECK(value_of(down + 1, kFormats[3]) > std::fabs(value));
    }
  CHECK((n4[2] & 0x7f) == 0x7f);                // E4M3 has no number that large
  CHECK((n2[0] & 0x00ff00ffu) == 0x00220044u);  // the other bytes stay
  const auto out = gpu.reserve(8);
  check_ok(gpu.launch("others", {1}, {1}, out));
  CHECK(gpu.get<uint32_t>(out, 2) == std::vector<uint32_t>{0x7d80, 0xfa00});
}

TEST_CASE("sparse products of gfx950") {
  const auto code = compile(R"(
typedef int i4v __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
KERNEL k(i4v* d, const i4v* a, const i8v* b, const u32* at) {
  d[item()] = __builtin_amdgcn_smfmac_i32_16x16x128_i8(a[item()], b[item()], d[item()], at[item()], 0, 0);
})",
                            "gfx950");
  if (!code) return;
  Emulated gpu(device_for("gfx950"));
  gpu.load(*code);
  uint32_t seed = 3;
  std::vector<uint8_t> a(64 * 16), b(64 * 32);
  for (auto& v : a) v = static_cast<uint8_t>(noise(seed));
  for (auto& v : b) v = static_cast<uint8_t>(noise(seed));
  const uint32_t patterns[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  std::vector<uint32_t> at(64);
  for (auto& word : at)
    for (unsigned pair = 0; pair < 8; ++pair) word |= patterns[noise(seed) % 6] << (4 * pair);
  std::vector<int32_t> want(256, -9);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned item = 0; item < 16; ++item)
      for (unsigned j = 0; j < 16; ++j) {
        const unsigned k = item / 2 * 4 + (at[lane] >> (2 * item) & 3u);  // of the lane's 32
        const unsigned row = lane % 16, from = (j + lane / 16 * 16) * 32 + k;
        want[(row / 4 * 16 + j) * 4 + row % 4] +=
            static_cast<int8_t>(a[lane * 16 + item]) * static_cast<int8_t>(b[from]);
      }
  const auto d = gpu.put(std::vector<int32_t>(256, -9));
  check_ok(gpu.launch("k", {1}, {64}, d, gpu.put(a), gpu.put(b), gpu.put(at)));
  CHECK(gpu.get<int32_t>(d, 256) == want);
}

namespace {

const char* const kGfx12 = R"(
typedef int i2v __attribute__((ext_vector_type(2)));
typedef int i4v __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
#if WIDE
KERNEL dense(i4v* d, const int* a, const int* b) {
  d[item()] = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w64_gfx12(true, a[item()], true, b[item()], d[item()], false); }
KERNEL sparse(i4v* d, const int* a, const i2v* b, const u32* at) {
  d[item()] = __builtin_amdgcn_swmmac_i32_16x16x32_iu8_w64(true, a[item()], true, b[item()], d[item()], at[item()], false); }
#else
KERNEL sparse(i8v* d, const i2v* a, const i4v* b, const u32* at) {
  d[item()] = __builtin_amdgcn_swmmac_i32_16x16x32_iu8_w32(true, a[item()], true, b[item()], d[item()], at[item()], false); }
#endif
)";

/// Group of 16 lanes, in the order of k, of a lane: waves of 64 have 0, 2, 1, 3.
unsigned order_of(unsigned lane, bool wide) {
  return wide ? (lane / 16 % 2) * 2 + lane / 32 : lane / 16;
}
/// Lane and register of row i in D.
std::pair<unsigned, unsigned> place_of(unsigned i, unsigned j, bool wide) {
  if (!wide) return {j + 16 * (i / 8), i % 8};
  return {j + 16 * (i / 8) + 32 * (i / 4 % 2), i % 4};
}

void check_gfx12(bool wide) {
  CAPTURE(wide);
  const auto code =
      compile(kGfx12, "gfx1201", wide ? "-O2 -mwavefrontsize64 -DWIDE=1" : "-O2 -DWIDE=0");
  if (!code) return;
  Emulated gpu(device_for("gfx1201"));
  gpu.load(*code);
  const unsigned lanes = wide ? 64 : 32, groups = lanes / 16, packed = 16 / groups;
  uint32_t seed = 11;
  std::vector<uint8_t> a(lanes * packed), b(lanes * packed * 2);
  for (auto& v : a) v = static_cast<uint8_t>(noise(seed));
  for (auto& v : b) v = static_cast<uint8_t>(noise(seed));
  const uint32_t patterns[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  std::vector<uint32_t> at(lanes);
  for (auto& word : at)
    for (unsigned pair = 0; pair < 8; ++pair) word |= patterns[noise(seed) % 6] << (4 * pair);
  std::vector<int32_t> want(256, 4), dense(256, 4);
  const auto byte = [](uint8_t v) { return int{static_cast<int8_t>(v)}; };
  for (unsigned la = 0; la < lanes; ++la)
    for (unsigned lb = 0; lb < lanes; ++lb) {
      if (order_of(la, wide) != order_of(lb, wide)) continue;
      const auto [lane, reg] = place_of(la % 16, lb % 16, wide);
      for (unsigned item = 0; item < packed; ++item) {
        const unsigned k = item / 2 * 4 + (at[la] >> (2 * item) & 3u);
        want[lane * (256 / lanes) + reg] +=
            byte(a[la * packed + item]) * byte(b[lb * packed * 2 + k]);
        dense[lane * (256 / lanes) + reg] +=
            byte(a[la * packed + item]) * byte(b[lb * packed + item]);
      }
    }
  auto d = gpu.put(std::vector<int32_t>(256, 4));
  check_ok(gpu.launch("sparse", {1}, {lanes}, d, gpu.put(a), gpu.put(b), gpu.put(at)));
  CHECK(gpu.get<int32_t>(d, 256) == want);
  if (!wide) return;
  d = gpu.put(std::vector<int32_t>(256, 4));
  check_ok(gpu.launch("dense", {1}, {64}, d, gpu.put(a), gpu.put(b)));
  CHECK(gpu.get<int32_t>(d, 256) == dense);
}

}  // namespace

TEST_CASE("gfx12: sparse products, and products in waves of 64") {
  check_gfx12(false);
  check_gfx12(true);
}
