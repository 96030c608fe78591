#include "device/emulator/matrix_elements.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/float_types.h"

namespace hipplan::emulator {
namespace {

/// The FNUZ formats: exponent bias one higher than the OCP formats', 0x80 is NaN, no infinities.
float widen_fnuz(uint8_t bits, int mantissa_bits, int bias) {
  if (bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  const int magnitude = bits & 0x7f;
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  const int significand = exponent == 0 ? mantissa : mantissa | 1 << mantissa_bits;
  const int scale = (exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
  const float value = std::ldexp(static_cast<float>(significand), scale);
  return (bits & 0x80) != 0 ? -value : value;
}

}  // namespace

float widen_fp8(uint8_t bits, Element element, Fp8Format format) {
  if (format == Fp8Format::ocp) {
    return element == Element::fp8 ? fp8_e4m3_to_float(bits) : fp8_e5m2_to_float(bits);
  }
  return element == Element::fp8 ? widen_fnuz(bits, 3, 8) : widen_fnuz(bits, 2, 16);
}

float widen_small(unsigned code, Element element) {
  const int exponent_bits = element == Element::bf6 ? 3 : 2;
  const int mantissa_bits = element == Element::fp6 ? 3 : element == Element::bf6 ? 2 : 1;
  const int bias = element == Element::bf6 ? 3 : 1;
  const auto magnitude = static_cast<int>(code & ((1u << (exponent_bits + mantissa_bits)) - 1u));
  const int exponent = magnitude >> mantissa_bits;
  const int mantissa = magnitude & ((1 << mantissa_bits) - 1);
  const int significand = exponent == 0 ? mantissa : mantissa | 1 << mantissa_bits;
  const int scale = (exponent == 0 ? 1 : exponent) - bias - mantissa_bits;
  const float value = std::ldexp(static_cast<float>(significand), scale);
  return ((code >> (exponent_bits + mantissa_bits)) & 1u) != 0 ? -value : value;
}

std::span<const float, 256> small_float_table(Element element, Fp8Format format) {
  using Table = std::array<float, 256>;
  static const auto tables = [] {
    std::array<std::array<Table, 5>, 2> all{};
    for (unsigned f = 0; f < 2; ++f)
      for (unsigned e = 0; e < 5; ++e)
        for (unsigned code = 0; code < 256; ++code) {
          const auto which = static_cast<Element>(static_cast<unsigned>(Element::fp8) + e);
          all[f][e][code] =
              e < 2 ? widen_fp8(static_cast<uint8_t>(code), which, static_cast<Fp8Format>(f))
                    : widen_small(code, which);
        }
    return all;
  }();
  return tables[static_cast<unsigned>(format)]
               [static_cast<unsigned>(element) - static_cast<unsigned>(Element::fp8)];
}

void ElementReader::line(unsigned item, unsigned lane, unsigned count, float* out) const {
  const unsigned bits = element_bits(element);
  const uint32_t* in = rows[item * bits / 32].lane + lane;
  const unsigned shift = item * bits % 32;
  switch (element) {
    case Element::f16:
      for (unsigned i = 0; i < count; ++i) {
        out[i] = widen(Half{static_cast<uint16_t>(in[i] >> shift)});
      }
      return;
    case Element::bf16:
      for (unsigned i = 0; i < count; ++i) {
        out[i] = widen(BFloat{static_cast<uint16_t>(in[i] >> shift)});
      }
      return;
    case Element::xf32:
      for (unsigned i = 0; i < count; ++i) out[i] = round_xf32(std::bit_cast<float>(in[i]));
      return;
    case Element::fp8:
    case Element::bf8: {
      const auto table = small_float_table(element, fp8);
      for (unsigned i = 0; i < count; ++i) out[i] = table[(in[i] >> shift) & 255u];
      return;
    }
    default:
      for (unsigned i = 0; i < count; ++i) out[i] = std::bit_cast<float>(in[i]);
  }
}

void ElementReader::line(unsigned item, unsigned lane, unsigned count, double* out) const {
  for (unsigned i = 0; i < count; ++i) {
    if (element == Element::f64) {
      const uint64_t low = rows[2 * item].lane[lane + i], high = rows[2 * item + 1].lane[lane + i];
      out[i] = std::bit_cast<double>(low | high << 32);
    } else {
      out[i] = std::bit_cast<float>(rows[item].lane[lane + i]);
    }
  }
}

void ElementReader::line(unsigned item, unsigned lane, unsigned count, int32_t* out) const {
  const unsigned bits = element_bits(element);
  const uint32_t* in = rows[item * bits / 32].lane + lane;
  const unsigned left = 32 - bits - item * bits % 32, right = 32 - bits;
  if (is_signed) {
    for (unsigned i = 0; i < count; ++i) out[i] = static_cast<int32_t>(in[i] << left) >> right;
  } else {
    for (unsigned i = 0; i < count; ++i) out[i] = static_cast<int32_t>((in[i] << left) >> right);
  }
}

}  // namespace hipplan::emulator
