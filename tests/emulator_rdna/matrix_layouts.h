// Where elements lie in registers, written from the instruction set documents' tables, element by
// element, for comparison with the emulator's row-wise code.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "base/float_types.h"
#include "device/emulator/matrix.h"

namespace hipplan::test {

using emulator::Accumulator;
using emulator::Element;
using emulator::MatrixShape;
using emulator::WmmaLayout;

/// Lane and element number (of that lane) of one matrix element.
struct Spot {
  unsigned lane, item;
};

inline Spot mfma_input(const MatrixShape& s, unsigned size, unsigned index, unsigned k,
                       unsigned b) {
  const unsigned per_lane = s.k * s.blocks * size / 64;
  return {index + size * (b + s.blocks * (k / per_lane)), k % per_lane};
}

inline Spot mfma_output(const MatrixShape& s, unsigned i, unsigned j, unsigned b) {
  if (s.c == Accumulator::f64) {
    if (s.m == 4) return {j + 16 * b + 4 * i, 0};  // 4x4, 4 blocks
    return {j + 16 * (i % 4), i / 4};              // 16x16
  }
  if (s.m == 32) return {j + 32 * (i / 4 % 2), i % 4 + 4 * (i / 8) + 16 * b};
  if (s.m == 16) return {j + 16 * (i / 4), i % 4 + 4 * b};
  return {j + 4 * b, i};
}

/// Lanes of 64; registers of 32 bits. Elements are packed from the low bits up.
struct Registers {
  explicit Registers(unsigned count) : rows(count) {
    for (auto& row : rows) {
      for (auto& lane : row.lane) lane = 0xdeadbeef;
    }
  }
  void put(Spot at, unsigned bits, uint64_t value) {
    const unsigned first = at.item * bits;
    if (bits == 64) {
      rows[first / 32].lane[at.lane] = static_cast<uint32_t>(value);
      rows[first / 32 + 1].lane[at.lane] = static_cast<uint32_t>(value >> 32);
      return;
    }
    uint32_t& word = rows[first / 32].lane[at.lane];
    const uint32_t mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
    word = (word & ~(mask << first % 32)) | static_cast<uint32_t>(value & mask) << first % 32;
  }
  [[nodiscard]] uint64_t get(Spot at, unsigned bits) const {
    const unsigned first = at.item * bits;
    const uint64_t low = rows[first / 32].lane[at.lane];
    if (bits == 64) return low | static_cast<uint64_t>(rows[first / 32 + 1].lane[at.lane]) << 32;
    const uint32_t mask = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
    return (low >> first % 32) & mask;
  }
  std::vector<emulator::Row> rows;
};

/// Bits of a small whole number as an element.
inline uint64_t encode(Element e, int value, bool fnuz) {
  const auto real = static_cast<float>(value);
  switch (e) {
    case Element::f16:
      return float_to_half(real);
    case Element::bf16:
      return float_to_bfloat16(real);
    case Element::f32:
    case Element::xf32:
      return std::bit_cast<uint32_t>(real);
    case Element::f64:
      return std::bit_cast<uint64_t>(static_cast<double>(real));
    // The FNUZ formats have twice the bias step: the same bits mean half the value.
    case Element::fp8:
      return float_to_fp8_e4m3(fnuz ? real * 2 : real);
    case Element::bf8:
      return float_to_fp8_e5m2(fnuz ? real * 2 : real);
    default:
      return static_cast<uint64_t>(value);
  }
}

inline uint64_t encode_sum(Accumulator c, int value) {
  switch (c) {
    case Accumulator::f64:
      return std::bit_cast<uint64_t>(static_cast<double>(value));
    case Accumulator::f32:
      return std::bit_cast<uint32_t>(static_cast<float>(value));
    case Accumulator::f16:
      return float_to_half(static_cast<float>(value));
    case Accumulator::bf16:
      return float_to_bfloat16(static_cast<float>(value));
    case Accumulator::i32:
      break;
  }
  return static_cast<uint32_t>(value);
}
inline unsigned sum_bits(Accumulator c) {
  if (c == Accumulator::f64) return 64;
  return c == Accumulator::f16 || c == Accumulator::bf16 ? 16 : 32;
}

/// Small whole numbers: every product and sum is exact in each type.
struct Problem {
  Problem(const MatrixShape& s, unsigned seed) : shape(s) {
    std::mt19937 random(seed);
    const auto fill = [&](std::vector<int>& to, size_t size) {
      to.resize(size);
      for (int& value : to) value = static_cast<int>(random() % 7) - 3;
    };
    fill(a, size_t{s.blocks} * s.m * s.k);
    fill(b, size_t{s.blocks} * s.k * s.n);
    fill(c, size_t{s.blocks} * s.m * s.n);
  }
  [[nodiscard]] int at_a(unsigned i, unsigned k, unsigned block) const {
    return a[(size_t{block} * shape.m + i) * shape.k + k];
  }
  [[nodiscard]] int at_b(unsigned k, unsigned j, unsigned block) const {
    return b[(size_t{block} * shape.k + k) * shape.n + j];
  }
  [[nodiscard]] int at_c(unsigned i, unsigned j, unsigned block) const {
    return c[(size_t{block} * shape.m + i) * shape.n + j];
  }
  /// C + A*B, with A of block `a_block`.
  [[nodiscard]] int expected(unsigned i, unsigned j, unsigned block, unsigned a_block) const {
    int sum = at_c(i, j, block);
    for (unsigned k = 0; k < shape.k; ++k) sum += at_a(i, k, a_block) * at_b(k, j, block);
    return sum;
  }
  const MatrixShape& shape;
  std::vector<int> a, b, c;
};

/// Calls body(i, j, block) for every output.
template <class Body>
void each_output(const MatrixShape& s, const Body& body) {
  for (unsigned block = 0; block < s.blocks; ++block) {
    for (unsigned i = 0; i < s.m; ++i) {
      for (unsigned j = 0; j < s.n; ++j) body(i, j, block);
    }
  }
}

inline void place_mfma(const Problem& p, bool fnuz, Registers& a, Registers& b, Registers& c) {
  const MatrixShape& s = p.shape;
  for (unsigned block = 0; block < s.blocks; ++block) {
    for (unsigned k = 0; k < s.k; ++k) {
      for (unsigned i = 0; i < s.m; ++i) {
        a.put(mfma_input(s, s.m, i, k, block), element_bits(s.a),
              encode(s.a, p.at_a(i, k, block), fnuz));
      }
      for (unsigned j = 0; j < s.n; ++j) {
        b.put(mfma_input(s, s.n, j, k, block), element_bits(s.b),
              encode(s.b, p.at_b(k, j, block), fnuz));
      }
    }
  }
  each_output(s, [&](unsigned i, unsigned j, unsigned block) {
    c.put(mfma_output(s, i, j, block), sum_bits(s.c), encode_sum(s.c, p.at_c(i, j, block)));
  });
}

/// Position of element (i, j) of a 16x16 C or D.
inline Spot wmma_output(Accumulator c, WmmaLayout layout, unsigned i, unsigned j, bool high) {
  const bool half = sum_bits(c) == 16;
  switch (layout) {
    case WmmaLayout::gfx11_wave32:
      return {j + 16 * (i % 2), half ? i / 2 * 2 + (high ? 1u : 0u) : i / 2};
    case WmmaLayout::gfx11_wave64:
      return {j + 16 * (i % 4), half ? i / 4 * 2 + (high ? 1u : 0u) : i / 4};
    case WmmaLayout::gfx12_wave64:
      return {j + 16 * (i / 8) + 32 * (i / 4 % 2), i % 4};
    case WmmaLayout::gfx12_wave32:
      break;
  }
  return {j + 16 * (i / 8), i % 8};
}

inline void place_wmma(const Problem& p, WmmaLayout layout, bool high, Registers& a, Registers& b,
                       Registers& c) {
  const MatrixShape& s = p.shape;
  const bool gfx12 = layout == WmmaLayout::gfx12_wave32;
  for (unsigned k = 0; k < s.k; ++k) {
    for (unsigned x = 0; x < 16; ++x) {
      const auto put = [&](Registers& to, Element e, int value) {
        if (gfx12) {
          to.put({x + 16 * (k / (s.k / 2u)), k % (s.k / 2u)}, element_bits(e),
                 encode(e, value, false));
        } else {
          for (unsigned copy = 0; copy < 64; copy += 16) {
            to.put({x + copy, k}, element_bits(e), encode(e, value, false));
          }
        }
      };
      put(a, s.a, p.at_a(x, k, 0));
      put(b, s.b, p.at_b(k, x, 0));
    }
  }
  each_output(s, [&](unsigned i, unsigned j, unsigned) {
    c.put(wmma_output(s.c, layout, i, j, high), sum_bits(s.c), encode_sum(s.c, p.at_c(i, j, 0)));
  });
}

}  // namespace hipplan::test
