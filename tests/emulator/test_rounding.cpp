// MODE's rounding: honoured for f32 and f64, refused where a kernel computes in f16.
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

TEST_CASE("rounding of f16 and unknown mode bits are refused by name") {
  const auto refused = [](const std::string& text, const std::string& reason,
                          const std::string& part) {
    const auto code = compile(text, "gfx942");
    if (!code) return;
    Emulated gpu(mi300x());
    const auto loaded = gpu.device().load(*code);
    REQUIRE(!loaded.ok());
    CAPTURE(loaded.error().text());
    CHECK(loaded.error().code == Code::unusable);
    CHECK(loaded.error().reason == reason);
    CHECK(loaded.error().text().find(part) != std::string::npos);
  };
  const std::string half = "KERNEL k(_Float16* p) { asm volatile(\"";
  refused(half + "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 12\"); p[0] += p[1]; }", "rounding",
          "f16");
  refused(
      "KERNEL k(_Float16* p, u32 m) { asm volatile(\"s_setreg_b32 hwreg(HW_REG_MODE, 2, 2), %0\" "
      ":: \"s\"(m)); p[0] += p[1]; }",
      "rounding", "f16");
  refused("KERNEL k(u32* p) { asm volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), 1\"); }",
          "operand", "FP16_OVFL");
  const auto code = compile(
      "KERNEL k(_Float16* p) { asm volatile(\"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 3\"); "
      "p[0] += p[1]; }",
      "gfx942");
  if (code) Emulated(mi300x()).load(*code);  // only f32 rounds otherwise
}
