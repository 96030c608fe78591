#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/float_types.h"

using namespace hipplan;

namespace {

/// A binary format by its definition: sign, exponent and mantissa bits, bias; not how base does it.
struct Format {
  int exponent_bits, mantissa_bits;
  bool has_infinity;
};

double value_of(const Format& f, unsigned code) {
  const unsigned exponents = 1u << f.exponent_bits, mantissas = 1u << f.mantissa_bits;
  const double sign = (code / (exponents * mantissas)) % 2 == 0 ? 1 : -1;
  const unsigned exponent = code / mantissas % exponents, mantissa = code % mantissas;
  const int bias = static_cast<int>(exponents) / 2 - 1;
  if (exponent == exponents - 1 && f.has_infinity) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == exponents - 1 && mantissa == mantissas - 1) return NAN;
  const double fraction = static_cast<double>(mantissa) / mantissas;
  if (exponent == 0) return sign * fraction * std::pow(2.0, 1 - bias);
  return sign * (1 + fraction) * std::pow(2.0, static_cast<int>(exponent) - bias);
}

template <class Decode>
void decodes_every_code(const Format& f, unsigned codes, const Decode& decode) {
  unsigned wrong = 0;
  for (unsigned code = 0; code < codes; ++code) {
    const double expected = value_of(f, code), got = static_cast<double>(decode(code));
    const bool same = std::isnan(expected)
                          ? std::isnan(got)
                          : got == expected && std::signbit(got) == std::signbit(expected);
    if (!same) ++wrong;
  }
  CHECK(wrong == 0);
}

/// Every code comes back; between two neighbours the nearer one, in the middle the even one.
template <class Decode, class Encode>
void encodes_to_nearest(const Format& f, unsigned codes, const Decode& decode,
                        const Encode& encode) {
  unsigned wrong = 0;
  const auto expect = [&](double value, unsigned code) {
    if (encode(value) != code || encode(-value) != (code | codes / 2)) ++wrong;
  };
  for (unsigned code = 0; code < codes / 2; ++code) {
    const double here = value_of(f, code), next = value_of(f, code + 1);
    if (std::isnan(here)) {
      if (!std::isnan(static_cast<double>(decode(encode(here))))) ++wrong;
      continue;
    }
    expect(here, code);
    if (!std::isfinite(here) || !std::isfinite(next)) continue;
    const double middle = here + (next - here) / 2;
    expect(middle, code % 2 == 0 ? code : code + 1);
    expect(std::nextafter(middle, here), code);
    expect(std::nextafter(middle, next), code + 1);
  }
  CHECK(wrong == 0);
}

constexpr Format kHalf{5, 10, true}, kBfloat16{8, 7, true}, kE4m3{4, 3, false}, kE5m2{5, 2, true};

}  // namespace

TEST_CASE("half: every code, and rounding at every border") {
  const auto decode = [](unsigned c) { return half_to_float(static_cast<uint16_t>(c)); };
  decodes_every_code(kHalf, 65536, decode);
  encodes_to_nearest(kHalf, 65536, decode, [](double v) { return unsigned{double_to_half(v)}; });
  CHECK(double_to_half(65519.99) == 0x7bff);
  CHECK(double_to_half(65520) == 0x7c00);
  CHECK(float_to_half(-1e30f) == 0xfc00);
  CHECK(float_to_half(0x1p-25f) == 0);
  CHECK(float_to_half(0x1.000002p-25f) == 1);
}

TEST_CASE("bfloat16: every code, and rounding at every border") {
  const auto decode = [](unsigned c) { return bfloat16_to_float(static_cast<uint16_t>(c)); };
  decodes_every_code(kBfloat16, 65536, decode);
  encodes_to_nearest(kBfloat16, 65536, decode,
                     [](double v) { return unsigned{double_to_bfloat16(v)}; });
  unsigned wrong = 0;
  for (uint64_t bits = 0; bits < 0x100000000ull; bits += 40503) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(value)) continue;
    if (float_to_bfloat16(value) != double_to_bfloat16(value)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(std::isnan(bfloat16_to_float(float_to_bfloat16(std::bit_cast<float>(0x7f800001u)))));
  CHECK(float_to_bfloat16(0x1.fffffep127f) == 0x7f80);
}

TEST_CASE("double rounding is not what double_to_half does") {
  const double value = 1 + 0x1p-11 + 0x1p-30;  // in float exactly the middle
  CHECK(double_to_half(value) == 0x3c01);
  CHECK(float_to_half(static_cast<float>(value)) == 0x3c00);
}

TEST_CASE("8-bit formats: every code, rounding, and what happens beyond the largest number") {
  const auto e4m3 = [](unsigned c) { return fp8_e4m3_to_float(static_cast<uint8_t>(c)); };
  const auto e5m2 = [](unsigned c) { return fp8_e5m2_to_float(static_cast<uint8_t>(c)); };
  decodes_every_code(kE4m3, 256, e4m3);
  decodes_every_code(kE5m2, 256, e5m2);
  // The values tried here are exact in float.
  const auto exact = [](auto encode) {
    return [encode](double v) { return unsigned{encode(static_cast<float>(v))}; };
  };
  for (unsigned code = 0; code < 256; ++code) {
    const float a = e4m3(code), b = e5m2(code);
    if (!std::isnan(a)) CHECK(exact(float_to_fp8_e4m3)(a) == code);
    if (!std::isnan(b)) CHECK(exact(float_to_fp8_e5m2)(b) == code);
  }
  CHECK(float_to_fp8_e4m3(448) == 0x7e);
  CHECK(float_to_fp8_e4m3(1e9f) == 0x7e);
  CHECK(float_to_fp8_e4m3(-INFINITY) == 0xfe);
  CHECK((float_to_fp8_e4m3(NAN) & 0x7f) == 0x7f);
  CHECK(float_to_fp8_e5m2(57344) == 0x7b);
  CHECK(float_to_fp8_e5m2(61439.99f) == 0x7b);
  CHECK(float_to_fp8_e5m2(61440) == 0x7c);
  CHECK(float_to_fp8_e4m3(1.0625f) == 0x38);  // middle of 1 and 1.125, to even
  CHECK(float_to_fp8_e4m3(1.1875f) == 0x3a);
  CHECK(float_to_fp8_e4m3(0x1p-10f) == 0);
  CHECK(float_to_fp8_e4m3(0x1.8p-10f) == 1);
}

TEST_CASE("E8M0 is a power of two") {
  CHECK(fp8_e8m0_to_float(127) == 1);
  CHECK(fp8_e8m0_to_float(0) == 0x1p-127f);
  CHECK(fp8_e8m0_to_float(254) == 0x1p127f);
  CHECK(std::isnan(fp8_e8m0_to_float(255)));
}
