// Single instructions with rare modifiers, written in assembly, against values worked out here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "base/float_types.h"
#include "probe_device.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

uint16_t low(uint32_t word) {
  return static_cast<uint16_t>(word);
}
uint16_t high(uint32_t word) {
  return static_cast<uint16_t>(word >> 16);
}
double half(uint16_t bits) {
  return static_cast<double>(half_to_float(bits));
}
float number(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t join(uint16_t l, uint16_t h) {
  return l | static_cast<uint32_t>(h) << 16;
}
uint32_t halves(double l, double h) {
  return join(double_to_half(l), double_to_half(h));
}
double clamped(double x) {
  return std::min(std::max(x, 0.0), 1.0);
}
int16_t s(uint16_t bits) {
  return static_cast<int16_t>(bits);
}
uint16_t wrap(int64_t value) {
  return static_cast<uint16_t>(value);
}
uint16_t saturate_signed(int64_t value) {
  return static_cast<uint16_t>(std::clamp<int64_t>(value, -32768, 32767));
}

/// Sum of products of `bits`-wide elements.
int64_t dot(uint32_t a, uint32_t b, unsigned bits, bool is_signed) {
  int64_t sum = 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const auto element = [&](uint32_t word) -> int64_t {
      const int64_t raw = (word >> at) & ((1u << bits) - 1);
      return is_signed && raw >= (1 << (bits - 1)) ? raw - (1 << bits) : raw;
    };
    sum += element(a) * element(b);
  }
  return sum;
}

using Case = std::function<uint32_t(uint32_t a, uint32_t b, uint32_t c)>;

const std::vector<Case>& packed_cases() {
  static const std::vector<Case> cases = {
      [](auto a, auto b, auto) {
        return halves(half(low(a)) + half(low(b)), half(high(a)) + half(high(b)));
      },
      [](auto a, auto b, auto) {
        return halves(half(high(a)) + half(low(b)), half(low(a)) + half(high(b)));
      },
      [](auto a, auto b, auto) {
        return halves(-half(low(a)) * half(low(b)), half(high(a)) * -half(high(b)));
      },
      [](auto a, auto b, auto c) {
        return halves(clamped(half(low(a)) * half(low(b)) + half(low(c))),
                      clamped(half(high(a)) * half(high(b)) + half(high(c))));
      },
      [](auto a, auto b, auto) {
        return join(static_cast<uint16_t>(std::min(low(a) + low(b), 65535)),
                    static_cast<uint16_t>(std::min(high(a) + high(b), 65535)));
      },
      [](auto a, auto b, auto) {
        return join(saturate_signed(s(low(a)) - s(low(b))),
                    saturate_signed(s(high(a)) - s(high(b))));
      },
      [](auto a, auto b, auto c) {
        return join(wrap(int64_t{s(low(a))} * s(low(b)) + s(low(c))),
                    wrap(int64_t{s(high(a))} * s(high(b)) + s(high(c))));
      },
      [](auto a, auto b, auto) {
        return join(wrap(int64_t{low(a)} * high(b)), wrap(int64_t{high(a)} * low(b)));
      },
      [](auto a, auto b, auto) {
        return join(wrap(int64_t{low(b)} << (low(a) & 15)),
                    wrap(int64_t{high(b)} << (high(a) & 15)));
      },
      [](auto a, auto b, auto) {
        return join(wrap(s(low(b)) >> (low(a) & 15)), wrap(s(high(b)) >> (high(a) & 15)));
      },
      [](auto a, auto b, auto c) {
        const double exact = half(low(a)) * half(high(b)) + static_cast<double>(number(c));
        return std::bit_cast<uint32_t>(static_cast<float>(exact));
      },
      [](auto a, auto b, auto c) {
        const auto fused = static_cast<float>(half(low(a)) * -half(low(b)) + std::fabs(number(c)));
        return join(float_to_half(fused), high(c));
      },
      [](auto a, auto b, auto c) {
        const auto fused = static_cast<float>(half(high(a)) * half(low(b)) + 1.0);
        return join(low(c), float_to_half(fused));
      },
      [](auto a, auto b, auto c) {
        const double exact = -half(low(a)) * half(low(b)) + half(high(a)) * half(high(b));
        return std::bit_cast<uint32_t>(static_cast<float>(exact + static_cast<double>(number(c))));
      },
      [](auto a, auto b, auto c) {
        return static_cast<uint32_t>(dot(a, b, 8, true) + static_cast<int32_t>(c));
      },
      [](auto a, auto b, auto c) {
        return static_cast<uint32_t>(dot(a, b, 4, true) + static_cast<int32_t>(c));
      },
      [](auto a, auto b, auto c) {
        return static_cast<uint32_t>(
            std::min<int64_t>(dot(a, b, 8, false) + int64_t{c}, 0xffffffff));
      },
      [](auto a, auto, auto) { return halves(half(low(a)) * 2, half(high(a)) * 2); },
      [](auto a, auto, auto) { return join(wrap(low(a) + 5), wrap(high(a) + 5)); },
  };
  return cases;
}

/// Words whose halves are moderate half floats and whose whole is a moderate float.
std::vector<uint32_t> sources(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> out;
  for (size_t i = 0; i < count; ++i) {
    const auto part = [&] {
      return static_cast<uint16_t>((random() & 0x83ff) | (0x3400 + (random() % 4) * 0x400));
    };
    const uint16_t l = part(), h = part();
    out.push_back(join(l, h));
  }
  return out;
}

constexpr unsigned kLanes = 64;

}  // namespace

TEST_CASE("packed and dot instructions with modifiers") {
  auto in = sources(3 * kLanes, 21);
  in[2 * kLanes] = 0xfffffff0u;  // for saturation of the last addend
  for (const char* arch : {"gfx90a", "gfx942", "gfx1100", "gfx1151", "gfx1201"}) {
    const std::string name = arch;
    CAPTURE(name);
    ProbeDevice device(name, "assembly_" + name, name.rfind("gfx9", 0) == 0);
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint32_t>(packed_cases().size() * kLanes));
    device.launch("packed", 1, kLanes, to, from);
    const auto got = device.download<uint32_t>(to, packed_cases().size() * kLanes);
    for (size_t k = 0; k < packed_cases().size(); ++k) {
      CAPTURE(k);
      unsigned wrong = 0;
      for (size_t i = 0; i < kLanes; ++i) {
        const bool is_float = k == 3 || k == 10 || k == 11 || k == 13;
        if (i == 0 && is_float) continue;  // c of lane 0 is a NaN
        const uint32_t expected = packed_cases()[k](in[i], in[kLanes + i], in[2 * kLanes + i]);
        wrong += got[k * kLanes + i] != expected;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("packed single precision") {
  std::mt19937 random(22);
  std::uniform_real_distribution<float> uniform(-3.0f, 3.0f);
  std::vector<float> in(3 * 2 * kLanes);
  for (float& value : in) value = uniform(random);
  for (const char* arch : {"gfx90a", "gfx942"}) {
    const std::string name = arch;
    CAPTURE(name);
    ProbeDevice device(name, "assembly_" + name, true);
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<float>(5 * 2 * kLanes));
    device.launch("pairs", 1, kLanes, to, from);
    const auto got = device.download<float>(to, 5 * 2 * kLanes);
    unsigned wrong = 0;
    for (size_t i = 0; i < kLanes; ++i) {
      const float* a = &in[2 * i];
      const float* b = &in[2 * (kLanes + i)];
      const float* c = &in[2 * (2 * kLanes + i)];
      const float expected[5][2] = {
          {std::fmaf(a[0], b[0], c[0]), std::fmaf(a[1], b[1], c[1])},
          {-a[1] * b[0], a[0] * b[1]},
          {a[0] + b[0], a[1] - b[1]},
          {a[1], b[0]},
          {a[0] * 4, a[1] * 4},
      };
      for (size_t k = 0; k < 5; ++k) {
        for (size_t h = 0; h < 2; ++h) wrong += got[2 * (k * kLanes + i) + h] != expected[k][h];
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("halves of a VOPD pair read before either writes") {
  const auto in = sources(3 * kLanes, 23);
  for (const char* arch : {"gfx1100", "gfx1151", "gfx1201"}) {
    const std::string name = arch;
    CAPTURE(name);
    ProbeDevice device(name, "assembly_" + name, false);
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint32_t>(8 * kLanes));
    device.launch("dual", 1, kLanes, to, from);
    const auto got = device.download<uint32_t>(to, 8 * kLanes);
    unsigned wrong = 0;
    for (size_t i = 0; i < kLanes; ++i) {
      const uint32_t a = in[i], b = in[kLanes + i], c = in[2 * kLanes + i];
      const uint32_t expected[8] = {b, a, b + c, a, b, c << 3, a < b ? b : a, c & 0xff00ffu};
      for (size_t k = 0; k < 8; ++k) wrong += got[k * kLanes + i] != expected[k];
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("row permutes with lanes turned off") {
  auto in = sources(2 * kLanes, 24);
  for (size_t i = 0; i < kLanes; ++i) in[kLanes + i] = i % 3 == 0 ? 1 : 0;  // off
  for (const char* arch : {"gfx1100", "gfx1201"}) {
    const std::string name = arch;
    CAPTURE(name);
    ProbeDevice device(name, "assembly_" + name, false);
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint32_t>(3 * kLanes));
    device.launch("permute", 1, kLanes, to, from);
    const auto got = device.download<uint32_t>(to, 3 * kLanes);
    unsigned wrong = 0;
    for (size_t i = 0; i < kLanes; ++i) {
      const bool off = i % 3 == 0;
      // Lane j of a row reads lane 15 - j, which low and high list from lane 0 up.
      const size_t own = (i & ~size_t{15}) + 15 - i % 16, other = own ^ 16;
      const auto readable = [](size_t lane) { return lane % 3 != 0; };
      wrong += got[i] != (off ? 7 : readable(own) ? in[own] : 7);
      wrong += got[kLanes + i] != (off ? 7 : readable(other) ? in[other] : 0);
      wrong += got[2 * kLanes + i] != (off ? 7 : in[own]);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("floating point in the scalar unit") {
  const float a = 2.5f, b = -1.75f, c = 10.0f;
  const std::vector<float> in = {a, b, c};
  for (const char* arch : {"gfx1151", "gfx1201"}) {
    const std::string name = arch;
    CAPTURE(name);
    ProbeDevice device(name, "assembly_" + name, false);
    const auto from = device.upload(in);
    const auto to = device.upload(std::vector<uint32_t>(9));
    device.launch("scalar", 1, 1, to, from);
    const auto got = device.download<uint32_t>(to, 9);
    CHECK(number(got[0]) == a + b);
    CHECK(number(got[1]) == a * b + c);
    CHECK(got[2] == 0);       // both have a zero lower half
    CHECK(got[3] == 0x3800);  // 0 + 0.5
    CHECK(got[4] == 2);
    CHECK(got[5] == 22);
    CHECK(got[6] == 22);
    CHECK(number(got[7]) == 2.0f);
    CHECK(got[8] == join(float_to_half(a), float_to_half(b)));
  }
}
