// MODE's rounding of f32, f64 and f16; refused where an instruction cannot follow it.
#include <unistd.h>

#include <cfenv>
#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

// f32 results first, then f64 ones; the asm keeps the compiler from moving arithmetic past the
// mode.
const char* const kText = R"(
DEVICE float add(float a, float b) { float r; asm volatile("v_add_f32 %0, %1, %2" : "=v"(r) : "v"(a), "v"(b)); return r; }
DEVICE float fma(float a, float b, float c) { float r; asm volatile("v_fma_f32 %0, %1, %2, %3" : "=v"(r) : "v"(a), "v"(b), "v"(c)); return r; }
DEVICE float narrow(double a) { float r; asm volatile("v_cvt_f32_f64 %0, %1" : "=v"(r) : "v"(a)); return r; }
DEVICE float from_int(u32 a) { float r; asm volatile("v_cvt_f32_u32 %0, %1" : "=v"(r) : "v"(a)); return r; }
DEVICE double mul(double a, double b) { double r; asm volatile("v_mul_f64 %0, %1, %2" : "=v"(r) : "v"(a), "v"(b)); return r; }
DEVICE void all(float* f, double* d, float a, float b, double x, double y, u32 n) {
  f[item() * 4 + 0] = add(a, b);
  f[item() * 4 + 1] = fma(a, b, a);
  f[item() * 4 + 2] = narrow(x);
  f[item() * 4 + 3] = from_int(n);
  d[item()] = mul(x, y);
}
#define MODE(NAME, BITS) KERNEL NAME(float* f, double* d, float a, float b, double x, double y, u32 n) { \
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), " #BITS ::: "memory"); \
  all(f, d, a, b, x, y, n); }
MODE(nearest, 0) MODE(up, 5) MODE(down, 10) MODE(zero, 15) MODE(mixed, 13)
KERNEL dynamic(float* f, double* d, float a, float b, double x, double y, u32 n, u32 mode) {
  asm volatile("s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), %0" :: "s"(mode) : "memory");
  all(f, d, a, b, x, y, n);
}
)";

struct Answer {
  float f[4];
  double d;
};

/// The host's answer with f32 results rounded in one direction and f64 ones in another.
Answer answer(int round32, int round64, float a, float b, double x, double y, uint32_t n) {
  volatile float va = a, vb = b;
  volatile double vx = x, vy = y;
  volatile uint32_t vn = n;
  Answer out{};
  std::fesetround(round32);
  out.f[0] = va + vb;
  out.f[1] = std::fmaf(va, vb, va);
  out.f[2] = static_cast<float>(vx);
  out.f[3] = static_cast<float>(vn);
  std::fesetround(round64);
  out.d = vx * vy;
  std::fesetround(FE_TONEAREST);
  return out;
}

}  // namespace

TEST_CASE("f32 and f64 results follow MODE") {
  for (const char* arch : {"gfx942", "gfx1100"}) {
    const auto code = compile(kText, arch);
    if (!code) return;
    Emulated gpu(arch == std::string("gfx942") ? mi300x() : rx7900());
    gpu.load(*code);
    const float a = 1.0f, b = 0x1.000002p-24f;
    const double x = -1.0 / 3, y = 1.0 / 7;
    const uint32_t n = 0x1000003;
    const auto f = gpu.put(std::vector<float>(256));
    const auto d = gpu.put(std::vector<double>(64));
    const auto check = [&](const char* kernel, int round32, int round64) {
      CAPTURE(kernel);
      const Answer right = answer(round32, round64, a, b, x, y, n);
      const auto floats = gpu.get<float>(f, 256);
      for (int i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(floats[static_cast<size_t>(i)] == right.f[i]);
      }
      CHECK(gpu.get<double>(d, 1)[0] == right.d);
    };
    const struct {
      const char* kernel;
      int round32, round64;
    } cases[] = {{"nearest", FE_TONEAREST, FE_TONEAREST},
                 {"up", FE_UPWARD, FE_UPWARD},
                 {"down", FE_DOWNWARD, FE_DOWNWARD},
                 {"zero", FE_TOWARDZERO, FE_TOWARDZERO},
                 {"mixed", FE_UPWARD, FE_TOWARDZERO}};
    for (const auto& one : cases) {
      check_ok(gpu.launch(one.kernel, {1}, {32}, f, d, a, b, x, y, n));
      check(one.kernel, one.round32, one.round64);
    }
    check_ok(gpu.launch("dynamic", {1}, {32}, f, d, a, b, x, y, n, 10u));
    check("dynamic", FE_DOWNWARD, FE_DOWNWARD);
    check_ok(gpu.launch("nearest", {1}, {32}, f, d, a, b, x, y, n));  // the host's own is restored
    CHECK(std::fegetround() == FE_TONEAREST);
  }
}

namespace {

const char* const kHalves = R"(
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
#define OP2(AT, NAME) asm volatile(NAME " %0, %1, %2" : "=v"(r) : "v"(a), "v"(b)); out[AT] = r;
#define OP3(AT, NAME) asm volatile(NAME " %0, %1, %2, %3" : "=v"(r) : "v"(a), "v"(b), "v"(c)); out[AT] = r;
KERNEL k(u32* out, const u32* in, u32 mode) {
  out += item() * 8; in += item() * 4;
  const u32 a = in[0], b = in[1], c = in[2]; const float f = __builtin_bit_cast(float, in[3]);
  u32 r;
  asm volatile("s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), %0" :: "s"(mode));
  OP2(0, "v_add_f16") OP2(1, "v_mul_f16") OP3(2, "v_fma_f16") OP2(3, "v_pk_add_f16") OP3(4, "v_pk_fma_f16")
  asm volatile("v_cvt_f16_f32 %0, %1" : "=v"(r) : "v"(f)); out[5] = r;
  asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 0");
}
)";

long double half_value(unsigned bits) {
  const int e = static_cast<int>(bits >> 10 & 31u);
  const auto fraction = static_cast<int>(bits & 1023u);
  const long double m = e == 0 ? std::ldexp(static_cast<long double>(fraction), -24)
                               : std::ldexp(static_cast<long double>(1024 + fraction), e - 25);
  return (bits & 0x8000u) != 0 ? -m : m;
}
/// A finite value as a half, by its definition: the neighbour on the side that `mode` asks for.
unsigned round_half(long double x, unsigned mode) {
  const bool negative = x < 0;
  const long double magnitude = negative ? -x : x;
  unsigned below = 0;  // greatest code that is not above
  for (unsigned bit = 0x4000; bit != 0; bit >>= 1)
    if ((below | bit) <= 0x7bffu && half_value(below | bit) <= magnitude) below |= bit;
  if (half_value(below) == magnitude) return below | (negative ? 0x8000u : 0u);
  const unsigned above = below + 1;
  const long double top = above == 0x7c00u ? 65536.0L : half_value(above);
  const long double middle = (half_value(below) + top) / 2;
  const bool to_above = mode == 0   ? magnitude > middle || (magnitude == middle && above % 2 == 0)
                        : mode == 1 ? !negative
                        : mode == 2 ? negative
                                    : false;
  return (to_above ? above : below) | (negative ? 0x8000u : 0u);
}

}  // namespace

TEST_CASE("f16 results follow MODE") {
  const auto code = compile(kHalves, "gfx942", "-O1");
  if (!code) return;
  Emulated gpu(mi300x());
  gpu.load(*code);
  uint32_t seed = 17;
  std::vector<uint32_t> in(64 * 4);
  for (size_t i = 0; i < in.size(); ++i) {
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    // Exponents 8 to 23 in both halves, small ones in lane 0; the float is of that size too.
    in[i] = (seed & 0xbfffbfffu) | 0x20002000u;
    if (i < 3) in[i] = seed & 0x83ff83ffu;
    if (i % 4 == 3) in[i] = (seed & 0x807fffffu) + 0x38000000u + ((seed >> 24 & 15u) << 23);
  }
  in[4] = 0x7bff7bffu, in[5] = 0x50005000u;  // to infinity or not
  const auto data = gpu.put(in);
  const auto out = gpu.put(std::vector<uint32_t>(64 * 8));
  for (unsigned mode = 0; mode < 4; ++mode) {
    CAPTURE(mode);
    check_ok(gpu.launch("k", {1}, {64}, out, data, mode));
    const auto got = gpu.get<uint32_t>(out, 64 * 8);
    for (size_t lane = 0; lane < 64; ++lane) {
      CAPTURE(lane);
      const auto value = [&](size_t i, unsigned shift) {
        return half_value(in[lane * 4 + i] >> shift & 0xffffu);
      };
      const auto near = [&](long double x) { return round_half(x, mode); };
      CHECK((got[lane * 8] & 0xffffu) == near(value(0, 0) + value(1, 0)));
      if (value(0, 0) * value(1, 0) != 0 && lane != 1)
        CHECK((got[lane * 8 + 1] & 0xffffu) == near(value(0, 0) * value(1, 0)));
      for (const unsigned shift : {0u, 16u}) {
        const long double sum = value(0, shift) + value(1, shift);
        if (sum != 0) CHECK((got[lane * 8 + 3] >> shift & 0xffffu) == near(sum));
        const long double fused = value(0, shift) * value(1, shift) + value(2, shift);
        if (lane == 1) continue;
        CHECK((got[lane * 8 + 4] >> shift & 0xffffu) == near(fused));
        if (shift == 0) CHECK((got[lane * 8 + 2] & 0xffffu) == near(fused));
      }
      float f;
      std::memcpy(&f, &in[lane * 4 + 3], 4);
      CHECK((got[lane * 8 + 5] & 0xffffu) == near(f));
    }
  }
}

TEST_CASE("rounding that cannot be and unknown mode bits are refused by name") {
  const auto refused = [](const std::string& text, const std::string& reason,
                          const std::string& part, const std::string& arch = "gfx942") {
    const auto code = compile(text, arch);
    if (!code) return;
    auto description = mi300x();
    description.arch.base = arch;
    Emulated gpu(description);
    const auto loaded = gpu.device().load(*code);
    REQUIRE(!loaded.ok());
    CAPTURE(loaded.error().text());
    CHECK(loaded.error().code == Code::unusable);
    CHECK(loaded.error().reason == reason);
    CHECK(loaded.error().text().find(part) != std::string::npos);
  };
  refused(
      "KERNEL k(u32* p) { asm volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 2, 2), 3\\n"
      " v_cvt_pk_bf16_f32 v0, v0, v0\" ::: \"v0\"); }",
      "rounding", "v_cvt_pk_bf16_f32", "gfx950");
  refused("KERNEL k(u32* p) { asm volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\"); }",
          "operand", "FP16_OVFL");
  const auto code = compile(
      "KERNEL k(_Float16* p) { asm volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3\"); "
      "p[0] += p[1]; }",
      "gfx942");
  if (code) Emulated(mi300x()).load(*code);  // only f32 rounds otherwise
}
