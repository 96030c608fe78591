#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "device/emulator/matrix.h"

namespace hipplan::emulator {
namespace {

constexpr unsigned kSize = 16;       // rows of A, columns of B
constexpr unsigned kMostDepth = 64;  // k

bool is_16bit(Accumulator c) {
  return c == Accumulator::f16 || c == Accumulator::bf16;
}

/// First lane, register and half of row i of C and D.
struct AccumulatorPlace {
  unsigned row, lane, shift;
};
AccumulatorPlace accumulator_place(Accumulator c, const WmmaOperands& operands, unsigned i) {
  switch (operands.layout) {
    case WmmaLayout::gfx11_wave32:
      return {i / 2, kSize * (i % 2), operands.high_half ? 16u : 0u};
    case WmmaLayout::gfx11_wave64:
      return {i / 4, kSize * (i % 4), operands.high_half ? 16u : 0u};
    case WmmaLayout::gfx12_wave64: {
      const unsigned lane = kSize * (i / 8) + 2 * kSize * (i / 4 % 2);
      if (is_16bit(c)) return {i % 4 / 2, lane, 16 * (i % 2)};
      return {i % 4, lane, 0};
    }
    case WmmaLayout::gfx12_wave32:
      break;
  }
  if (is_16bit(c)) return {i % 8 / 2, kSize * (i / 8), 16 * (i % 2)};
  return {i % 8, kSize * (i / 8), 0};
}

bool is_gfx12(WmmaLayout layout) {
  return layout == WmmaLayout::gfx12_wave32 || layout == WmmaLayout::gfx12_wave64;
}

/// A or B: element (k, index) at k * 16 + index. `stored` is how many elements of a row are kept.
template <class Work>
void gather(const ElementReader& reader, const WmmaOperands& operands, unsigned depth,
            unsigned stored, Work* out) {
  const unsigned groups = is_gfx12(operands.layout)
                              ? wmma_split(operands.layout, stored * element_bits(reader.element))
                              : 1;
  const unsigned per_lane = depth / groups;
  for (unsigned k = 0; k < depth; ++k) {
    const unsigned group = k / per_lane;
    const unsigned lane =
        groups == 4 ? kSize * (group / 2) + 2 * kSize * (group % 2) : kSize * group;
    reader.line(k % per_lane, lane, kSize, out + k * kSize);
  }
}

/// Signs of A or B: neg_lo for even k, neg_hi for odd k.
void negate(const WmmaOperands& operands, unsigned source, unsigned depth, float* values) {
  for (unsigned k = 0; k < depth; ++k) {
    const unsigned bits = k % 2 == 0 ? operands.neg_lo : operands.neg_hi;
    if (((bits >> source) & 1) == 0) continue;
    for (unsigned i = 0; i < kSize; ++i) values[k * kSize + i] = -values[k * kSize + i];
  }
}

float read_float(Accumulator c, uint32_t bits) {
  if (c == Accumulator::f16) return widen(Half{static_cast<uint16_t>(bits)});
  if (c == Accumulator::bf16) return widen(BFloat{static_cast<uint16_t>(bits)});
  return std::bit_cast<float>(bits);
}

uint32_t float_bits(Accumulator c, float value) {
  if (c == Accumulator::f16) return narrow_half(value).bits;
  if (c == Accumulator::bf16) return narrow_bfloat(value).bits;
  return std::bit_cast<uint32_t>(value);
}

uint32_t read_bits(const WmmaOperands& operands, const AccumulatorPlace& at, unsigned j) {
  if (operands.c == nullptr) return static_cast<uint32_t>(operands.constant);
  return operands.c[at.row].lane[at.lane + j] >> at.shift;
}

/// C's own modifiers: neg_hi is |C|, neg_lo is -C, in this order.
float modified(const WmmaOperands& operands, float c) {
  if ((operands.neg_hi & 4) != 0) c = c < 0 ? -c : c;
  return (operands.neg_lo & 4) != 0 ? -c : c;
}

using Tile = std::array<std::array<uint32_t, kSize>, kSize>;

Tile multiply_floats(const MatrixShape& shape, const WmmaOperands& operands) {
  std::array<float, kMostDepth * kSize> a, b;
  const unsigned depth = shape.k;
  gather(ElementReader{operands.a, shape.a}, operands, depth, operands.sparse ? depth / 2 : depth,
         a.data());
  gather(ElementReader{operands.b, shape.b}, operands, depth, depth, b.data());
  negate(operands, 0, depth, a.data());
  negate(operands, 1, depth, b.data());
  Tile out;
  for (unsigned i = 0; i < kSize; ++i) {
    const AccumulatorPlace at = accumulator_place(shape.c, operands, i);
    std::array<float, kSize> sum;
    for (unsigned j = 0; j < kSize; ++j) {
      sum[j] = modified(operands, read_float(shape.c, read_bits(operands, at, j)));
    }
    for (unsigned k = 0; k < depth; ++k) {
      for (unsigned j = 0; j < kSize; ++j) sum[j] += a[k * kSize + i] * b[k * kSize + j];
    }
    for (unsigned j = 0; j < kSize; ++j) out[i][j] = float_bits(shape.c, sum[j]);
  }
  return out;
}

Tile multiply_integers(const MatrixShape& shape, const WmmaOperands& operands) {
  std::array<int32_t, kMostDepth * kSize> a, b;
  const unsigned depth = shape.k;
  ElementReader a_reader{operands.a, shape.a}, b_reader{operands.b, shape.b};
  a_reader.is_signed = (operands.neg_lo & 1) != 0;
  b_reader.is_signed = (operands.neg_lo & 2) != 0;
  gather(a_reader, operands, depth, operands.sparse ? depth / 2 : depth, a.data());
  gather(b_reader, operands, depth, depth, b.data());
  constexpr int64_t kLow = std::numeric_limits<int32_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int32_t>::max();
  Tile out;
  for (unsigned i = 0; i < kSize; ++i) {
    const AccumulatorPlace at = accumulator_place(shape.c, operands, i);
    for (unsigned j = 0; j < kSize; ++j) {
      int64_t sum = static_cast<int32_t>(read_bits(operands, at, j));
      for (unsigned k = 0; k < depth; ++k) sum += int64_t{a[k * kSize + i]} * b[k * kSize + j];
      if (operands.clamp) sum = std::clamp(sum, kLow, kHigh);
      out[i][j] = static_cast<uint32_t>(sum);
    }
  }
  return out;
}

}  // namespace

RegisterCounts wmma_registers(const MatrixShape& shape, WmmaLayout layout) {
  const bool gfx12 = is_gfx12(layout);
  const auto inputs = [&](Element element) {
    const unsigned bits = shape.k * element_bits(element);
    return std::max(1u, bits / 32 / (gfx12 ? wmma_split(layout, bits) : 1u));
  };
  const bool wide = layout == WmmaLayout::gfx11_wave64 || layout == WmmaLayout::gfx12_wave64;
  const unsigned full = wide ? 4 : 8;
  return {inputs(shape.a), inputs(shape.b), gfx12 && is_16bit(shape.c) ? full / 2 : full};
}

void run_wmma(const MatrixShape& shape, const WmmaOperands& operands) {
  const Tile tile = shape.c == Accumulator::i32 ? multiply_integers(shape, operands)
                                                : multiply_floats(shape, operands);
  for (unsigned i = 0; i < kSize; ++i) {
    const AccumulatorPlace at = accumulator_place(shape.c, operands, i);
    uint32_t* row = operands.d[at.row].lane + at.lane;
    const uint32_t keep = is_16bit(shape.c) ? ~(0xffffu << at.shift) : 0;
    for (unsigned j = 0; j < kSize; ++j) row[j] = (row[j] & keep) | tile[i][j] << at.shift;
  }
}

}  // namespace hipplan::emulator
