// Single gfx942 instructions through inline assembly, on edge values, against formulas written
// here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include <unistd.h>

#include "base/float_types.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

enum class Kind { bits, f32, f16 };

/// %0 is the result (0xa5a5a5a5 before), %1 to %3 are three values of the lane.
struct Case {
  const char* text;
  std::function<u32(u32, u32, u32)> expected;
  Kind kind = Kind::bits;
};

float f(u32 bits) {
  return std::bit_cast<float>(bits);
}
u32 b(float value) {
  return std::bit_cast<u32>(value);
}
float h(u32 bits) {
  return half_to_float(static_cast<uint16_t>(bits));
}
u32 to_h(double value) {
  return double_to_half(value);
}
constexpr u32 kBefore = 0xa5a5a5a5;

i32 clamp_i32(double x) {
  if (std::isnan(x)) return 0;
  return x >= 2147483647.0 ? INT32_MAX : (x <= -2147483648.0 ? INT32_MIN : static_cast<i32>(x));
}
u32 clamp_u32(double x) {
  return std::isnan(x) || x <= 0 ? 0 : (x >= 4294967295.0 ? UINT32_MAX : static_cast<u32>(x));
}
u32 bytes4(const std::function<u32(int)>& byte) {
  return byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24;
}
i32 s24(u32 x) {
  return static_cast<i32>(x << 8) >> 8;
}
float max_number(float x, float y) {
  if (std::isnan(x)) return y;
  if (std::isnan(y)) return x;
  if (x == 0 && y == 0) return std::signbit(x) ? y : x;
  return std::max(x, y);
}
float min_number(float x, float y) {
  return -max_number(-x, -y);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      // Integers.
      {"v_add_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return x + y; }},
      {"v_add_u32_e64 %0, %1, %2 clamp", [](u32 x, u32 y, u32) { return static_cast<u32>(std::min<u64>(u64{x} + y, UINT32_MAX)); }},
      {"v_sub_u32_e64 %0, %1, %2 clamp", [](u32 x, u32 y, u32) { return x < y ? 0 : x - y; }},
      {"v_add_i32 %0, %1, %2 clamp", [](u32 x, u32 y, u32) { return static_cast<u32>(std::clamp<i64>(i64{static_cast<i32>(x)} + static_cast<i32>(y), INT32_MIN, INT32_MAX)); }},
      {"v_subrev_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return y - x; }},
      {"v_add3_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return x + y + z; }},
      {"v_lshl_add_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x << y % 32) + z; }},
      {"v_add_lshl_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x + y) << z % 32; }},
      {"v_lshl_or_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x << y % 32) | z; }},
      {"v_and_or_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x & y) | z; }},
      {"v_or3_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return x | y | z; }},
      {"v_xad_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x ^ y) + z; }},
      {"v_mul_lo_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return x * y; }},
      {"v_mul_hi_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(u64{x} * y >> 32); }},
      {"v_mul_hi_i32 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(i64{static_cast<i32>(x)} * static_cast<i32>(y) >> 32); }},
      {"v_mul_u32_u24 %0, %1, %2", [](u32 x, u32 y, u32) { return (x & 0xffffff) * (y & 0xffffff); }},
      {"v_mad_i32_i24 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return static_cast<u32>(i64{s24(x)} * s24(y)) + z; }},
      {"v_mul_hi_i32_i24 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(i64{s24(x)} * s24(y) >> 32); }},
      {"v_min_i32 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(std::min(static_cast<i32>(x), static_cast<i32>(y))); }},
      {"v_max_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return std::max(x, y); }},
      {"v_med3_i32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { i32 v[] = {static_cast<i32>(x), static_cast<i32>(y), static_cast<i32>(z)}; std::sort(v, v + 3); return static_cast<u32>(v[1]); }},
      {"v_med3_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { u32 v[] = {x, y, z}; std::sort(v, v + 3); return v[1]; }},
      {"v_lshlrev_b32 %0, %1, %2", [](u32 x, u32 y, u32) { return y << x % 32; }},
      {"v_ashrrev_i32 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(static_cast<i32>(y) >> x % 32); }},
      {"v_bfe_u32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return x >> y % 32 & ((1u << z % 32) - 1); }},
      {"v_bfe_i32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { i64 v = static_cast<i32>(x); v >>= y % 32; const unsigned w = z % 32; return w == 0 ? 0u : static_cast<u32>(static_cast<i64>(static_cast<u64>(v) << (64 - w)) >> (64 - w)); }},
      {"v_bfi_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x & y) | (~x & z); }},
      {"v_bfm_b32 %0, %1, %2", [](u32 x, u32 y, u32) { return ((1u << x % 32) - 1) << y % 32; }},
      {"v_bfrev_b32 %0, %1", [](u32 x, u32, u32) { u32 r = 0; for (int i = 0; i < 32; ++i) r = r << 1 | (x >> i & 1); return r; }},
      {"v_bcnt_u32_b32 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(std::popcount(x)) + y; }},
      {"v_ffbh_u32 %0, %1", [](u32 x, u32, u32) { return x == 0 ? ~0u : static_cast<u32>(std::countl_zero(x)); }},
      {"v_ffbh_i32 %0, %1", [](u32 x, u32, u32) { for (u32 i = 1; i < 32; ++i) if ((x >> (31 - i) & 1) != x >> 31) return i; return ~0u; }},
      {"v_ffbl_b32 %0, %1", [](u32 x, u32, u32) { return x == 0 ? ~0u : static_cast<u32>(std::countr_zero(x)); }},
      {"v_alignbit_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return static_cast<u32>(((u64{x} << 32) | y) >> z % 32); }},
      {"v_alignbyte_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return static_cast<u32>(((u64{x} << 32) | y) >> 8 * (z % 4)); }},
      {"v_perm_b32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) {
         const u64 data = (u64{x} << 32) | y;
         return bytes4([&](int i) -> u32 {
           const u32 s = z >> 8 * i & 255;
           if (s >= 13) return 255;
           if (s == 12) return 0;
           if (s >= 8) return (data >> (16 * (s - 8) + 15) & 1) * 255;
           return data >> 8 * s & 255;
         });
       }},
      {"v_sad_u8 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { for (int i = 0; i < 32; i += 8) z += static_cast<u32>(std::abs(static_cast<int>(x >> i & 255) - static_cast<int>(y >> i & 255))); return z; }},
      {"v_sad_u16 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { for (int i = 0; i < 32; i += 16) z += static_cast<u32>(std::abs(static_cast<int>(x >> i & 65535) - static_cast<int>(y >> i & 65535))); return z; }},
      {"v_add_co_u32 %0, vcc, %1, %2\n v_addc_co_u32 %0, vcc, %3, %3, vcc", [](u32 x, u32 y, u32 z) { return z + z + static_cast<u32>((u64{x} + y) >> 32); }},
      {"v_sub_co_u32 %0, vcc, %1, %2\n v_subb_co_u32 %0, vcc, %3, %1, vcc", [](u32 x, u32 y, u32 z) { return z - x - (x < y); }},
      {"v_subrev_co_u32 %0, s[20:21], %1, %2\n v_cndmask_b32 %0, %1, %3, s[20:21]", [](u32 x, u32 y, u32 z) { return y < x ? z : x; }},
      {"v_add_u16 %0, %1, %2", [](u32 x, u32 y, u32) { return (x + y) & 0xffff; }},
      {"v_mad_u32_u16 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return (x & 0xffff) * (y & 0xffff) + z; }},
      {"v_ashrrev_i16 %0, %1, %2", [](u32 x, u32 y, u32) { return static_cast<u32>(static_cast<int16_t>(y) >> x % 16) & 0xffff; }},

      // Parts of registers.
      {"v_add_u32_sdwa %0, %1, %2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", [](u32 x, u32 y, u32) { return (x >> 8 & 255) + (y >> 16); }},
      {"v_add_u32_sdwa %0, sext(%1), %2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:DWORD", [](u32 x, u32 y, u32) { return (kBefore & 0xff00ffff) | ((static_cast<u32>(static_cast<i32>(x) >> 24) + y) & 255) << 16; }},
      {"v_mov_b32_sdwa %0, %1 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:WORD_0", [](u32 x, u32, u32) { return x << 16; }},
      {"v_mov_b32_sdwa %0, %1 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_1", [](u32 x, u32, u32) { return static_cast<u32>(static_cast<i32>(x) >> 16); }},
      {"v_mad_u16 %0, %1, %2, %3 op_sel:[1,0,1,1]", [](u32 x, u32 y, u32 z) { return (kBefore & 0xffff) | ((x >> 16) * (y & 0xffff) + (z >> 16)) << 16; }},

      // Floating point.
      {"v_add_f32 %0, %1, %2", [](u32 x, u32 y, u32) { return b(f(x) + f(y)); }, Kind::f32},
      {"v_sub_f32_e64 %0, -|%1|, %2", [](u32 x, u32 y, u32) { return b(-std::fabs(f(x)) - f(y)); }, Kind::f32},
      {"v_mul_f32_e64 %0, %1, -%2 clamp", [](u32 x, u32 y, u32) { const float p = f(x) * -f(y); return b(p > 0 ? std::min(p, 1.0f) : 0.0f); }, Kind::f32},
      {"v_add_f32_e64 %0, %1, %2 mul:4", [](u32 x, u32 y, u32) { return b((f(x) + f(y)) * 4); }, Kind::f32},
      {"v_add_f32_e64 %0, %1, %2 div:2", [](u32 x, u32 y, u32) { return b((f(x) + f(y)) / 2); }, Kind::f32},
      {"v_fma_f32 %0, %1, %2, -%3", [](u32 x, u32 y, u32 z) { return b(std::fma(f(x), f(y), -f(z))); }, Kind::f32},
      {"v_max_f32 %0, %1, %2", [](u32 x, u32 y, u32) { return b(max_number(f(x), f(y))); }, Kind::f32},
      {"v_min_f32 %0, %1, %2", [](u32 x, u32 y, u32) { return b(min_number(f(x), f(y))); }, Kind::f32},
      {"v_max3_f32 %0, %1, %2, %3", [](u32 x, u32 y, u32 z) { return b(max_number(max_number(f(x), f(y)), f(z))); }, Kind::f32},
      {"v_floor_f32 %0, %1", [](u32 x, u32, u32) { return b(std::floor(f(x))); }, Kind::f32},
      {"v_rndne_f32 %0, %1", [](u32 x, u32, u32) { return b(std::nearbyint(f(x))); }, Kind::f32},
      {"v_trunc_f32 %0, %1", [](u32 x, u32, u32) { return b(std::trunc(f(x))); }, Kind::f32},
      {"v_sqrt_f32 %0, %1", [](u32 x, u32, u32) { return b(std::sqrt(f(x))); }, Kind::f32},
      {"v_rcp_f32 %0, %1", [](u32 x, u32, u32) { return b(1 / f(x)); }, Kind::f32},
      {"v_exp_f32 %0, %1", [](u32 x, u32, u32) { return b(static_cast<float>(std::exp2(static_cast<double>(f(x))))); }, Kind::f32},
      {"v_log_f32 %0, %1", [](u32 x, u32, u32) { return b(static_cast<float>(std::log2(static_cast<double>(f(x))))); }, Kind::f32},
      {"v_ldexp_f32 %0, %1, %2", [](u32 x, u32 y, u32) { return b(std::ldexp(f(x), static_cast<i32>(y))); }, Kind::f32},
      {"v_frexp_mant_f32 %0, %1", [](u32 x, u32, u32) { int e; return std::isfinite(f(x)) ? b(std::frexp(f(x), &e)) : x; }, Kind::f32},
      {"v_frexp_exp_i32_f32 %0, %1", [](u32 x, u32, u32) { int e = 0; if (std::isfinite(f(x))) (void)std::frexp(f(x), &e); return static_cast<u32>(e); }},
      {"v_fmamk_f32 %0, %1, 0x40490fdb, %2", [](u32 x, u32 y, u32) { return b(std::fma(f(x), f(0x40490fdb), f(y))); }, Kind::f32},
      {"v_fmaak_f32 %0, %1, %2, 0x40490fdb", [](u32 x, u32 y, u32) { return b(std::fma(f(x), f(y), f(0x40490fdb))); }, Kind::f32},
      {"v_cmp_class_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", [](u32 x, u32 y, u32) {
         const float v = f(x);
         const bool negative = std::signbit(v);
         int bit = 0;
         switch (std::fpclassify(v)) {
           case FP_NAN: bit = (x & 0x400000) != 0 ? 1 : 0; break;
           case FP_INFINITE: bit = negative ? 2 : 9; break;
           case FP_NORMAL: bit = negative ? 3 : 8; break;
           case FP_SUBNORMAL: bit = negative ? 4 : 7; break;
           default: bit = negative ? 5 : 6;
         }
         return y >> bit & 1;
       }},
      {"v_cmp_nlg_f32 vcc, %1, %2\n v_cndmask_b32 %0, 0, 1, vcc", [](u32 x, u32 y, u32) { return static_cast<u32>(!(f(x) < f(y) || f(x) > f(y))); }},
      {"v_cmp_u_f32 s[20:21], %1, %2\n v_cndmask_b32 %0, 0, 1, s[20:21]", [](u32 x, u32 y, u32) { return static_cast<u32>(std::isnan(f(x)) || std::isnan(f(y))); }},
      {"v_cmp_lt_i32 vcc, %1, %2\n v_cndmask_b32 %0, %3, 1, vcc", [](u32 x, u32 y, u32 z) { return static_cast<i32>(x) < static_cast<i32>(y) ? 1u : z; }},

      // Half precision.
      {"v_add_f16 %0, %1, %2", [](u32 x, u32 y, u32) { return to_h(double{h(x)} + h(y)); }, Kind::f16},
      {"v_mul_f16 %0, %1, %2", [](u32 x, u32 y, u32) { return to_h(double{h(x)} * h(y)); }, Kind::f16},
      {"v_mul_f16_e64 %0, -%1, |%2|", [](u32 x, u32 y, u32) { return to_h(-double{h(x)} * std::fabs(h(y))); }, Kind::f16},

      // Conversions.
      {"v_cvt_f32_u32 %0, %1", [](u32 x, u32, u32) { return b(static_cast<float>(x)); }},
      {"v_cvt_f32_i32 %0, %1", [](u32 x, u32, u32) { return b(static_cast<float>(static_cast<i32>(x))); }},
      {"v_cvt_u32_f32 %0, %1", [](u32 x, u32, u32) { return clamp_u32(f(x)); }},
      {"v_cvt_i32_f32 %0, %1", [](u32 x, u32, u32) { return static_cast<u32>(clamp_i32(f(x))); }},
      {"v_cvt_f32_f16 %0, %1", [](u32 x, u32, u32) { return b(h(x)); }, Kind::f32},
      {"v_cvt_f16_f32 %0, %1", [](u32 x, u32, u32) { return u32{float_to_half(f(x))}; }, Kind::f16},
      {"v_cvt_f32_ubyte2 %0, %1", [](u32 x, u32, u32) { return b(static_cast<float>(x >> 16 & 255)); }},
      {"v_cvt_pk_u16_u32 %0, %1, %2", [](u32 x, u32 y, u32) { return std::min(x, 65535u) | std::min(y, 65535u) << 16; }},
      {"v_cvt_pk_i16_i32 %0, %1, %2", [](u32 x, u32 y, u32) { const auto s = [](u32 v) { return static_cast<u32>(std::clamp(static_cast<i32>(v), -32768, 32767)) & 0xffff; }; return s(x) | s(y) << 16; }},
  };
  return all;
}

std::vector<u32> edge_values(size_t count, unsigned seed) {
  const u32 edges[] = {0,          1,          2,          31,         32,         33,
                       0x7f,       0x80,       0xff,       0x7fff,     0x8000,     0xffff,
                       0x10000,    0x7fffff,   0x800000,   0xffffff,   0x7fffffff, 0x80000000,
                       0x80000001, 0xffffffff, 0xfffffffe, 0x3f800000, 0xbf800000, 0x7f800000,
                       0xff800000, 0x7fc00001, 0x7f800001, 0x00400000, 0x80400000, 0x7f7fffff,
                       0x477fe000, 0x477ff000, 0x4f000000, 0x4f800000, 0xcf000000, 0x33000000,
                       0x33000001, 0x38800000, 0x387fffff, 0x3c00,     0x7c00,     0xfc00,
                       0x7e00,     0x03ff,     0x8001,     0x7bff};
  std::mt19937 random(seed);
  std::vector<u32> out(count);
  for (u32& value : out) {
    value = random() % 3 == 0 ? static_cast<u32>(random()) : edges[random() % std::size(edges)];
  }
  return out;
}

bool agrees(Kind kind, u32 got, u32 expected) {
  if (kind == Kind::f32 && std::isnan(f(expected))) return std::isnan(f(got));
  if (kind == Kind::f16 && std::isnan(h(expected))) return std::isnan(h(got)) && got >> 16 == 0;
  return got == expected;
}

/// Compiles and runs kernels made of one assembly text each.
std::vector<std::vector<u32>> run(const std::vector<std::string>& texts, const std::vector<u32>& a,
                                  const std::vector<u32>& bb, const std::vector<u32>& c) {
  std::string source;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::string escaped;
    for (const char ch : texts[i]) escaped += ch == '\n' ? std::string("\\n") : std::string(1, ch);
    source +=
        "KERNEL k" + std::to_string(i) +
        "(u32* d, const u32* a, const u32* b, const u32* c) { const u32 i = index(); u32 r = "
        "0xa5a5a5a5; asm volatile(\"s_nop 1\\n " +
        escaped +
        "\" : \"+&v\"(r) : \"v\"(a[i]), \"v\"(b[i]), \"v\"(c[i]) : \"vcc\", \"s20\", \"s21\", "
        "\"s22\", \"s23\", \"a3\"); d[i] = r; }\n";
  }
  const auto code = compile(source, "gfx942", "-O1");
  if (!code) return {};
  Emulated gpu(mi300x());
  gpu.load(*code);
  const auto da = gpu.put(a), db = gpu.put(bb), dc = gpu.put(c);
  const auto d = gpu.put(std::vector<u32>(a.size()));
  std::vector<std::vector<u32>> results;
  for (size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i]);
    check_ok(gpu.launch("k" + std::to_string(i), {static_cast<u32>(a.size() / 64)}, {64}, d, da, db,
                        dc));
    results.push_back(gpu.get<u32>(d, a.size()));
  }
  return results;
}

}  // namespace

TEST_CASE("one instruction at a time on edge values") {
  const size_t n = 4096;
  const auto a = edge_values(n, 1), bb = edge_values(n, 2), c = edge_values(n, 3);
  std::vector<std::string> texts;
  for (const Case& one : cases()) texts.emplace_back(one.text);
  const auto results = run(texts, a, bb, c);
  for (size_t k = 0; k < results.size(); ++k) {
    for (size_t i = 0; i < n; ++i) {
      const u32 expected = cases()[k].expected(a[i], bb[i], c[i]);
      if (agrees(cases()[k].kind, results[k][i], expected)) continue;
      std::ostringstream what;
      what << std::hex << texts[k] << " of " << a[i] << ", " << bb[i] << ", " << c[i]
           << ": expected " << expected << ", found " << results[k][i];
      FAIL_CHECK(what.str());
      break;
    }
  }
}

TEST_CASE("exchange between lanes") {
  std::vector<u32> a(64), bb(64), c(64);
  for (u32 i = 0; i < 64; ++i) a[i] = 1000 + i, bb[i] = (i * 7 % 64) * 4, c[i] = 5;
  using Expected = std::function<u32(u32)>;
  const u32 before = kBefore;
  const std::vector<std::pair<std::string, Expected>> all = {
      {"v_mov_b32_dpp %0, %1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
       [](u32 i) { return 1000 + (i ^ 1); }},
      {"v_mov_b32_dpp %0, %1 row_shr:3 row_mask:0xf bank_mask:0xf",
       [=](u32 i) { return i % 16 >= 3 ? 1000 + i - 3 : before; }},
      {"v_mov_b32_dpp %0, %1 row_shl:2 row_mask:0xf bank_mask:0xf bound_ctrl:1",
       [](u32 i) { return i % 16 < 14 ? 1002 + i : 0; }},
      {"v_mov_b32_dpp %0, %1 row_ror:4 row_mask:0x5 bank_mask:0xf",
       [=](u32 i) { return i / 16 % 2 == 0 ? 1000 + i / 16 * 16 + (i + 12) % 16 : before; }},
      {"v_mov_b32_dpp %0, %1 row_mirror row_mask:0xf bank_mask:0x1",
       [=](u32 i) { return i % 16 < 4 ? 1000 + i / 16 * 16 + 15 - i % 16 : before; }},
      {"v_mov_b32_dpp %0, %1 row_half_mirror row_mask:0xf bank_mask:0xf",
       [](u32 i) { return 1000 + i / 8 * 8 + 7 - i % 8; }},
      {"v_mov_b32_dpp %0, %1 row_bcast:15 row_mask:0xa bank_mask:0xf",
       [=](u32 i) { return i / 16 % 2 == 1 ? 1000 + i / 16 * 16 - 1 : before; }},
      {"v_mov_b32_dpp %0, %1 row_bcast:31 row_mask:0xc bank_mask:0xf",
       [=](u32 i) { return i >= 32 ? 1031 : before; }},
      {"v_mov_b32_dpp %0, %1 wave_shr:1 row_mask:0xf bank_mask:0xf",
       [=](u32 i) { return i > 0 ? 999 + i : before; }},
      {"v_mov_b32_dpp %0, %1 row_newbcast:6 row_mask:0xf bank_mask:0xf",
       [](u32 i) { return 1006 + i / 16 * 16; }},
      {"v_add_u32_dpp %0, %1, %3 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1",
       [](u32 i) { return (i % 16 >= 1 ? 999 + i : 0) + 5; }},
      {"ds_bpermute_b32 %0, %2, %1\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + i * 7 % 64; }},
      {"ds_permute_b32 %0, %2, %1\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) {
         u32 j = 0;
         while (j * 7 % 64 != i) ++j;
         return 1000 + j;
       }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(SWAP,16)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + (i ^ 16); }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(QUAD_PERM,3,2,1,0)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + (i ^ 3); }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(BROADCAST,8,3)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1003 + i / 8 * 8; }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(REVERSE,8)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + (i ^ 7); }},
      // Orders of the transform as the manual lists them, counted from 1.
      {"ds_swizzle_b32 %0, %1 offset:swizzle(FFT,0)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) {
         constexpr u32 kOrder[] = {0x01, 0x11, 0x09, 0x19, 0x05, 0x15, 0x0d, 0x1d, 0x03, 0x13, 0x0b,
                                   0x1b, 0x07, 0x17, 0x0f, 0x1f, 0x02, 0x12, 0x0a, 0x1a, 0x06, 0x16,
                                   0x0e, 0x1e, 0x04, 0x14, 0x0c, 0x1c, 0x08, 0x18, 0x10, 0x20};
         return 999 + i / 32 * 32 + kOrder[i % 32];
       }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(FFT,16)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) {
         constexpr u32 kOrder[] = {1, 9, 5, 13, 3, 11, 7, 15, 2, 10, 6, 14, 4, 12, 8, 16};
         return 999 + i / 16 * 16 + kOrder[i % 16];
       }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(FFT,31)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + i; }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(ROTATE,0,5)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + i / 32 * 32 + (i + 5) % 32; }},
      {"ds_swizzle_b32 %0, %1 offset:swizzle(ROTATE,1,5)\\n s_waitcnt lgkmcnt(0)",
       [](u32 i) { return 1000 + i / 32 * 32 + (i + 27) % 32; }},
      {"v_readlane_b32 s20, %1, 9\\n v_mov_b32 %0, s20", [](u32) { return 1009u; }},
      {"s_mov_b64 s[22:23], exec\\n s_mov_b64 exec, 0xff00\\n v_readfirstlane_b32 s20, %1\\n "
       "v_mov_b32 %0, s20\\n s_mov_b64 exec, s[22:23]",
       [=](u32 i) { return i / 8 == 1 ? 1008 : before; }},
      {"s_mov_b32 s20, 77\\n v_writelane_b32 %0, s20, 12",
       [=](u32 i) { return i == 12 ? 77 : before; }},
      {"v_mbcnt_lo_u32_b32 %0, -1, %3\\n v_mbcnt_hi_u32_b32 %0, -1, %0",
       [](u32 i) { return i + 5; }},
      {"s_mov_b64 s[22:23], exec\\n s_mov_b64 exec, 0\\n v_mov_b32 %0, 1\\n v_add_f32 %0, 1.0, "
       "%0\\n s_mov_b64 exec, s[22:23]",
       [=](u32) { return before; }},
      {"v_cmp_lt_u32 vcc, 0x3f2, %1\\n s_and_saveexec_b64 s[22:23], vcc\\n v_mov_b32 %0, 3\\n "
       "s_mov_b64 exec, s[22:23]",
       [=](u32 i) { return 1000 + i > 0x3f2 ? 3 : before; }},
      {"v_accvgpr_write_b32 a3, %1\\n s_nop 1\\n v_accvgpr_read_b32 %0, a3",
       [](u32 i) { return 1000 + i; }},
  };
  std::vector<std::string> texts;
  for (const auto& [text, expected] : all) texts.push_back(text);
  const auto results = run(texts, a, bb, c);
  for (size_t k = 0; k < results.size(); ++k)
    for (u32 i = 0; i < 64; ++i) {
      CAPTURE(texts[k]);
      CAPTURE(i);
      CHECK(results[k][i] == all[k].second(i));
    }
}

TEST_CASE("scalar instructions") {
  using Expected = std::function<u32(u32, u32)>;
  // s20 and s21 hold lane 0's first and second value; the result goes from s22.
  const std::vector<std::pair<std::string, Expected>> all = {
      {"s_add_u32 s22, s20, s21\\n s_addc_u32 s22, s20, 0",
       [](u32 x, u32 y) { return x + static_cast<u32>((u64{x} + y) >> 32); }},
      {"s_sub_u32 s22, s20, s21\\n s_subb_u32 s22, s20, s21",
       [](u32 x, u32 y) { return x - y - (x < y); }},
      {"s_add_i32 s22, s20, s21\\n s_cselect_b32 s22, 1, 0",
       [](u32 x, u32 y) {
         i32 r;
         return static_cast<u32>(
             __builtin_add_overflow(static_cast<i32>(x), static_cast<i32>(y), &r));
       }},
      {"s_mul_hi_i32 s22, s20, s21",
       [](u32 x, u32 y) {
         return static_cast<u32>(i64{static_cast<i32>(x)} * static_cast<i32>(y) >> 32);
       }},
      {"s_mul_i32 s22, s20, s21", [](u32 x, u32 y) { return x * y; }},
      {"s_lshl_b32 s22, s20, s21", [](u32 x, u32 y) { return x << y % 32; }},
      {"s_ashr_i32 s22, s20, s21\\n s_cselect_b32 s22, s22, 9",
       [](u32 x, u32 y) {
         const i32 r = static_cast<i32>(x) >> y % 32;
         return r != 0 ? static_cast<u32>(r) : 9u;
       }},
      {"s_bfe_i32 s22, s20, 0x80004",
       [](u32 x, u32) { return static_cast<u32>(static_cast<i32>(x << 20) >> 24); }},
      {"s_bfe_u32 s22, s20, 0x10001f", [](u32 x, u32) { return x >> 31; }},
      {"s_bfm_b32 s22, s20, s21", [](u32 x, u32 y) { return ((1u << x % 32) - 1) << y % 32; }},
      {"s_andn2_b32 s22, s20, s21", [](u32 x, u32 y) { return x & ~y; }},
      {"s_xnor_b32 s22, s20, s21", [](u32 x, u32 y) { return ~(x ^ y); }},
      {"s_brev_b32 s22, s20",
       [](u32 x, u32) {
         u32 r = 0;
         for (int i = 0; i < 32; ++i) r = r << 1 | (x >> i & 1);
         return r;
       }},
      {"s_ff1_i32_b32 s22, s20",
       [](u32 x, u32) { return x == 0 ? ~0u : static_cast<u32>(std::countr_zero(x)); }},
      {"s_flbit_i32_b32 s22, s20",
       [](u32 x, u32) { return x == 0 ? ~0u : static_cast<u32>(std::countl_zero(x)); }},
      {"s_flbit_i32 s22, s20",
       [](u32 x, u32) {
         for (u32 i = 1; i < 32; ++i)
           if ((x >> (31 - i) & 1) != x >> 31) return i;
         return ~0u;
       }},
      {"s_bcnt1_i32_b64 s22, s[20:21]",
       [](u32 x, u32 y) { return static_cast<u32>(std::popcount(x) + std::popcount(y)); }},
      {"s_sext_i32_i8 s22, s20",
       [](u32 x, u32) { return static_cast<u32>(static_cast<int8_t>(x)); }},
      {"s_abs_i32 s22, s20", [](u32 x, u32) { return static_cast<i32>(x) < 0 ? 0 - x : x; }},
      {"s_min_i32 s22, s20, s21",
       [](u32 x, u32 y) {
         return static_cast<u32>(std::min(static_cast<i32>(x), static_cast<i32>(y)));
       }},
      {"s_max_u32 s22, s20, s21\\n s_cselect_b32 s22, s22, 0",
       [](u32 x, u32 y) { return x >= y ? x : 0; }},
      {"s_movk_i32 s22, 0x8001\\n s_addk_i32 s22, 0x7fff", [](u32, u32) { return 0u; }},
      {"s_cmpk_gt_i32 s20, 0xfff0\\n s_cselect_b32 s22, 1, 0",
       [](u32 x, u32) { return static_cast<u32>(static_cast<i32>(x) > -16); }},
      {"s_cmpk_lt_u32 s20, 0xfff0\\n s_cselect_b32 s22, 1, 0",
       [](u32 x, u32) { return static_cast<u32>(x < 0xfff0); }},
      {"s_cmp_eq_u64 s[20:21], 0\\n s_cselect_b32 s22, 1, 0",
       [](u32 x, u32 y) { return static_cast<u32>((x | y) == 0); }},
      {"s_bitcmp1_b32 s20, s21\\n s_cselect_b32 s22, 1, 0",
       [](u32 x, u32 y) { return x >> y % 32 & 1; }},
      {"s_bitset1_b32 s20, s21\\n s_mov_b32 s22, s20",
       [](u32 x, u32 y) { return x | 1u << y % 32; }},
      {"s_lshr_b64 s[22:23], s[20:21], 20",
       [](u32 x, u32 y) { return static_cast<u32>((u64{y} << 32 | x) >> 20); }},
      {"s_lshl2_add_u32 s22, s20, s21\\n s_addc_u32 s22, 0, 0",
       [](u32 x, u32 y) { return static_cast<u32>((u64{x} * 4 + y) >> 32 != 0); }},
      {"s_pack_lh_b32_b16 s22, s20, s21",
       [](u32 x, u32 y) { return (x & 0xffff) | (y & 0xffff0000); }},
      {"s_mov_b32 s22, 5\\n s_cmp_lg_u32 s20, s21\\n s_cmov_b32 s22, 8",
       [](u32 x, u32 y) { return x != y ? 8u : 5u; }},
  };
  const size_t n = 64 * 100;
  auto a = edge_values(n, 4), bb = edge_values(n, 5);
  bb[64] = a[64], a[128] = bb[128] = 0;
  std::vector<std::string> texts;
  for (const auto& [text, expected] : all)
    texts.push_back("v_readlane_b32 s20, %1, 0\\n v_readlane_b32 s21, %2, 0\\n " + text +
                    "\\n v_mov_b32 %0, s22");
  const auto results = run(texts, a, bb, a);
  for (size_t k = 0; k < results.size(); ++k)
    for (size_t i = 0; i < n; i += 64) {
      CAPTURE(texts[k]);
      CAPTURE(a[i]);
      CAPTURE(bb[i]);
      CHECK(results[k][i + 17] == all[k].second(a[i], bb[i]));
    }
}

TEST_CASE("denormals follow MODE") {
  std::vector<u32> a(64), bb(64, 0x3f800000), c(64);
  for (u32 i = 0; i < 64; ++i) a[i] = i % 2 == 0 ? 0x00400000 : 0x80400000;
  const auto results = run({"v_mul_f32 %0, %1, %2",
                            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\\n v_mul_f32 %0, %1, "
                            "%2\\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3",
                            "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0\\n s_getreg_b32 s20, "
                            "hwreg(HW_REG_MODE, 4, 4)\\n v_mov_b32 %0, s20"},
                           a, bb, c);
  if (results.empty()) return;
  for (u32 i = 0; i < 64; ++i) {
    CHECK(results[0][i] == a[i]);
    CHECK(results[1][i] == (a[i] & 0x80000000));
    CHECK(results[2][i] == 0xc);
  }
}
