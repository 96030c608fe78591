// ISA documents, "Vector Memory Buffer Instructions" and "Buffer Resource Descriptor".
#include "device/emulator/buffer_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "device/emulator/numbers.h"

namespace hipplan::emulator {
namespace {

using enum NumberFormat;

struct DataFormat {
  std::string_view name;
  uint8_t bits[4];
};
/// By the code of gfx9. Names begin with the highest bits, which are the last component's.
constexpr DataFormat kDataFormats[] = {
    {"INVALID", {}},
    {"8", {8}},
    {"16", {16}},
    {"8_8", {8, 8}},
    {"32", {32}},
    {"16_16", {16, 16}},
    {"10_11_11", {11, 11, 10}},
    {"11_11_10", {10, 11, 11}},
    {"10_10_10_2", {2, 10, 10, 10}},
    {"2_10_10_10", {10, 10, 10, 2}},
    {"8_8_8_8", {8, 8, 8, 8}},
    {"32_32", {32, 32}},
    {"16_16_16_16", {16, 16, 16, 16}},
    {"32_32_32", {32, 32, 32}},
    {"32_32_32_32", {32, 32, 32, 32}},
    {"RESERVED_15", {}},
};
constexpr std::string_view kNumberNames[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                             "UINT",  "SINT",  "RESERVED_6", "FLOAT"};

/// Formats of gfx11 and gfx12: data formats (codes of gfx9), each with these numbers, in order.
struct UnifiedRun {
  uint8_t data;
  uint8_t numbers;  ///< bit n: NumberFormat n
};
constexpr uint8_t kInteger = 0x30, kNormal = 0x03, kSmall = 0x3f, kFloat = 0x80;
constexpr UnifiedRun kUnified[] = {
    {1, kSmall},
    {2, kSmall | kFloat},
    {3, kSmall},
    {4, kInteger | kFloat},
    {5, kSmall | kFloat},
    {6, kFloat},
    {7, kFloat},
    {8, kNormal | kInteger},
    {9, kSmall},
    {10, kSmall},
    {11, kInteger | kFloat},
    {12, kSmall | kFloat},
    {13, kInteger | kFloat},
    {14, kInteger | kFloat},
};

bool number_exists(const DataFormat& data, unsigned number) {
  const unsigned width = data.bits[0];
  const bool tens = data.bits[3] != 0 && width % 8 != 0;
  if (number == 6) return false;
  if (number == 7) return width != 8 && !tens;
  return width != 32 || number >= 4;
}

BufferFormat make_format(const DataFormat& data, unsigned number) {
  BufferFormat format;
  if (!number_exists(data, number)) return format;
  std::copy(std::begin(data.bits), std::end(data.bits), format.bits);
  format.number = static_cast<NumberFormat>(number);
  return format;
}

uint32_t ones(unsigned bits) {
  return bits >= 32 ? ~0u : (1u << bits) - 1u;
}
int32_t sign_extended(uint32_t raw, unsigned bits) {
  return static_cast<int32_t>(raw << (32 - bits)) >> (32 - bits);
}

/// Unsigned floats of 11 and 10 bits: five of exponent, bias 15.
double unsigned_float(uint32_t raw, unsigned bits) {
  const unsigned mantissa = bits - 5;
  const auto exponent = static_cast<int>(raw >> mantissa);
  const uint32_t fraction = raw & ones(mantissa);
  if (exponent == 31) return fraction != 0 ? NAN : INFINITY;
  if (exponent == 0) return std::ldexp(fraction, -14 - static_cast<int>(mantissa));
  return std::ldexp(fraction + (1u << mantissa), exponent - 15 - static_cast<int>(mantissa));
}
uint32_t to_unsigned_float(double value, unsigned bits) {
  const unsigned mantissa = bits - 5;
  const uint32_t infinity = 31u << mantissa;
  if (std::isnan(value)) return infinity | 1u << (mantissa - 1);
  if (value <= 0) return 0;
  if (std::isinf(value)) return infinity;
  const int exponent = std::max(std::ilogb(value), -14);
  const double steps = std::nearbyint(std::ldexp(value, static_cast<int>(mantissa) - exponent));
  // A rounded-up fraction carries into the exponent by itself.
  const double code = steps + (exponent + 14) * static_cast<double>(1u << mantissa);
  return code >= infinity ? infinity : static_cast<uint32_t>(code);
}

/// Components that become floats; exact but for UNORM and SNORM, which are rounded to double.
double component_value(NumberFormat number, unsigned bits, uint32_t raw) {
  switch (number) {
    case unorm:
      return raw / static_cast<double>(ones(bits));
    case snorm:
      return std::max(-1.0, sign_extended(raw, bits) / static_cast<double>(ones(bits - 1)));
    case uscaled:
      return raw;
    case sscaled:
      return sign_extended(raw, bits);
    default:
      if (bits == 16) return static_cast<double>(widen(Half{static_cast<uint16_t>(raw)}));
      return bits == 32 ? static_cast<double>(std::bit_cast<float>(raw))
                        : unsigned_float(raw, bits);
  }
}
uint32_t component_of(NumberFormat number, unsigned bits, double value) {
  const double top = ones(bits), signed_top = ones(bits - 1);
  const double kept = std::isnan(value) ? 0 : value;
  switch (number) {
    case unorm:
      return static_cast<uint32_t>(std::nearbyint(std::clamp(kept, 0.0, 1.0) * top));
    case snorm:
      return static_cast<uint32_t>(
                 static_cast<int64_t>(std::nearbyint(std::clamp(kept, -1.0, 1.0) * signed_top))) &
             ones(bits);
    case uscaled:
      return static_cast<uint32_t>(std::trunc(std::clamp(kept, 0.0, top)));
    case sscaled:
      return static_cast<uint32_t>(
                 static_cast<int64_t>(std::trunc(std::clamp(kept, -signed_top - 1, signed_top)))) &
             ones(bits);
    default:
      return bits == 16 ? narrow_half(value).bits : to_unsigned_float(value, bits);
  }
}
uint32_t saturated(NumberFormat number, unsigned bits, int64_t value) {
  if (number == uint) return static_cast<uint32_t>(std::min<int64_t>(value, ones(bits)));
  const int64_t top = ones(bits - 1);
  return static_cast<uint32_t>(std::clamp<int64_t>(value, -top - 1, top)) & ones(bits);
}

unsigned first_bit(const BufferFormat& format, unsigned which) {
  unsigned at = 0;
  for (unsigned i = 0; i < which; ++i) at += format.bits[i];
  return at;
}

template <size_t N, class Name>
std::optional<unsigned> find_name(std::string_view wanted, Name&& name) {
  for (unsigned i = 0; i < N; ++i)
    if (name(i) == wanted) return i;
  return std::nullopt;
}
std::optional<unsigned> data_code(std::string_view name) {
  return find_name<std::size(kDataFormats)>(name, [](unsigned i) { return kDataFormats[i].name; });
}
std::optional<unsigned> number_code(std::string_view name) {
  return find_name<std::size(kNumberNames)>(name, [](unsigned i) { return kNumberNames[i]; });
}

/// "BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SINT"; what is not printed is 8 or UNORM.
std::optional<BufferFormat> separate_names(std::string_view text) {
  constexpr std::string_view kData = "BUF_DATA_FORMAT_", kNumber = "BUF_NUM_FORMAT_";
  unsigned data = 1, number = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    const bool is_data = part.starts_with(kData);
    if (!is_data && !part.starts_with(kNumber)) return std::nullopt;
    const auto code =
        is_data ? data_code(part.substr(kData.size())) : number_code(part.substr(kNumber.size()));
    if (!code) return std::nullopt;
    (is_data ? data : number) = *code;
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return separate_format(data, number);
}

}  // namespace

unsigned BufferFormat::components() const {
  return static_cast<unsigned>(
      std::count_if(std::begin(bits), std::end(bits), [](uint8_t width) { return width != 0; }));
}
unsigned BufferFormat::bytes() const {
  return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u;
}
unsigned BufferFormat::bytes_to(unsigned last) const {
  return packed() ? bytes() : (first_bit(*this, last) + bits[last]) / 8u;
}

BufferFormat separate_format(unsigned data, unsigned number) {
  return make_format(kDataFormats[data & 15u], number & 7u);
}
BufferFormat unified_format(unsigned code) {
  unsigned next = 1;
  for (const UnifiedRun& run : kUnified)
    for (unsigned number = 0; number < 8; ++number)
      if (((run.numbers >> number) & 1u) != 0 && next++ == code)
        return make_format(kDataFormats[run.data], number);
  return {};
}
std::optional<BufferFormat> named_format(std::string_view name) {
  constexpr std::string_view kUnifiedName = "BUF_FMT_";
  if (!name.starts_with(kUnifiedName)) return separate_names(name);
  name.remove_prefix(kUnifiedName.size());
  if (name == "INVALID") return BufferFormat{};
  const size_t last = name.rfind('_');
  if (last == std::string_view::npos) return std::nullopt;
  const auto data = data_code(name.substr(0, last)), number = number_code(name.substr(last + 1));
  if (!data || !number) return std::nullopt;
  return make_format(kDataFormats[*data], *number);
}

uint32_t read_component(const BufferFormat& format, const std::byte* from, unsigned which) {
  const unsigned at = first_bit(format, which);
  uint32_t raw = 0;
  if (!format.packed()) {
    std::memcpy(&raw, from + at / 8, format.bits[which] / 8u);
    return raw;
  }
  std::memcpy(&raw, from, 4);
  return (raw >> at) & ones(format.bits[which]);
}
void write_component(const BufferFormat& format, unsigned which, uint32_t raw, uint32_t* element) {
  const unsigned at = first_bit(format, which);
  element[at / 32] |= raw << (at % 32);
}

uint32_t widen_component(NumberFormat number, unsigned bits, uint32_t raw) {
  if (number == uint || (number == floating && bits == 32)) return raw;
  if (number == sint) return static_cast<uint32_t>(sign_extended(raw, bits));
  return std::bit_cast<uint32_t>(static_cast<float>(component_value(number, bits, raw)));
}
uint16_t halve_component(NumberFormat number, unsigned bits, uint32_t raw) {
  if (number == uint) return static_cast<uint16_t>(raw);
  if (number == sint) return static_cast<uint16_t>(sign_extended(raw, bits));
  if (number == floating && bits == 16) return static_cast<uint16_t>(raw);
  return narrow_half(component_value(number, bits, raw)).bits;
}
uint32_t narrow_component(NumberFormat number, unsigned bits, uint32_t value) {
  if (number == floating && bits == 32) return value;
  if (number == uint) return saturated(number, bits, value);
  if (number == sint) return saturated(number, bits, static_cast<int32_t>(value));
  return component_of(number, bits, static_cast<double>(std::bit_cast<float>(value)));
}
uint32_t narrow_half_component(NumberFormat number, unsigned bits, uint16_t value) {
  if (number == uint) return saturated(number, bits, value);
  if (number == sint) return saturated(number, bits, static_cast<int16_t>(value));
  if (number == floating && bits == 16) return value;
  const float wide = widen(Half{value});
  return bits == 32 ? std::bit_cast<uint32_t>(wide)
                    : component_of(number, bits, static_cast<double>(wide));
}

}  // namespace hipplan::emulator
