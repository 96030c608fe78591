// Buffer formats by their definitions, written down apart from the emulator's tables.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "device/device.h"

namespace hipplan::test {

/// "10_11_11" and the kind of number; widths from the highest bits down, as in AMD's names.
struct Format {
  std::vector<int> widths;  ///< X first
  std::string number;
  unsigned code = 0;  ///< of the resource: unified, or data | number << 4
  [[nodiscard]] size_t bytes() const {
    int bits = 0;
    for (const int w : widths) bits += w;
    return static_cast<size_t>(bits) / 8;
  }
};

inline std::vector<int> widths_of(std::string name) {
  std::vector<int> widths;
  for (size_t at = 0; at < name.size(); at = name.find('_', at) + 1) {
    widths.insert(widths.begin(), std::atoi(name.c_str() + at));
    if (name.find('_', at) == std::string::npos) break;
  }
  return widths;
}

inline constexpr const char* kUnified =
    "INVALID 8_UNORM 8_SNORM 8_USCALED 8_SSCALED 8_UINT 8_SINT 16_UNORM 16_SNORM 16_USCALED "
    "16_SSCALED 16_UINT 16_SINT 16_FLOAT 8_8_UNORM 8_8_SNORM 8_8_USCALED 8_8_SSCALED 8_8_UINT "
    "8_8_SINT 32_UINT 32_SINT 32_FLOAT 16_16_UNORM 16_16_SNORM 16_16_USCALED 16_16_SSCALED "
    "16_16_UINT 16_16_SINT 16_16_FLOAT 10_11_11_FLOAT 11_11_10_FLOAT 10_10_10_2_UNORM "
    "10_10_10_2_SNORM 10_10_10_2_UINT 10_10_10_2_SINT 2_10_10_10_UNORM 2_10_10_10_SNORM "
    "2_10_10_10_USCALED 2_10_10_10_SSCALED 2_10_10_10_UINT 2_10_10_10_SINT 8_8_8_8_UNORM "
    "8_8_8_8_SNORM 8_8_8_8_USCALED 8_8_8_8_SSCALED 8_8_8_8_UINT 8_8_8_8_SINT 32_32_UINT "
    "32_32_SINT 32_32_FLOAT 16_16_16_16_UNORM 16_16_16_16_SNORM 16_16_16_16_USCALED "
    "16_16_16_16_SSCALED 16_16_16_16_UINT 16_16_16_16_SINT 16_16_16_16_FLOAT 32_32_32_UINT "
    "32_32_32_SINT 32_32_32_FLOAT 32_32_32_32_UINT 32_32_32_32_SINT 32_32_32_32_FLOAT";

inline std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text)
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

inline std::vector<Format> unified_formats() {
  std::vector<Format> formats;
  unsigned code = 0;
  for (const auto& name : words_of(kUnified)) {
    Format format;
    format.code = code++;
    const size_t last = name.rfind('_');
    if (last != std::string::npos) {
      format.widths = widths_of(name.substr(0, last));
      format.number = name.substr(last + 1);
    }
    formats.push_back(format);
  }
  return formats;
}
inline std::vector<Format> separate_formats() {
  const auto data = words_of(
      "INVALID 8 16 8_8 32 16_16 10_11_11 11_11_10 10_10_10_2 2_10_10_10 8_8_8_8 32_32 16_16_16_16 "
      "32_32_32 32_32_32_32 INVALID");
  const auto numbers = words_of("UNORM SNORM USCALED SSCALED UINT SINT NONE FLOAT");
  std::vector<Format> formats;
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned d = 0; d < 16; ++d) {
      Format format;
      format.code = d | n << 4;
      const bool tens = data[d].find("10_10") != std::string::npos;
      const bool integer = n == 4 || n == 5;
      const bool wide = data[d].rfind("32", 0) == 0, bytes = data[d].rfind('8', 0) == 0;
      const bool floats = n == 7 && !bytes && !tens;
      if (data[d] != "INVALID" && n != 6 && (n == 7 ? floats : integer || !wide)) {
        format.widths = widths_of(data[d]);
        format.number = numbers[n];
      }
      formats.push_back(format);
    }
  return formats;
}
inline std::vector<Format> formats_of(const std::string& arch) {
  return arch.rfind("gfx9", 0) == 0 ? separate_formats() : unified_formats();
}

/// A float of 5 exponent bits and `mantissa` bits.
inline double five_bit_float(uint32_t code, int mantissa) {
  const auto exponent = static_cast<int>(code >> mantissa & 31u);
  const auto fraction = static_cast<int>(code & ((1u << mantissa) - 1));
  if (exponent == 31) return fraction == 0 ? INFINITY : NAN;
  const double implied = exponent == 0 ? 0.0 : 1.0;
  return (implied + std::ldexp(fraction, -mantissa)) * std::ldexp(1.0, std::max(exponent, 1) - 15);
}
inline double float_value(uint32_t raw, int width) {
  if (width == 32) {
    float f;
    std::memcpy(&f, &raw, 4);
    return static_cast<double>(f);
  }
  const double magnitude =
      five_bit_float(width == 16 ? raw & 0x7fffu : raw, width == 16 ? 10 : width - 5);
  return width == 16 && (raw & 0x8000u) != 0 ? -magnitude : magnitude;
}
inline int64_t signed_of(uint32_t raw, int width) {
  const auto value = static_cast<int64_t>(raw);
  return (value >> (width - 1) & 1) != 0 ? value - (int64_t{1} << width) : value;
}
/// What a component means where it is no integer.
inline double meaning(const std::string& number, int width, uint32_t raw) {
  const double top = std::ldexp(1.0, width) - 1, half = std::ldexp(1.0, width - 1) - 1;
  if (number == "UNORM") return raw / top;
  if (number == "SNORM") return std::max(-1.0, static_cast<double>(signed_of(raw, width)) / half);
  if (number == "USCALED") return raw;
  if (number == "SSCALED") return static_cast<double>(signed_of(raw, width));
  return float_value(raw, width);
}
/// Nearest of the codes 0 to `last` of a rising function, an even one of two.
template <class F>
inline uint32_t nearest_code(double x, uint32_t last, F&& value) {
  uint32_t low = 0, high = last;
  if (!(x > value(0u))) return 0;
  if (x >= value(last)) return last;
  while (high - low > 1) (value((low + high) / 2) <= x ? low : high) = (low + high) / 2;
  const double below = x - value(low), above = value(high) - x;
  if (below != above) return below < above ? low : high;
  return low % 2 == 0 ? low : high;
}
/// The half nearest to `x`; half a step beyond the greatest and more is infinity.
inline uint32_t half_code(double x) {
  const uint32_t sign = std::signbit(x) ? 0x8000u : 0u;
  if (std::isnan(x)) return 0x7e00u | sign;
  const double magnitude = std::fabs(x);
  if (magnitude >= 65520) return 0x7c00u | sign;
  return sign |
         nearest_code(magnitude, 0x7bff, [](uint32_t code) { return five_bit_float(code, 10); });
}
inline uint32_t small_float_code(double x, int width) {
  const int mantissa = width - 5;
  const uint32_t infinity = 31u << mantissa;
  const double greatest = five_bit_float(infinity - 1, mantissa);
  const double step = greatest - five_bit_float(infinity - 2, mantissa);
  if (std::isnan(x)) return infinity | 1u << (mantissa - 1);
  if (x >= greatest + step / 2) return infinity;
  return nearest_code(x, infinity - 1,
                      [=](uint32_t code) { return five_bit_float(code, mantissa); });
}
/// What a store of `x` leaves, `x` no integer.
inline uint32_t code_of(const std::string& number, int width, double x) {
  const double top = std::ldexp(1.0, width) - 1, half = std::ldexp(1.0, width - 1) - 1;
  const auto mask = static_cast<uint32_t>(top);
  if (number == "FLOAT") {
    if (width == 16) return half_code(x);
    return small_float_code(x, width);
  }
  if (std::isnan(x)) return 0;
  double whole = 0;
  if (number == "UNORM") whole = std::nearbyint(std::min(std::max(x, 0.0), 1.0) * top);
  if (number == "SNORM") whole = std::nearbyint(std::min(std::max(x, -1.0), 1.0) * half);
  if (number == "USCALED") whole = std::floor(std::min(std::max(x, 0.0), top));
  if (number == "SSCALED") whole = std::trunc(std::min(std::max(x, -half - 1), half));
  return static_cast<uint32_t>(static_cast<int64_t>(whole)) & mask;
}
inline uint32_t integer_code(const std::string& number, int width, uint32_t bits, int bits_width) {
  const int64_t value = number == "UINT" ? int64_t{bits} : signed_of(bits, bits_width);
  const int64_t low = number == "UINT" ? 0 : -(int64_t{1} << (width - 1));
  const int64_t high = (int64_t{1} << (number == "UINT" ? width : width - 1)) - 1;
  const auto mask = static_cast<uint32_t>((uint64_t{1} << width) - 1);
  return static_cast<uint32_t>(std::min(std::max(value, low), high)) & mask;
}
inline bool is_integer(const Format& f) {
  return f.number == "UINT" || f.number == "SINT";
}

inline uint32_t component(const Format& f, const uint8_t* element, size_t which) {
  size_t at = 0;
  for (size_t i = 0; i < which; ++i) at += static_cast<size_t>(f.widths[i]);
  uint32_t raw = 0;
  for (size_t b = 0; b < static_cast<size_t>(f.widths[which]); ++b)
    raw |= static_cast<uint32_t>(element[(at + b) / 8] >> ((at + b) % 8) & 1) << b;
  return raw;
}
inline uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}

/// A register after loading: `select` as in the resource; `width` 32 or 16 bits.
inline uint32_t loaded(const Format& f, const uint8_t* element, unsigned select, int width) {
  if (f.widths.empty()) return 0;
  if (select == 1) return is_integer(f) ? 1 : (width == 16 ? 0x3c00u : 0x3f800000u);
  if (select < 4 || select - 4 >= f.widths.size()) return 0;
  const int w = f.widths[select - 4];
  const uint32_t raw = component(f, element, select - 4), mask = width == 16 ? 0xffffu : ~0u;
  if (f.number == "UINT") return raw & mask;
  if (f.number == "SINT") return static_cast<uint32_t>(signed_of(raw, w)) & mask;
  const double value = meaning(f.number, w, raw);
  if (width == 16) return half_code(value);
  return w == 32 ? raw : bits_of(static_cast<float>(value));
}
inline bool same_value(uint32_t got, uint32_t want, bool integer, int width) {
  if (got == want) return true;
  const auto is_nan = [=](uint32_t x) {
    return width == 16 ? (x & 0x7fffu) > 0x7c00u : (x & 0x7fffffffu) > 0x7f800000u;
  };
  return !integer && is_nan(got) && is_nan(want);
}

inline constexpr uint32_t kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
struct Resource {
  uint32_t words[4];
};
inline Resource resource(const std::string& arch, device::Address base, const Format& f,
                         uint32_t stride, uint32_t records, uint32_t select = kIdentity) {
  const bool gfx9 = arch.rfind("gfx9", 0) == 0;
  const uint32_t format = gfx9 ? (f.code >> 4) << 12 | (f.code & 15u) << 15 : f.code << 12;
  return {{static_cast<uint32_t>(base), static_cast<uint32_t>(base >> 32) | stride << 16, records,
           select | format}};
}

/// Elements of 16 bytes for 32 lanes: patterns that are edges of every width, then noise.
inline std::vector<uint8_t> memory_of() {
  std::vector<uint8_t> bytes(32 * 16 + 16);
  uint32_t seed = 99;
  for (auto& byte : bytes) {
    seed = seed * 1664525 + 1013904223;
    byte = static_cast<uint8_t>(seed >> 24);
  }
  const uint32_t patterns[] = {0,           0xffffffffu, 0x80000000u, 0x7fffffffu, 0x80008000u,
                               0x7fff7fffu, 0x80808080u, 0x7f7f7f7fu, 0x7c007c00u, 0xfc00fc01u,
                               0x00010001u, 0x83ff03ffu, 0x7f800000u, 0x7f800001u, 0x00000001u,
                               0x80000001u, 0x3f800000u, 0xbf800000u, 0x01010101u, 0x20080200u};
  for (size_t lane = 0; lane < std::size(patterns); ++lane)
    for (size_t word = 0; word < 4; ++word)
      std::memcpy(bytes.data() + lane * 16 + word * 4, &patterns[lane], 4);
  return bytes;
}
inline std::vector<float> values_of() {
  const float edges[] = {
      0.0f,      -0.0f,    1.0f,     -1.0f,         0.5f,          -0.5f,          INFINITY,
      -INFINITY, NAN,      1e-40f,   -1e-40f,       1e30f,         -1e30f,         2.0f,
      255.0f,    256.0f,   65504.0f, 65519.9f,      65520.0f,      6e-8f,          2.9e-8f,
      -3.7f,     127.9f,   -128.9f,  0.5f / 255.0f, 1.5f / 255.0f, 0.5f / 1023.0f, 2.5f / 32767.0f,
      64512.0f,  65024.0f, 1e-5f,    3.05e-5f};
  std::vector<float> values(32 * 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = edges[(i * 5 + i / 32) % 32];
  return values;
}
inline std::vector<float> integers_of() {
  const uint32_t edges[] = {0,           1,           127,         128,         255,
                            256,         32767,       32768,       65535,       65536,
                            0x7fffffffu, 0x80000000u, 0xffffffffu, 0xffffff80u, 0xffffff7fu,
                            0xffff8000u, 0xffff7fffu, 511,         512,         1023,
                            1024,        3,           4,           0xfffffffeu, 0xfffffdffu};
  std::vector<float> values(32 * 4);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(&values[i], &edges[(i * 7) % 25], 4);
  return values;
}

}  // namespace hipplan::test
