#include "reference/element.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_types.h"
#include "base/parallel.h"

namespace hipplan::reference {
namespace {

using graph::DataType;

/// A binary format of p significant bits, smallest normal 2^emin, largest finite value given.
constexpr TypeFacts floating(int p, double min_normal, double largest, bool nan, bool infinity) {
  double u = 1;
  for (int i = 0; i < p; ++i) u /= 2;
  return {.integer = false,
          .has_nan = nan,
          .has_infinity = infinity,
          .unit_roundoff = u,
          .half_tiny = min_normal * u,
          .min_normal = min_normal,
          .lowest = -largest,
          .largest = largest};
}
constexpr TypeFacts whole(double lowest, double largest) {
  return {.integer = true, .lowest = lowest, .largest = largest};
}

constexpr TypeFacts kUnset{};
constexpr TypeFacts kFloat = floating(24, 0x1p-126, 0x1.fffffep127, true, true);
constexpr TypeFacts kHalf = floating(11, 0x1p-14, 65504, true, true);
constexpr TypeFacts kBfloat16 = floating(8, 0x1p-126, 0x1.fep127, true, true);
constexpr TypeFacts kDouble = floating(53, std::numeric_limits<double>::min(),
                                       std::numeric_limits<double>::max(), true, true);
constexpr TypeFacts kE4m3 = floating(4, 0x1p-6, 448, true, false);
constexpr TypeFacts kE5m2 = floating(3, 0x1p-14, 57344, true, true);
constexpr TypeFacts kE2m1 = floating(2, 1, 6, false, false);
constexpr TypeFacts kE2m3 = floating(4, 1, 7.5, false, false);
constexpr TypeFacts kE3m2 = floating(3, 0.25, 28, false, false);
/// A power of two: rounding can miss by half of the value (1.5 becomes 1 or 2).
constexpr TypeFacts kE8m0{.has_nan = true,
                          .unit_roundoff = 0.5,
                          .half_tiny = 0x1p-127,
                          .min_normal = 0x1p-127,
                          .lowest = 0x1p-127,
                          .largest = 0x1p127};
constexpr TypeFacts kInt64 = whole(-0x1p63, 0x1p63);
constexpr TypeFacts kInt32 = whole(-0x1p31, 0x1p31 - 1);
constexpr TypeFacts kInt8 = whole(-128, 127);
constexpr TypeFacts kUint8 = whole(0, 255);
constexpr TypeFacts kInt4 = whole(-8, 7);
constexpr TypeFacts kBool = whole(0, 1);

/// Values of a small format by code, without its sign bit: exponent bits, mantissa bits, bias.
template <int E, int M, int Bias>
std::array<double, (1u << (E + M))> magnitudes() {
  std::array<double, (1u << (E + M))> out{};
  for (unsigned code = 0; code < out.size(); ++code) {
    const int exponent = static_cast<int>(code >> M);
    const unsigned mantissa = code & ((1u << M) - 1);
    out[code] = exponent == 0 ? std::ldexp(mantissa, 1 - Bias - M)
                              : std::ldexp(mantissa + (1u << M), exponent - Bias - M);
  }
  return out;
}
const auto& e2m1() {
  static const auto table = magnitudes<2, 1, 1>();
  return table;
}
const auto& e2m3() {
  static const auto table = magnitudes<2, 3, 1>();
  return table;
}
const auto& e3m2() {
  static const auto table = magnitudes<3, 2, 3>();
  return table;
}

/// Nearest code of a small format, ties to the even code, saturating. NaN gives the largest.
template <class Table>
unsigned nearest_code(const Table& table, double value) {
  const unsigned sign = std::signbit(value) ? static_cast<unsigned>(table.size()) : 0u;
  const double magnitude = std::fabs(value);
  if (!(magnitude < table.back())) return sign | static_cast<unsigned>(table.size() - 1);
  const auto above = static_cast<unsigned>(std::upper_bound(table.begin(), table.end(), magnitude) -
                                           table.begin());
  const unsigned below = above - 1;
  const double to_below = magnitude - table[below], to_above = table[above] - magnitude;
  const bool up = to_above < to_below || (to_above == to_below && (above & 1u) == 0);
  return sign | (up ? above : below);
}
template <class Table>
double small_value(const Table& table, unsigned code) {
  const double magnitude = table[code & (table.size() - 1)];
  return (code & table.size()) != 0 ? -magnitude : magnitude;
}

unsigned load_bits(const std::byte* bytes, int64_t index, unsigned width) {
  const auto bit = static_cast<uint64_t>(index) * width;
  unsigned word = static_cast<unsigned>(bytes[bit / 8]);
  if (bit % 8 + width > 8) word |= static_cast<unsigned>(bytes[bit / 8 + 1]) << 8;
  return (word >> (bit % 8)) & ((1u << width) - 1);
}
void store_bits(std::byte* bytes, int64_t index, unsigned width, unsigned code) {
  const auto bit = static_cast<uint64_t>(index) * width;
  const unsigned mask = ((1u << width) - 1) << (bit % 8), word = code << (bit % 8);
  const auto merge = [&](std::byte& at, unsigned m, unsigned w) {
    at = static_cast<std::byte>((static_cast<unsigned>(at) & ~m & 0xffu) | (w & m & 0xffu));
  };
  merge(bytes[bit / 8], mask, word);
  if (bit % 8 + width > 8) merge(bytes[bit / 8 + 1], mask >> 8, word >> 8);
}

const std::array<double, 256>& fp8_table(DataType type) {
  const auto make = [](float (*convert)(uint8_t)) {
    std::array<double, 256> out{};
    for (unsigned i = 0; i < 256; ++i) out[i] = convert(static_cast<uint8_t>(i));
    return out;
  };
  static const auto e4m3 = make(fp8_e4m3_to_float), e5m2 = make(fp8_e5m2_to_float),
                    e8m0 = make(fp8_e8m0_to_float);
  if (type == DataType::fp8_e4m3) return e4m3;
  return type == DataType::fp8_e5m2 ? e5m2 : e8m0;
}

uint8_t to_e8m0(double value) {
  if (std::isnan(value)) return 0xff;
  if (!(value > 0x1p-127)) return 0;
  if (value >= 0x1p127) return 254;
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);  // value = fraction * 2^exponent, [0.5, 1)
  if (fraction < 0.75) --exponent;
  return static_cast<uint8_t>(std::min(exponent + 127, 254));
}

double to_whole(double value, const TypeFacts& range) {
  if (std::isnan(value)) return 0;
  return std::clamp(std::trunc(value), range.lowest, range.largest);
}
int64_t to_int64(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  return value <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(value);
}

template <class T, class Convert>
void read_all(const std::byte* bytes, int64_t first, int64_t stride, int64_t count, double* out,
              const Convert& convert) {
  const std::byte* at = bytes + first * static_cast<int64_t>(sizeof(T));
  const int64_t step = stride * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i, at += step) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    out[i] = static_cast<double>(convert(value));
  }
}
template <class T, class Convert>
void write_all(std::byte* bytes, int64_t first, int64_t stride, int64_t count, const double* from,
               const Convert& convert) {
  std::byte* at = bytes + first * static_cast<int64_t>(sizeof(T));
  const int64_t step = stride * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i, at += step) {
    const T value = convert(from[i]);
    std::memcpy(at, &value, sizeof(T));
  }
}

double small_decode(DataType type, unsigned code) {
  switch (type) {
    case DataType::fp4_e2m1:
      return small_value(e2m1(), code);
    case DataType::fp6_e2m3:
      return small_value(e2m3(), code);
    case DataType::fp6_e3m2:
      return small_value(e3m2(), code);
    default:
      return code >= 8 ? static_cast<double>(code) - 16 : static_cast<double>(code);
  }
}
unsigned small_encode(DataType type, double value) {
  switch (type) {
    case DataType::fp4_e2m1:
      return nearest_code(e2m1(), value);
    case DataType::fp6_e2m3:
      return nearest_code(e2m3(), value);
    case DataType::fp6_e3m2:
      return nearest_code(e3m2(), value);
    default:
      return static_cast<unsigned>(static_cast<int>(to_whole(value, kInt4))) & 15u;
  }
}

/// Whether a nonzero value needs no rounding: within range and no bits below the last place.
bool representable(const TypeFacts& f, double value) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return true;
  if (!(magnitude >= f.min_normal && magnitude <= f.largest)) return false;
  const int dropped = 52 + std::ilogb(f.unit_roundoff) + 1;  // mantissa bits below the last place
  return (std::bit_cast<uint64_t>(value) & ((uint64_t{1} << dropped) - 1)) == 0;
}

}  // namespace

const TypeFacts& facts(DataType type) {
  switch (type) {
    case DataType::unset:
      return kUnset;
    case DataType::float32:
      return kFloat;
    case DataType::half:
      return kHalf;
    case DataType::bfloat16:
      return kBfloat16;
    case DataType::float64:
      return kDouble;
    case DataType::uint8:
      return kUint8;
    case DataType::int32:
      return kInt32;
    case DataType::int8:
      return kInt8;
    case DataType::fp8_e4m3:
      return kE4m3;
    case DataType::fp8_e5m2:
      return kE5m2;
    case DataType::fp8_e8m0:
      return kE8m0;
    case DataType::fp4_e2m1:
      return kE2m1;
    case DataType::int4:
      return kInt4;
    case DataType::fp6_e2m3:
      return kE2m3;
    case DataType::fp6_e3m2:
      return kE3m2;
    case DataType::int64:
      return kInt64;
    case DataType::boolean:
      return kBool;
  }
  return kUnset;
}

void decode(DataType type, const std::byte* bytes, int64_t first, int64_t stride, int64_t count,
            double* out) {
  const auto same = [](auto v) { return v; };
  switch (type) {
    case DataType::unset:
      std::fill_n(out, count, 0.0);
      return;
    case DataType::float32:
      return read_all<float>(bytes, first, stride, count, out, same);
    case DataType::half:
      return read_all<uint16_t>(bytes, first, stride, count, out, half_to_float);
    case DataType::bfloat16:
      return read_all<uint16_t>(bytes, first, stride, count, out, bfloat16_to_float);
    case DataType::float64:
      return read_all<double>(bytes, first, stride, count, out, same);
    case DataType::uint8:
      return read_all<uint8_t>(bytes, first, stride, count, out, same);
    case DataType::int32:
      return read_all<int32_t>(bytes, first, stride, count, out, same);
    case DataType::int8:
      return read_all<int8_t>(bytes, first, stride, count, out, same);
    case DataType::int64:
      return read_all<int64_t>(bytes, first, stride, count, out, same);
    case DataType::boolean:
      return read_all<uint8_t>(bytes, first, stride, count, out,
                               [](uint8_t v) { return v != 0 ? 1.0 : 0.0; });
    case DataType::fp8_e4m3:
    case DataType::fp8_e5m2:
    case DataType::fp8_e8m0: {
      const auto& table = fp8_table(type);
      return read_all<uint8_t>(bytes, first, stride, count, out,
                               [&](uint8_t v) { return table[v]; });
    }
    case DataType::fp4_e2m1:
    case DataType::int4:
    case DataType::fp6_e2m3:
    case DataType::fp6_e3m2:
      for (int64_t i = 0; i < count; ++i)
        out[i] = small_decode(type, load_bits(bytes, first + i * stride, graph::bits_of(type)));
      return;
  }
}

void encode(DataType type, std::byte* bytes, int64_t first, int64_t stride, int64_t count,
            const double* from) {
  const auto into = [&](auto zero, const auto& convert) {
    write_all<decltype(zero)>(bytes, first, stride, count, from, convert);
  };
  switch (type) {
    case DataType::unset:
      return;
    case DataType::float32:
      return into(float{}, [](double v) { return static_cast<float>(v); });
    case DataType::half:
      return into(uint16_t{}, double_to_half);
    case DataType::bfloat16:
      return into(uint16_t{}, double_to_bfloat16);
    case DataType::float64:
      return into(double{}, [](double v) { return v; });
    case DataType::uint8:
      return into(uint8_t{}, [](double v) { return static_cast<uint8_t>(to_whole(v, kUint8)); });
    case DataType::int32:
      return into(int32_t{}, [](double v) { return static_cast<int32_t>(to_whole(v, kInt32)); });
    case DataType::int8:
      return into(int8_t{}, [](double v) { return static_cast<int8_t>(to_whole(v, kInt8)); });
    case DataType::int64:
      return into(int64_t{}, to_int64);
    case DataType::boolean:
      return into(uint8_t{}, [](double v) { return static_cast<uint8_t>(v != 0); });
    case DataType::fp8_e4m3:
      return into(uint8_t{}, [](double v) { return float_to_fp8_e4m3(round_to_odd(v)); });
    case DataType::fp8_e5m2:
      return into(uint8_t{}, [](double v) { return float_to_fp8_e5m2(round_to_odd(v)); });
    case DataType::fp8_e8m0:
      return into(uint8_t{}, to_e8m0);
    case DataType::fp4_e2m1:
    case DataType::int4:
    case DataType::fp6_e2m3:
    case DataType::fp6_e3m2:
      for (int64_t i = 0; i < count; ++i)
        store_bits(bytes, first + i * stride, graph::bits_of(type), small_encode(type, from[i]));
      return;
  }
}

float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest) || std::isnan(value))
    return nearest;
  const auto bits = std::bit_cast<uint32_t>(nearest);
  if ((bits & 1u) != 0) return nearest;
  const bool too_far = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>(too_far ? bits - 1 : bits + 1);
}

double rounded(DataType type, double value) {
  if (type == DataType::float32) return static_cast<double>(static_cast<float>(value));
  std::array<std::byte, 8> place{};
  encode(type, place.data(), 0, 1, 1, &value);
  decode(type, place.data(), 0, 1, 1, &value);
  return value;
}

double store_error(DataType type, double value, double error) {
  const TypeFacts& f = facts(type);
  if (!std::isfinite(value)) return 0;
  if (f.integer) return error == 0 && std::trunc(value) == value ? 0 : 1;
  if (error == 0 && representable(f, value)) return 0;
  return std::max(f.unit_roundoff * (std::fabs(value) + error), f.half_tiny);
}

RowShape row_shape(const graph::Tensor& tensor) {
  RowShape out;
  if (tensor.dims.empty()) return out;
  for (size_t i = 0; i + 1 < tensor.dims.size(); ++i) out.rows *= tensor.dims[i];
  out.length = tensor.dims.back();
  out.stride = tensor.strides.back();
  return out;
}

int64_t row_offset(const graph::Tensor& tensor, int64_t row) {
  int64_t offset = 0;
  for (size_t i = tensor.dims.size(); i-- > 0;) {
    if (i + 1 == tensor.dims.size()) continue;
    offset += row % tensor.dims[i] * tensor.strides[i];
    row /= tensor.dims[i];
  }
  return offset;
}

namespace {
/// Rows that one piece of parallel work takes.
int64_t rows_a_piece(const RowShape& shape) {
  return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, shape.length));
}
template <class Row>
void for_each_row(const graph::Tensor& tensor, unsigned jobs, const Row& row) {
  const RowShape shape = row_shape(tensor);
  const int64_t step = rows_a_piece(shape), pieces = (shape.rows + step - 1) / step;
  parallel_for(static_cast<size_t>(pieces), jobs, [&](size_t piece) {
    const int64_t begin = static_cast<int64_t>(piece) * step;
    for (int64_t r = begin; r < std::min(begin + step, shape.rows); ++r)
      row(row_offset(tensor, r), r * shape.length, shape);
  });
}
}  // namespace

std::vector<double> unpack(const graph::Tensor& tensor, const std::byte* bytes, unsigned jobs) {
  std::vector<double> out(static_cast<size_t>(tensor.element_count()));
  for_each_row(tensor, jobs, [&](int64_t offset, int64_t position, const RowShape& shape) {
    decode(tensor.type, bytes, offset, shape.stride, shape.length, out.data() + position);
  });
  return out;
}

void pack(const graph::Tensor& tensor, const std::vector<double>& values, std::byte* bytes,
          unsigned jobs) {
  const bool whole_bytes = graph::bits_of(tensor.type) % 8 == 0;
  for_each_row(
      tensor, whole_bytes ? jobs : 1, [&](int64_t offset, int64_t position, const RowShape& shape) {
        encode(tensor.type, bytes, offset, shape.stride, shape.length, values.data() + position);
      });
}

}  // namespace hipplan::reference
