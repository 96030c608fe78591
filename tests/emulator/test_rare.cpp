// Instructions that compilers seldom emit: register indexing by M0, exchanges of registers, old
// floating-point rules.
#include <unistd.h>

#include <cmath>

#include "emulated.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

const float kEdges[] = {0.0f, -0.0f,  1.5f,  -2.0f,   INFINITY,         -INFINITY,
                        NAN,  1e-40f, 3e38f, -3e-39f, -0x1.fffffep127f, 0x1.fffffep127f};
constexpr size_t kCount = std::size(kEdges);

/// All triples of edges, 32 to a launch and one of 1728 at the end.
std::vector<float> triples(size_t which) {
  std::vector<float> out;
  for (size_t i = 0; i < kCount * kCount * kCount; ++i) {
    const size_t n = which == 0 ? i : which == 1 ? i / kCount : i / kCount / kCount;
    out.push_back(kEdges[n % kCount]);
  }
  return out;
}
bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

const char* const kFloats = R"(
KERNEL floats(float* out, const float* a, const float* b, const float* c) {
  float x = a[index()], y = b[index()], z = c[index()], r, s, t = z;
  asm volatile(FIRST " %0, %3, %4, %5\n" SECOND " %1, %3, %4, %5\n" THIRD
               : "=&v"(r), "=&v"(s), "+v"(t) : "v"(x), "v"(y), "v"(z));
  out[index() * 3] = r; out[index() * 3 + 1] = s; out[index() * 3 + 2] = t;
}
)";

struct FloatRule {
  float (*first)(float, float, float);
  float (*second)(float, float, float);
  float (*third)(float, float, float);
};
void check_floats(const std::string& arch, const std::string& names, const FloatRule& rule) {
  CAPTURE(arch);
  const auto code = compile(names + kFloats, arch);
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  const auto a = triples(0), b = triples(1), c = triples(2);
  const auto out = gpu.reserve(a.size() * 12);
  check_ok(gpu.launch("floats", {27}, {64}, out, gpu.put(a), gpu.put(b), gpu.put(c)));
  const auto got = gpu.get<float>(out, a.size() * 3);
  for (size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    CHECK(same(got[i * 3], rule.first(a[i], b[i], c[i])));
    CHECK(same(got[i * 3 + 1], rule.second(a[i], b[i], c[i])));
    CHECK(same(got[i * 3 + 2], rule.third(a[i], b[i], c[i])));
  }
}
bool zero(float x) {
  return std::fpclassify(x) == FP_ZERO;
}
float old_fma(float a, float b, float c) {
  return zero(a) || zero(b) ? c : std::fma(a, b, c);
}
/// Specular light: -FLT_MAX unless b > -FLT_MAX and c > 0.
float lit(float a, float b, float c) {
  if (std::isnan(b) || std::isnan(c) || c <= 0) return -0x1.fffffep127f;
  if (b == -0x1.fffffep127f || (std::isinf(b) && b < 0)) return -0x1.fffffep127f;
  return a * b;
}

const char* const kSums = R"(
typedef u32 u4 __attribute__((ext_vector_type(4)));
KERNEL sums(u4* out, const u64* a, const u32* b, const u4* c) {
  out[item()] = __builtin_amdgcn_mqsad_u32_u8(a[item()], b[item()], c[item()]);
}
)";
void check_sums(const std::string& arch) {
  CAPTURE(arch);
  const auto code = compile(kSums, arch);
  if (!code) return;
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  std::vector<uint8_t> a(32 * 8), b(32 * 4);
  std::vector<uint32_t> c(32 * 4);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(i * 41 + i / 7);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint8_t>(i % 3 == 0 ? 0 : i * 77);
  for (size_t i = 0; i < c.size(); ++i) c[i] = i % 5 == 0 ? 0xfffffff0u : static_cast<uint32_t>(i);
  const auto out = gpu.reserve(512);
  check_ok(gpu.launch("sums", {1}, {32}, out, gpu.put(a), gpu.put(b), gpu.put(c)));
  const auto got = gpu.get<uint32_t>(out, 128);
  for (size_t lane = 0; lane < 32; ++lane)
    for (size_t word = 0; word < 4; ++word) {
      uint32_t want = c[lane * 4 + word];
      for (size_t i = 0; i < 4; ++i) {
        const int p = a[lane * 8 + word + i], q = b[lane * 4 + i];
        if (q != 0) want += static_cast<uint32_t>(std::abs(p - q));
      }
      CHECK(got[lane * 4 + word] == want);
    }
}

/// Runs `body` on registers v10 to v17, which hold 100 * register + lane; they come out as eight
/// dwords a lane.
std::string register_kernel(const std::string& body, const std::string& wait) {
  std::string text =
      "KERNEL registers(u32* out, u32 m0, u32 n) {\n  u32 i = item(); u64 to = (u64)(out + item() "
      "* 8);\n  asm volatile(\"";
  for (int r = 10; r < 18; ++r)
    text += "v_mov_b32 v" + std::to_string(r) + ", " + std::to_string(r * 100) + "\\n\"\n\"" +
            (wait.empty() ? "v_add_u32 v" : "v_add_nc_u32 v") + std::to_string(r) + ", v" +
            std::to_string(r) + ", %0\\n\"\n\"";
  text += body;
  for (int r = 10; r < 18; ++r)
    text += "\\n\"\n\"global_store_" + std::string(wait.empty() ? "dword" : "b32") + " %1, v" +
            std::to_string(r) + ", off offset:" + std::to_string((r - 10) * 4);
  return text +
         "\\n\" : : \"v\"(i), \"v\"(to), \"s\"(m0), \"s\"(n) : \"memory\", \"v10\", \"v11\", "
         "\"v12\", "
         "\"v13\", \"v14\", \"v15\", \"v16\", \"v17\", \"v40\", \"exec\", \"vcc\");\n}\n";
}
std::vector<uint32_t> run_registers(const std::string& arch, const std::string& body, uint32_t m0,
                                    uint32_t n = 0) {
  const auto code = compile(register_kernel(body, arch.rfind("gfx9", 0) == 0 ? "" : "rdna"), arch);
  if (!code) return {};
  Emulated gpu(device_for(arch));
  gpu.load(*code);
  const auto out = gpu.reserve(32 * 32);
  check_ok(gpu.launch("registers", {1}, {32}, out, m0, n));
  return gpu.get<uint32_t>(out, 32 * 8);
}
/// Value of register v10 + r in a lane before anything happened.
uint32_t start(size_t r, size_t lane) {
  return static_cast<uint32_t>((r + 10) * 100 + lane);
}

}  // namespace

TEST_CASE("old floating-point rules") {
  check_floats("gfx1100",
               "#define FIRST \"v_fma_dx9_zero_f32\"\n#define SECOND \"v_mullit_f32\"\n"
               "#define THIRD \"v_fmac_dx9_zero_f32 %2, %3, %4\"\n",
               {old_fma, lit, old_fma});
  const auto mad = [](float a, float b, float c) {
    const float product = zero(a) || zero(b) ? 0.0f : a * b;
    return product + c;
  };
  check_floats("gfx90a",
               "#define FIRST \"v_mad_legacy_f32\"\n#define SECOND \"v_mad_legacy_f32\"\n"
               "#define THIRD \"v_clrexcp\"\n",
               {mad, mad, [](float, float, float c) { return c; }});
}

TEST_CASE("masked sums of byte distances") {
  check_sums("gfx942");
  check_sums("gfx1201");
}

TEST_CASE("registers change places") {
  // Lanes 0 to 15 only.
  const auto halves =
      run_registers("gfx1100",
                    "s_mov_b32 exec_lo, 0xffff\\ns_nop 0\\nv_swap_b16 v10.l, v11.h\\nv_swap_b16 "
                    "v12.h, v12.l\\nv_pipeflush\\ns_mov_b32 exec_lo, -1",
                    0);
  for (size_t lane = 0; lane < halves.size() / 8; ++lane) {
    const bool on = lane < 16;
    CHECK(halves[lane * 8] == (on ? 0 : start(0, lane)));
    CHECK(halves[lane * 8 + 1] == (on ? start(0, lane) << 16 | start(1, lane) : start(1, lane)));
    CHECK(halves[lane * 8 + 2] == start(2, lane) << (on ? 16 : 0));
  }
  for (const std::string arch : {"gfx1100", "gfx1201"}) {
    const auto moved =
        run_registers(arch, "s_mov_b32 m0, %2\\ns_nop 0\\nv_swaprel_b32 v10, v11", 5u | 2u << 16);
    for (size_t lane = 0; lane < moved.size() / 8; ++lane)
      for (size_t r = 0; r < 8; ++r)  // v10 + 2 and v11 + 5
        CHECK(moved[lane * 8 + r] == start(r == 2 ? 6 : r == 6 ? 2 : r, lane));
  }
}

TEST_CASE("register indexing of gfx9 follows M0") {
  // Sources and destination move by n, later by another number, later the destination alone.
  const auto got = run_registers("gfx942",
                                 "s_set_gpr_idx_on %3, gpr_idx(SRC0,DST)\\n"
                                 "v_mov_b32 v10, v11\\n"  // v12 = v13
                                 "s_set_gpr_idx_idx %2\\n"
                                 "v_mov_b32 v10, v11\\n"  // v14 = v15
                                 "s_set_gpr_idx_mode gpr_idx(DST)\\n"
                                 "v_mov_b32 v12, v11\\n"  // v16 = v11
                                 "s_mov_b32 m0, 0x8001\\n"
                                 "v_mov_b32 v10, v17\\n"  // v11 = v17
                                 "s_set_gpr_idx_off\\n"
                                 "v_mov_b32 v10, v17",  // v10 = v17
                                 4, 2);
  const size_t want[] = {7, 7, 3, 3, 5, 5, 1, 7};
  for (size_t lane = 0; lane < got.size() / 8; ++lane)
    for (size_t r = 0; r < 8; ++r) CHECK(got[lane * 8 + r] == start(want[r], lane));
}

TEST_CASE("register indexing follows M0 where the writes stand behind the end of indexing") {
  const auto got = run_registers("gfx942",
                                 "s_set_gpr_idx_on %3, gpr_idx(SRC0)\\n"
                                 "s_branch 2f\\n"
                                 "1: v_mov_b32 v10, v11\\n"  // v10 = v15
                                 "s_set_gpr_idx_off\\n"
                                 "s_branch 3f\\n"
                                 "2: s_mov_b32 m0, 0x1004\\n"
                                 "s_branch 1b\\n"
                                 "3: s_mov_b32 m0, 0x1001\\n"  // nothing is indexed any more
                                 "v_mov_b32 v12, v13",
                                 0, 2);
  for (size_t lane = 0; lane < got.size() / 8; ++lane)
    for (size_t r = 0; r < 8; ++r)
      CHECK(got[lane * 8 + r] == start(r == 0 ? 5 : r == 2 ? 3 : r, lane));
}

TEST_CASE("multiply-add of halves clears the upper half; branches of debuggers are not taken") {
  const auto code = compile(R"(
KERNEL k(u32* out, u32 a, u32 b, u32 c) {
  u32 r = 0xffffffff, s = 5;
  asm volatile("v_mad_legacy_f16 %0, %1, %2, %3" : "+v"(r) : "v"(a), "v"(b), "v"(c));
  asm volatile("s_cbranch_cdbgsys 1f\ns_cbranch_cdbguser 1f\ns_cbranch_cdbgsys_or_user 1f\n"
               "s_cbranch_cdbgsys_and_user 1f\ns_dcache_inv_vol\ns_dcache_wb_vol\ns_mov_b32 %0, 6\n1:" : "+s"(s));
  out[0] = r; out[1] = s;
}
)",
                            "gfx942");
  if (!code) return;
  Emulated gpu(device_for("gfx942"));
  gpu.load(*code);
  const auto out = gpu.reserve(8);
  // 1.5 * 3 + -0.5 = 4; the upper halves are no part of it.
  check_ok(gpu.launch("k", {1}, {1}, out, 0x7e003e00u, 0x12344200u, 0xabcdb800u));
  CHECK(gpu.get<uint32_t>(out, 2) == std::vector<uint32_t>{0x4400u, 6u});
}
