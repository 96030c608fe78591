// The table of matrix instructions: the one place that says what each of them multiplies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hipplan::emulator {

/// Type of one matrix element. fp8 and bf8 are the OCP formats on gfx950 and gfx12, the FNUZ
/// formats (one zero, NaN 0x80, bias one higher) on gfx942. fp6, bf6 and fp4 are E2M3, E3M2, E2M1.
enum class Element : uint8_t { f16, bf16, f32, xf32, f64, i8, i4, fp8, bf8, fp6, bf6, fp4 };

/// Bits that an element takes in a register.
[[nodiscard]] constexpr unsigned element_bits(Element element) {
  switch (element) {
    case Element::f64:
      return 64;
    case Element::f32:
    case Element::xf32:
      return 32;
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::fp6:
    case Element::bf6:
      return 6;
    case Element::i4:
    case Element::fp4:
      return 4;
    default:
      return 8;
  }
}

enum class Accumulator : uint8_t { f32, f64, i32, f16, bf16 };

/// D(m x n) = A(m x k) * B(k x n) + C, `blocks` times.
struct MatrixShape {
  std::string_view name;         ///< as gfx908 and gfx90a print it
  std::string_view second_name;  ///< as gfx942 and later print it; may be empty
  uint8_t m = 0, n = 0, k = 0, blocks = 1;
  Element a{}, b{};
  Accumulator c{};

  [[nodiscard]] constexpr uint64_t flops() const { return uint64_t{2} * m * n * k * blocks; }
};

/// MFMA of gfx90a, gfx942 and gfx950.
std::span<const MatrixShape> mfma_shapes();
/// SMFMAC of gfx942 and gfx950: A has two of each four k, so that half of the products are made.
std::span<const MatrixShape> smfmac_shapes();
/// MFMA of gfx950 whose operands' formats are modifiers: `a` and `b` stand for any of eight bits or
/// fewer.
std::span<const MatrixShape> f8f6f4_shapes();
/// WMMA of gfx11 and gfx12.
std::span<const MatrixShape> wmma_shapes();
/// SWMMAC of gfx12: A has two of each four k.
std::span<const MatrixShape> swmmac_shapes();

}  // namespace hipplan::emulator
