// Small kernels from HIP text, on both wavefront sizes, against answers made here.
#include <cmath>
#include <numeric>
#include <random>

#include <unistd.h>

#include "base/float_types.h"
#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const char* const kText = R"(
KERNEL saxpy(float* y, const float* x, float a, i32 n) {
  const i32 i = index();
  if (i < n) y[i] = a * x[i] + y[i];
}
KERNEL divide(float* q, const float* a, const float* b, i32 n) {
  const i32 i = index();
  if (i < n) q[i] = a[i] / b[i];
}
KERNEL divide_double(double* q, const double* a, const double* b, i32 n) {
  const i32 i = index();
  if (i < n) q[i] = a[i] / b[i];
}
KERNEL integers(i32* q, i32* r, i64* q64, const i32* a, const i32* b, const i64* a64, const i64* b64, i32 n) {
  const i32 i = index();
  if (i >= n) return;
  q[i] = a[i] / b[i];
  r[i] = a[i] % b[i];
  q64[i] = a64[i] / b64[i] + a64[i] % b64[i];
}
KERNEL math(float* out, const float* x, i32 n) {
  const i32 i = index();
  if (i >= n) return;
  out[5 * i] = __builtin_expf(x[i]);
  out[5 * i + 1] = __builtin_logf(__builtin_fabsf(x[i]) + 0.125f);
  out[5 * i + 2] = __builtin_sqrtf(__builtin_fabsf(x[i]));
  out[5 * i + 3] = __builtin_floorf(x[i]) + __builtin_rintf(x[i]);
  out[5 * i + 4] = __builtin_fminf(__builtin_fmaxf(x[i], -1.0f), 1.0f);
}
KERNEL reduce(float* out, const float* x) {
  SHARED float s[256];
  const u32 t = item();
  s[t] = x[group() * 256 + t];
  barrier();
  for (u32 k = 128; k != 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    barrier();
  }
  if (t == 0) out[group()] = s[0];
}
KERNEL indexed(i32* out, const i32* x, i32 n, i32 step) {
  i32 a[32];
  for (i32 i = 0; i < 32; ++i) a[i] = x[i];
  for (i32 i = 0; i < n; ++i) a[(i * step + item()) & 31] += i;
  i32 sum = 0;
  for (i32 i = 0; i < 32; ++i) sum += a[i] * (i + 1);
  out[index()] = sum;
}
KERNEL histogram(u32* bins, const u32* x, i32 n) {
  const i32 i = index();
  if (i < n) __atomic_fetch_add(&bins[x[i] & 15], 1u, __ATOMIC_RELAXED);
}
KERNEL collatz(u32* steps, i32 n) {
  const u32 i = index();
  if (i >= (u32)n) return;
  u32 x = i + 1, count = 0;
  while (x != 1) { x = (x & 1) ? 3 * x + 1 : x / 2; ++count; }
  steps[i] = count;
}
KERNEL shape(u32* out) {
  const u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  const u32 sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
  const u32 gx = __builtin_amdgcn_workgroup_id_x(), gy = __builtin_amdgcn_workgroup_id_y(), gz = __builtin_amdgcn_workgroup_id_z();
  const u32 nx = __builtin_amdgcn_grid_size_x() / sx, ny = __builtin_amdgcn_grid_size_y() / sy;
  const u32 g = (gz * ny + gy) * nx + gx;
  out[g * sx * sy * sz + (z * sy + y) * sx + x] = x | y << 4 | z << 8 | gx << 12 | gy << 16 | gz << 20;
}
KERNEL bytes(unsigned char* out, const signed char* x, const short* s, i32 n) {
  const i32 i = index();
  if (i < n) out[i] = (unsigned char)(x[i] * 3 + s[i]);
}
KERNEL dynamic(u32* out, const u32* x) {
  extern SHARED u32 tile[];
  tile[item()] = x[item()];
  barrier();
  out[item()] = tile[__builtin_amdgcn_workgroup_size_x() - 1 - item()];
}
KERNEL spills(float* out, const float* x) {
  volatile float local[70];
  for (i32 i = 0; i < 70; ++i) local[i] = x[(i + item()) & 63];
  float sum = 0;
  for (i32 i = 69; i >= 0; --i) sum = sum * 0.5f + local[i];
  out[item()] = sum;
}
KERNEL halves(_Float16* out, const _Float16* a, const _Float16* b, i32 n) {
  const i32 i = index();
  if (i >= n) return;
  out[4 * i] = a[i] + b[i];
  out[4 * i + 1] = a[i] * b[i];
  out[4 * i + 2] = a[i] / b[i];
  out[4 * i + 3] = __builtin_fmaf16(a[i], b[i], (_Float16)1.5f);
}
)";

struct Machine {
  target::Description description;
  std::string options;
};
const std::vector<Machine>& machines() {
  static const std::vector<Machine> all = {
      {mi300x(), "-O3"}, {mi300x(), "-O1"}, {rx7900(), "-O3"}, {rx7900(), "-O3 -mwavefrontsize64"}};
  return all;
}

/// A machine with the kernels loaded, or null without a compiler. All test cases share it:
/// compiling and loading is most of the time.
Emulated* machine(const target::Description& description, const std::string& options) {
  static std::map<std::string, std::unique_ptr<Emulated>> devices;
  std::unique_ptr<Emulated>& device = devices[description.arch.base + options];
  if (device) return device.get();
  const auto code = compile(kText, description.arch.base, options);
  if (!code) return nullptr;
  device = std::make_unique<Emulated>(description);
  device->load(*code);
  return device.get();
}

/// Runs `body` on every machine that this build can compile for.
template <class Body>
void on_all(const Body& body) {
  for (const auto& [description, options] : machines()) {
    CAPTURE(description.arch.base);
    CAPTURE(options);
    Emulated* const gpu = machine(description, options);
    if (gpu == nullptr) return;
    body(*gpu);
  }
}

std::vector<float> random_floats(size_t count, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> out(count);
  for (float& value : out) value = values(random);
  return out;
}
/// Random bit patterns with all kinds of floats among them.
std::vector<float> wild_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> out(count);
  for (float& value : out) {
    const uint32_t bits = static_cast<uint32_t>(random());
    std::memcpy(&value, &bits, 4);
  }
  const float special[] = {0.0f, -0.0f,  1.0f,   INFINITY, -INFINITY,
                           NAN,  1e-45f, 1e-38f, 3e38f,    -3e38f};
  for (size_t i = 0; i < count; ++i)
    if (i % 7 == 0) out[i] = special[(i / 7 + seed) % 10];
  return out;
}
template <class T>
bool same_number(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof(T)) == 0;
}
double in_ulps(float got, double exact) {
  const float rounded = static_cast<float>(exact);
  if (got == rounded) return 0;
  const double ulp = std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded);
  return std::fabs(got - exact) / ulp;
}

}  // namespace

TEST_CASE("saxpy with a partial last workgroup") {
  on_all([](Emulated& gpu) {
    const int n = 1000;
    const auto x = random_floats(n, -4, 4, 1);
    const auto y = random_floats(n, -4, 4, 2);
    const auto dx = gpu.put(x), dy = gpu.put(y);
    const auto before = gpu.device().counters();
    check_ok(gpu.launch("saxpy", {4}, {256}, dy, dx, 1.25f, n));
    const auto got = gpu.get<float>(dy, n);
    for (int i = 0; i < n; ++i) CHECK(got[i] == std::fma(1.25f, x[i], y[i]));
    const auto after = gpu.device().counters();
    CHECK(after.launches == before.launches + 1);
    CHECK(after.memory_bytes_written >= before.memory_bytes_written + 4u * n);
  });
}

TEST_CASE("float and double division round correctly for every kind of number") {
  on_all([](Emulated& gpu) {
    const int n = 4096;
    const auto a = wild_floats(n, 3), b = wild_floats(n, 4);
    const auto q = gpu.put(std::vector<float>(n));
    check_ok(gpu.launch("divide", {16}, {256}, q, gpu.put(a), gpu.put(b), n));
    const auto got = gpu.get<float>(q, n);
    for (int i = 0; i < n; ++i) {
      if (!same_number(got[i], a[i] / b[i])) FAIL_CHECK(cat(a[i], " / ", b[i], " gave ", got[i]));
    }
    std::vector<double> ad(n), bd(n);
    std::mt19937_64 random(5);
    for (int i = 0; i < n; ++i) {
      ad[i] = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                         static_cast<int>(random() % 600) - 300);
      bd[i] = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                         static_cast<int>(random() % 600) - 300);
    }
    ad[0] = INFINITY, bd[1] = 0.0, ad[2] = NAN, bd[3] = INFINITY, ad[4] = 1e308, bd[4] = 1e-3;
    const auto qd = gpu.put(std::vector<double>(n));
    check_ok(gpu.launch("divide_double", {16}, {256}, qd, gpu.put(ad), gpu.put(bd), n));
    const auto got_double = gpu.get<double>(qd, n);
    for (int i = 0; i < n; ++i)
      if (!same_number(got_double[i], ad[i] / bd[i]))
        FAIL_CHECK(cat(ad[i], " / ", bd[i], " gave ", got_double[i]));
  });
}

TEST_CASE("integer division, 32 and 64 bits") {
  on_all([](Emulated& gpu) {
    const int n = 512;
    std::mt19937_64 random(6);
    std::vector<int32_t> a(n), b(n);
    std::vector<int64_t> a64(n), b64(n);
    for (int i = 0; i < n; ++i) {
      a[i] = static_cast<int32_t>(random());
      b[i] = static_cast<int32_t>(random()) >> (i % 31);
      a64[i] = static_cast<int64_t>(random());
      b64[i] = static_cast<int64_t>(random()) >> (i % 63);
      if (b[i] == 0 || b[i] == -1) b[i] = 3;
      if (b64[i] == 0 || b64[i] == -1) b64[i] = 5;
    }
    const auto q = gpu.put(std::vector<int32_t>(n)), r = gpu.put(std::vector<int32_t>(n));
    const auto q64 = gpu.put(std::vector<int64_t>(n));
    check_ok(gpu.launch("integers", {2}, {256}, q, r, q64, gpu.put(a), gpu.put(b), gpu.put(a64),
                        gpu.put(b64), n));
    const auto gq = gpu.get<int32_t>(q, n), gr = gpu.get<int32_t>(r, n);
    const auto g64 = gpu.get<int64_t>(q64, n);
    for (int i = 0; i < n; ++i) {
      CHECK(gq[i] == a[i] / b[i]);
      CHECK(gr[i] == a[i] % b[i]);
      CHECK(g64[i] == a64[i] / b64[i] + a64[i] % b64[i]);
    }
  });
}

TEST_CASE("elementary functions are within an ulp") {
  on_all([](Emulated& gpu) {
    const int n = 2048;
    const auto x = random_floats(n, -80, 80, 7);
    const auto out = gpu.put(std::vector<float>(5 * n));
    check_ok(gpu.launch("math", {8}, {256}, out, gpu.put(x), n));
    const auto got = gpu.get<float>(out, 5 * n);
    for (int i = 0; i < n; ++i) {
      const double d = x[i];
      CHECK(in_ulps(got[5 * i], std::exp(d)) < 1.5);
      CHECK(in_ulps(got[5 * i + 1], std::log(static_cast<double>(std::fabs(x[i]) + 0.125f))) < 2.5);
      CHECK(got[5 * i + 2] == std::sqrt(std::fabs(x[i])));
      CHECK(got[5 * i + 3] == std::floor(x[i]) + std::rint(x[i]));
      CHECK(got[5 * i + 4] == std::min(std::max(x[i], -1.0f), 1.0f));
    }
  });
}

TEST_CASE("a tree reduction through LDS with barriers") {
  on_all([](Emulated& gpu) {
    std::vector<float> x(256 * 5);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 97);
    const auto out = gpu.put(std::vector<float>(5));
    check_ok(gpu.launch("reduce", {5}, {256}, out, gpu.put(x)));
    const auto got = gpu.get<float>(out, 5);
    for (int g = 0; g < 5; ++g)
      CHECK(got[g] == std::accumulate(x.begin() + g * 256, x.begin() + (g + 1) * 256, 0.0f));
  });
}

TEST_CASE("arrays indexed by lane-dependent and uniform numbers") {
  on_all([](Emulated& gpu) {
    std::vector<int32_t> x(32);
    std::iota(x.begin(), x.end(), 100);
    const auto out = gpu.put(std::vector<int32_t>(128));
    check_ok(gpu.launch("indexed", {2}, {64}, out, gpu.put(x), 50, 7));
    const auto got = gpu.get<int32_t>(out, 128);
    for (int t = 0; t < 128; ++t) {
      auto a = x;
      for (int i = 0; i < 50; ++i) a[(i * 7 + t % 64) & 31] += i;
      int sum = 0;
      for (int i = 0; i < 32; ++i) sum += a[i] * (i + 1);
      CHECK(got[t] == sum);
    }
  });
}

TEST_CASE("atomics from several workgroups on several threads add up") {
  on_all([](Emulated& gpu) {
    const int n = 10000;
    std::vector<uint32_t> x(n), expected(16);
    for (int i = 0; i < n; ++i) x[i] = static_cast<uint32_t>(i) * 2654435761u >> 7;
    for (const uint32_t value : x) ++expected[value & 15];
    const auto bins = gpu.put(std::vector<uint32_t>(16));
    check_ok(gpu.launch("histogram", {40}, {256}, bins, gpu.put(x), n));
    CHECK(gpu.get<uint32_t>(bins, 16) == expected);
  });
}

TEST_CASE("divergent loops") {
  on_all([](Emulated& gpu) {
    const int n = 300;
    const auto out = gpu.put(std::vector<uint32_t>(n));
    check_ok(gpu.launch("collatz", {2}, {256}, out, n));
    const auto got = gpu.get<uint32_t>(out, n);
    for (int i = 0; i < n; ++i) {
      uint32_t x = static_cast<uint32_t>(i) + 1, count = 0;
      for (; x != 1; ++count) x = x % 2 != 0 ? 3 * x + 1 : x / 2;
      CHECK(got[i] == count);
    }
  });
}

TEST_CASE("work-item numbers and hidden arguments in three dimensions") {
  on_all([](Emulated& gpu) {
    const device::Dim3 grid{3, 2, 2}, block{4, 3, 5};
    const size_t count = 12 * 60;
    const auto out = gpu.put(std::vector<uint32_t>(count));
    check_ok(gpu.launch("shape", grid, block, out));
    const auto got = gpu.get<uint32_t>(out, count);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t g = i / 60, t = i % 60;
      CHECK(got[i] == (t % 4 | (t / 4 % 3) << 4 | (t / 12) << 8 | (g % 3) << 12 |
                       (g / 3 % 2) << 16 | (g / 6) << 20));
    }
  });
}

TEST_CASE("bytes and shorts") {
  on_all([](Emulated& gpu) {
    const int n = 300;
    std::vector<int8_t> x(n);
    std::vector<int16_t> s(n);
    for (int i = 0; i < n; ++i)
      x[i] = static_cast<int8_t>(i * 5), s[i] = static_cast<int16_t>(i * 301);
    const auto out = gpu.put(std::vector<uint8_t>(n));
    check_ok(gpu.launch("bytes", {2}, {256}, out, gpu.put(x), gpu.put(s), n));
    const auto got = gpu.get<uint8_t>(out, n);
    for (int i = 0; i < n; ++i) CHECK(got[i] == static_cast<uint8_t>(x[i] * 3 + s[i]));
  });
}

TEST_CASE("dynamic LDS and private arrays") {
  on_all([](Emulated& gpu) {
    std::vector<uint32_t> x(128);
    std::iota(x.begin(), x.end(), 7u);
    const auto out = gpu.put(std::vector<uint32_t>(128));
    check_ok(gpu.launch_with("dynamic", {1}, {128}, 512, out, gpu.put(x)));
    const auto got = gpu.get<uint32_t>(out, 128);
    for (uint32_t i = 0; i < 128; ++i) CHECK(got[i] == x[127 - i]);

    const auto f = random_floats(64, 0, 1, 8);
    const auto sums = gpu.put(std::vector<float>(64));
    check_ok(gpu.launch("spills", {1}, {64}, sums, gpu.put(f)));
    const auto got_sums = gpu.get<float>(sums, 64);
    for (int t = 0; t < 64; ++t) {
      float sum = 0;
      for (int i = 69; i >= 0; --i) sum = std::fma(sum, 0.5f, f[(i + t) & 63]);
      CHECK(got_sums[t] == sum);
    }
  });
}

TEST_CASE("half-precision arithmetic rounds correctly") {
  on_all([](Emulated& gpu) {
    const int n = 4096;
    std::mt19937 random(9);
    std::vector<uint16_t> a(n), b(n);
    for (int i = 0; i < n; ++i)
      a[i] = static_cast<uint16_t>(random()), b[i] = static_cast<uint16_t>(random());
    const auto out = gpu.put(std::vector<uint16_t>(4 * n));
    check_ok(gpu.launch("halves", {16}, {256}, out, gpu.put(a), gpu.put(b), n));
    const auto got = gpu.get<uint16_t>(out, 4 * n);
    const auto same = [](uint16_t bits, double exact) {
      const uint16_t expected = double_to_half(exact);
      return bits == expected || (std::isnan(exact) && std::isnan(half_to_float(bits)));
    };
    for (int i = 0; i < n; ++i) {
      const double x = half_to_float(a[i]), y = half_to_float(b[i]);
      const double expected[] = {x + y, x * y, x / y, x * y + 1.5};
      for (int k = 0; k < 4; ++k)
        if (!same(got[4 * i + k], expected[k]))
          FAIL_CHECK(
              cat("operation ", k, " of ", x, " and ", y, " gave ", half_to_float(got[4 * i + k])));
    }
  });
}
