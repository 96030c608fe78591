// 8-bit floats, sparse matrix products, gfx12's scalar functions.
#include <unistd.h>

#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// A format by its definition: mantissa bits and bias; codes above `greatest` are no numbers.
struct Format {
  int mantissa, bias, greatest;
  bool fnuz, infinite;
};
constexpr Format kFnuz8{3, 8, 0x7f, true, false}, kFnuzB8{2, 16, 0x7f, true, false};
constexpr Format kOcp8{3, 7, 0x7e, false, false}, kOcpB8{2, 15, 0x7b, false, true};

double value_of(int code, const Format& f) {
  const int exponent = (code & 0x7f) >> f.mantissa, fraction = code & ((1 << f.mantissa) - 1);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissa)
                    : std::ldexp(fraction + (1 << f.mantissa), exponent - f.bias - f.mantissa);
  if (f.fnuz && code == 0x80) return NAN;
  if ((code & 0x7f) > f.greatest)
    return f.infinite && (code & 0x7f) == 0x7c ? (code & 0x80 ? -INFINITY : INFINITY) : NAN;
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

/// The code nearest to `x`, an even one of two; beyond half a step above the greatest: -1.
int nearest(float x, const Format& f) {
  const double magnitude = std::fabs(static_cast<double>(x));
  int best = 0;
  for (int code = 1; code <= f.greatest; ++code) {
    const double here = std::fabs(value_of(code, f) - magnitude);
    const double least = std::fabs(value_of(best, f) - magnitude);
    if (here < least || (here == least && code % 2 == 0)) best = code;
  }
  const double step = value_of(f.greatest, f) - value_of(f.greatest - 1, f);
  if (magnitude > value_of(f.greatest, f) + step / 2) return -1;
  if (f.fnuz && best == 0) return 0;
  return best | (std::signbit(x) ? 0x80 : 0);
}

const char* const kConversions = R"(
KERNEL widen(float* f, float* b, float* pairs, const u32* x) {
  const u32 v = x[item()];
  f[item() * 4 + 0] = __builtin_amdgcn_cvt_f32_fp8(v, 0);
  f[item() * 4 + 1] = __builtin_amdgcn_cvt_f32_fp8(v, 1);
  f[item() * 4 + 2] = __builtin_amdgcn_cvt_f32_fp8(v, 2);
  f[item() * 4 + 3] = __builtin_amdgcn_cvt_f32_fp8(v, 3);
  b[item() * 4 + 0] = __builtin_amdgcn_cvt_f32_bf8(v, 0);
  b[item() * 4 + 1] = __builtin_amdgcn_cvt_f32_bf8(v, 1);
  b[item() * 4 + 2] = __builtin_amdgcn_cvt_f32_bf8(v, 2);
  b[item() * 4 + 3] = __builtin_amdgcn_cvt_f32_bf8(v, 3);
  auto low = __builtin_amdgcn_cvt_pk_f32_fp8(v, false), high = __builtin_amdgcn_cvt_pk_f32_fp8(v, true);
  pairs[item() * 4 + 0] = low[0]; pairs[item() * 4 + 1] = low[1];
  pairs[item() * 4 + 2] = high[0]; pairs[item() * 4 + 3] = high[1];
}
KERNEL narrow(u32* f, u32* b, const float* x) {
  const float p = x[item() * 4], q = x[item() * 4 + 1], r = x[item() * 4 + 2], s = x[item() * 4 + 3];
  f[item()] = __builtin_amdgcn_cvt_pk_fp8_f32(r, s, __builtin_amdgcn_cvt_pk_fp8_f32(p, q, 0, false), true);
  b[item()] = __builtin_amdgcn_cvt_pk_bf8_f32(r, s, __builtin_amdgcn_cvt_pk_bf8_f32(p, q, 0, false), true);
}
KERNEL stochastic(u32* f, const float* x) {
  f[item()] = __builtin_amdgcn_cvt_sr_fp8_f32(x[item()], 0x80000000u, 0x11223344, 2);
}
)";

void check_conversions(const std::string& arch, const Format& fp8, const Format& bf8) {
  CAPTURE(arch);
  const auto code = compile(kConversions, arch);
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  std::vector<uint32_t> x(64);
  for (uint32_t i = 0; i < 64; ++i) x[i] = 0x03020100u + i * 0x04040404u;
  const auto f = gpu.reserve(1024), b = gpu.reserve(1024), pairs = gpu.reserve(1024);
  check_ok(gpu.launch("widen", {1}, {64}, f, b, pairs, gpu.put(x)));
  const auto eq = [](float a, double w) {
    return std::isnan(w) ? std::isnan(a) : a == static_cast<float>(w);
  };
  const auto got_f = gpu.get<float>(f, 256), got_b = gpu.get<float>(b, 256),
             got_p = gpu.get<float>(pairs, 256);
  for (int i = 0; i < 256; ++i) {
    CAPTURE(i);
    CHECK(eq(got_f[static_cast<size_t>(i)], value_of(i, fp8)));
    CHECK(eq(got_b[static_cast<size_t>(i)], value_of(i, bf8)));
    CHECK(eq(got_p[static_cast<size_t>(i)], value_of(i, fp8)));
  }
  std::vector<float> values(256);
  for (size_t i = 0; i < 256; ++i) {
    const auto k = static_cast<double>(i);
    values[i] = static_cast<float>(
        std::ldexp(1.0 + std::fmod(k * 0.37, 1.0), static_cast<int>(i % 23) - 14));
    if (i % 3 == 0) values[i] = -values[i];
  }
  values[0] = 0.0f, values[1] = -0.0f, values[2] = 1e30f, values[3] = NAN, values[5] = 17.0f,
  values[6] = -INFINITY;
  check_ok(gpu.launch("narrow", {1}, {64}, f, b, gpu.put(values)));
  const auto codes = gpu.get<uint8_t>(f, 256), bcodes = gpu.get<uint8_t>(b, 256);
  for (size_t i = 0; i < 256; ++i) {
    CAPTURE(values[i]);
    const auto check = [&](uint8_t got, const Format& format) {
      const int want = std::isnan(values[i]) ? -1 : nearest(values[i], format);
      if (want >= 0)
        CHECK(int{got} == want);
      else if (format.infinite && !std::isnan(values[i]))
        CHECK(std::isinf(value_of(got, format)));
      else
        CHECK(std::isnan(value_of(got, format)));
    };
    check(codes[i], fp8);
    check(bcodes[i], bf8);
  }
  check_ok(gpu.launch("stochastic", {1}, {64}, f, gpu.put(std::vector<float>(64, 1.0625f))));
  // 2^31 adds 2^19 to the 23 bits of the mantissa, a sixteenth; bytes around the result stay.
  const auto random = gpu.get<uint32_t>(f, 64);
  CHECK((random[0] & 0xff00ffffu) == 0x11003344u);
  CHECK(int(random[0] >> 16 & 0xff) == nearest(1.125f, fp8));
}

const char* const kSparse = R"(
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef int i2v __attribute__((ext_vector_type(2)));
typedef int i4v __attribute__((ext_vector_type(4)));
KERNEL halves(f4* d, const h4* a, const h8* b, const u32* at) {
  d[item()] = __builtin_amdgcn_smfmac_f32_16x16x32_f16(a[item()], b[item()], d[item()], at[item()], 0, 1);
}
KERNEL bytes(i4v* d, const i2v* a, const i4v* b, const u32* at) {
  d[item()] = __builtin_amdgcn_smfmac_i32_16x16x64_i8(a[item()], b[item()], d[item()], at[item()], 0, 1);
}
)";

/// A lane's place in packed A: `items` a lane, row lane % 16; the dense k of each packed element.
size_t dense_k(size_t lane, size_t item, size_t items, uint32_t fields) {
  return lane / 16 * items * 2 + item / 2 * 4 + (fields >> (2 * item) & 3u);
}

}  // namespace

TEST_CASE("8-bit float conversions, FNUZ and OCP") {
  check_conversions("gfx942", kFnuz8, kFnuzB8);
  check_conversions("gfx950", kOcp8, kOcpB8);
  check_conversions("gfx1201", kOcp8, kOcpB8);
}

TEST_CASE("sparse matrix products") {
  const auto code = compile(kSparse, "gfx942");
  if (!code) return;
  Emulated gpu(mi300x());
  gpu.load(*code);
  const uint32_t patterns[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};  // two rising places of four
  std::vector<uint32_t> at(64);
  for (size_t lane = 0; lane < 64; ++lane)
    for (size_t pair = 0; pair < 8; ++pair)
      at[lane] |= patterns[(lane * 5 + pair * 3) % 6] << (4 * pair);

  std::vector<uint8_t> a8(64 * 8), b8(64 * 16);
  for (size_t i = 0; i < a8.size(); ++i) a8[i] = static_cast<uint8_t>(i * 37 + 11);
  for (size_t i = 0; i < b8.size(); ++i) b8[i] = static_cast<uint8_t>(i * 59 + 7);
  std::vector<int32_t> want(256, 5);
  for (size_t lane = 0; lane < 64; ++lane)
    for (size_t item = 0; item < 8; ++item) {
      const size_t k = dense_k(lane, item, 8, at[lane] >> 16);  // abid 1: the upper set
      for (size_t j = 0; j < 16; ++j) {
        const size_t from = (k / 16 * 16 + j) * 16 + k % 16;  // B: lane j + 16 * (k / 16)
        const size_t row = lane % 16;                         // D: lane j + 16 * (row / 4)
        want[(row / 4 * 16 + j) * 4 + row % 4] +=
            static_cast<int8_t>(a8[lane * 8 + item]) * static_cast<int8_t>(b8[from]);
      }
    }
  const auto d = gpu.put(std::vector<int32_t>(256, 5));
  check_ok(gpu.launch("bytes", {1}, {64}, d, gpu.put(a8), gpu.put(b8), gpu.put(at)));
  CHECK(gpu.get<int32_t>(d, 256) == want);

  const auto half = [](int v) {  // small whole numbers
    if (v == 0) return uint16_t{0};
    const int e = std::ilogb(std::abs(v));
    return static_cast<uint16_t>((v < 0 ? 0x8000 : 0) | (e + 15) << 10 |
                                 ((std::abs(v) << (10 - e)) & 0x3ff));
  };
  std::vector<uint16_t> a16, b16;
  std::vector<int> ai, bi;
  for (int i = 0; i < 64 * 4; ++i) ai.push_back(i * 7 % 13 - 6), a16.push_back(half(ai.back()));
  for (int i = 0; i < 64 * 8; ++i) bi.push_back(i * 5 % 11 - 5), b16.push_back(half(bi.back()));
  std::vector<float> sums(256, 2.0f);
  for (size_t lane = 0; lane < 64; ++lane)
    for (size_t item = 0; item < 4; ++item) {
      const size_t k = dense_k(lane, item, 4, at[lane] >> 8);
      for (size_t j = 0; j < 16; ++j) {
        const size_t from = (k / 8 * 16 + j) * 8 + k % 8, row = lane % 16;
        sums[(row / 4 * 16 + j) * 4 + row % 4] +=
            static_cast<float>(ai[lane * 4 + item] * bi[from]);
      }
    }
  const auto f = gpu.put(std::vector<float>(256, 2.0f));
  check_ok(gpu.launch("halves", {1}, {64}, f, gpu.put(a16), gpu.put(b16), gpu.put(at)));
  CHECK(gpu.get<float>(f, 256) == sums);
}

TEST_CASE("functions of scalars on gfx12") {
  const auto code = compile(R"(
KERNEL k(float* out, float x) {
  float r;
#define ONE(AT, NAME) asm volatile(NAME " %0, %1" : "=s"(r) : "s"(x)); out[AT] = r;
  ONE(0, "v_s_exp_f32") ONE(1, "v_s_log_f32") ONE(2, "v_s_rcp_f32") ONE(3, "v_s_sqrt_f32") ONE(4, "v_s_rsq_f32")
  asm volatile("v_s_rcp_f32 %0, -|%1|" : "=s"(r) : "s"(x)); out[5] = r;
})",
                            "gfx1201");
  if (!code) return;
  Emulated gpu(device_for("gfx1201"));
  gpu.load(*code);
  const auto out = gpu.reserve(64);
  check_ok(gpu.launch("k", {1}, {32}, out, 4.0f));
  CHECK(gpu.get<float>(out, 6) == std::vector<float>{16.0f, 2.0f, 0.25f, 2.0f, 0.5f, -0.25f});
}
