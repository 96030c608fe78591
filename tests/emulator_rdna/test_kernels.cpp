// Everyday instructions of every target: kernels run by the emulator against the same work done by
// the host, or against values worked out here.
#include <cmath>
#include <numeric>
#include <random>

#include "base/float_types.h"
#include "kernels/bodies.h"
#include "probe_device.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

constexpr uint32_t kGroups = 3, kItems = 256, kCount = kGroups * kItems;

struct Target {
  const char* arch;
  const char* code_object;
  bool wave64;
};
constexpr Target kTargets[] = {
    {"gfx90a", "probe_gfx90a", true},           {"gfx942", "probe_gfx942", true},
    {"gfx950", "probe_gfx950", true},           {"gfx1100", "probe_gfx1100", false},
    {"gfx1151", "probe_gfx1151", false},        {"gfx1201", "probe_gfx1201", false},
    {"gfx1100", "probe_wave64_gfx1100", false},
};

template <class Body>
void on_each_target(const Body& body) {
  for (const Target& target : kTargets) {
    const std::string code_object = target.code_object;
    CAPTURE(code_object);
    ProbeDevice device(target.arch, target.code_object, target.wave64);
    body(device, target);
  }
}

std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-2.0f, 2.0f);
  std::vector<float> out(count);
  for (float& value : out) value = uniform(random);
  return out;
}
std::vector<int> random_ints(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> out(count);
  for (int& value : out) value = static_cast<int>(random() >> (random() % 24));
  return out;
}
std::vector<uint16_t> random_halves(size_t count, unsigned seed) {
  std::vector<uint16_t> out;
  for (const float value : random_floats(count, seed)) out.push_back(float_to_half(value));
  return out;
}

/// Equal, or both no numbers.
template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

/// Runs kernel(out, in) and counts differences from expected(i).
template <class Out, class In, class Expected>
unsigned differences(ProbeDevice& device, const char* kernel, const std::vector<In>& in,
                     const Expected& expected) {
  const auto from = device.upload(in);
  const auto to = device.upload(std::vector<Out>(kCount));
  device.launch(kernel, kGroups, kItems, to, from);
  const auto got = device.download<Out>(to, kCount);
  unsigned wrong = 0;
  for (uint32_t i = 0; i < kCount; ++i) wrong += !same<Out>(got[i], expected(static_cast<int>(i)));
  return wrong;
}

}  // namespace

TEST_CASE("float chains") {
  const auto in = random_floats(kCount + 4, 1);
  on_each_target([&](ProbeDevice& device, const Target&) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<float>(kCount));
    device.launch("float_kernel", kGroups, kItems, to, from, int32_t{9});
    const auto got = device.download<float>(to, kCount);
    unsigned wrong = 0;
    for (uint32_t i = 0; i < kCount; ++i)
      wrong += !same(got[i], float_work(in.data(), static_cast<int>(i), 9));
    CHECK(wrong == 0);
  });
}

TEST_CASE("rounding, conversion and fused operations") {
  const auto in = random_floats(kCount + 4, 2);
  on_each_target([&](ProbeDevice& device, const Target&) {
    CHECK(differences<float>(device, "rounding_kernel", in,
                             [&](int i) { return rounding_work(in.data(), i); }) == 0);
  });
}

TEST_CASE("integers of 16, 32 and 64 bits") {
  const auto in = random_ints(kCount + 4, 3);
  std::vector<int16_t> shorts;
  for (const int value : random_ints(kCount + 4, 4)) shorts.push_back(static_cast<int16_t>(value));
  on_each_target([&](ProbeDevice& device, const Target&) {
    CHECK(differences<int64_t>(device, "integer_kernel", in,
                               [&](int i) { return integer_work(in.data(), i); }) == 0);
    CHECK(differences<int16_t>(device, "short_kernel", shorts,
                               [&](int i) { return short_work(shorts.data(), i); }) == 0);
  });
}

TEST_CASE("doubles") {
  const auto in = random_floats(kCount + 4, 5);
  on_each_target([&](ProbeDevice& device, const Target&) {
    CHECK(differences<double>(device, "double_kernel", in,
                              [&](int i) { return double_work(in.data(), i); }) == 0);
  });
}

TEST_CASE("divergent control flow and arrays in scratch memory") {
  const auto in = random_ints(kCount + 32, 6);
  on_each_target([&](ProbeDevice& device, const Target&) {
    CHECK(differences<int32_t>(device, "branching_kernel", in,
                               [&](int i) { return branching_work(in.data(), i); }) == 0);
    CHECK(differences<int32_t>(device, "array_kernel", in,
                               [&](int i) { return array_work(in.data(), i); }) == 0);
  });
}

TEST_CASE("halves, single and packed") {
  const auto in = random_halves(2 * kCount + 4, 7);
  const auto value = [&](size_t at) { return half_to_float(in[at]); };
  on_each_target([&](ProbeDevice& device, const Target&) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint16_t>(8 * kCount));
    device.launch("half_kernel", kGroups, kItems, to, from);
    const auto got = device.download<uint16_t>(to, 8 * kCount);
    unsigned wrong = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const float x = value(2 * i), y = value(2 * i + 2), px = x, py = value(2 * i + 1), qx = y,
                  qy = value(2 * i + 3);
      // Products and sums of two halves are exact in double; a rounded product comes first where
      // the source has no fused operation.
      const auto half = [](double v) { return double_to_half(v); };
      const auto rounded = [&](double v) { return static_cast<double>(half_to_float(half(v))); };
      const uint16_t expected[8] = {
          half(double{x} + y),
          half(double{x} * y),
          half(double{x} * y + py),
          half(x > y ? double{x} - y : -double{x}),
          half(rounded(double{px} * qx) + qy),
          half(rounded(double{py} * qy) - qx),
          half(std::fmax(px, qy)),
          half(std::fmax(py, -qx)),
      };
      for (size_t k = 0; k < 8; ++k) wrong += got[8 * i + k] != expected[k];
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("float results of half sources") {
  const auto in = random_halves(2 * kCount + 4, 8);
  const auto value = [&](size_t at) { return half_to_float(in[at]); };
  on_each_target([&](ProbeDevice& device, const Target&) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<float>(4 * kCount));
    device.launch("mixed_kernel", kGroups, kItems, to, from);
    const auto got = device.download<float>(to, 4 * kCount);
    unsigned wrong = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const float x = value(2 * i), y = value(2 * i + 1), z = value(2 * i + 2),
                  w = value(2 * i + 3);
      wrong += got[4 * i] != std::fmaf(x, y, z);
      wrong += got[4 * i + 1] != std::fmaf(-x, y, 2.0f);
      const double dot = double{x} * z + double{y} * w + 1.0;
      wrong += std::fabs(got[4 * i + 2] - dot) > 4 * 0x1p-24 * (std::fabs(dot) + 8);
      wrong += got[4 * i + 3] != half_to_float(float_to_half(std::fmaf(x, z, y)));
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("bfloat16 through float") {
  std::vector<uint16_t> in;
  for (const float value : random_floats(kCount + 1, 9)) in.push_back(float_to_bfloat16(value));
  on_each_target([&](ProbeDevice& device, const Target&) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint16_t>(kCount));
    device.launch("bfloat_kernel", kGroups, kItems, to, from, 0.75f);
    const auto got = device.download<uint16_t>(to, kCount);
    unsigned wrong = 0;
    for (size_t i = 0; i < kCount; ++i) {
      const float sum = bfloat16_to_float(in[i]) * 0.75f + bfloat16_to_float(in[i + 1]);
      wrong += got[i] != float_to_bfloat16(sum);
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("reduction through LDS and an atomic") {
  const auto in = random_ints(kCount, 10);
  uint32_t sum = 17;
  for (const int value : in) sum += static_cast<uint32_t>(value);
  on_each_target([&](ProbeDevice& device, const Target&) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint32_t>{17});
    device.launch("reduce_kernel", kGroups, kItems, to, from);
    CHECK(device.download<uint32_t>(to, 1)[0] == sum);
  });
}

TEST_CASE("movement between lanes") {
  const auto in = random_ints(kCount, 11);
  on_each_target([&](ProbeDevice& device, const Target& target) {
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<int32_t>(8 * kCount));
    device.launch("lanes_kernel", kGroups, kItems, to, from);
    const auto got = device.download<int32_t>(to, 8 * kCount);
    const std::string name = target.code_object;
    const bool rdna = name.find("gfx1") != std::string::npos;
    const uint32_t lanes = !rdna || name.find("wave64") != std::string::npos ? 64 : 32;
    unsigned wrong[8] = {};
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t row = i & ~15u, place = i & 15, wave = i / lanes * lanes;
      const auto at = [&](uint32_t lane) { return static_cast<uint32_t>(in[lane]); };
      uint32_t last = 0;
      if (rdna) {
        const uint32_t rotated = at(row + (place + 1) % 16), crossed = at((row ^ 16) + place);
        last = rotated + 3 * crossed + 7 * at(row + 3) + 11 * at(row + (place ^ 5)) +
               13 * at((i & ~7u) + 7 - (i & 7));
      }
      const uint32_t expected[8] = {
          at(i ^ 1),
          place >= 1 ? at(i - 1) : ~0u,
          place + 4 < 16 ? at(i + 4) : 0u,
          at(row + 15 - place),
          at(i ^ 16),
          at(wave + (i % 32 + 5) % 32),
          at(wave + 7) + at(wave),
          last,
      };
      for (unsigned k = 0; k < 8; ++k)
        wrong[k] += static_cast<uint32_t>(got[8 * i + k]) != expected[k];
    }
    for (unsigned k = 0; k < 8; ++k) {
      CAPTURE(k);
      CHECK(wrong[k] == 0);
    }
  });
}
