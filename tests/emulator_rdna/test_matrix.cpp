#include <bit>
#include <string>

#include <doctest/doctest.h>

#include "matrix_layouts.h"

using namespace hipplan;
using namespace hipplan::emulator;
using namespace hipplan::test;

namespace {

const MatrixShape& find(std::span<const MatrixShape> shapes, std::string_view name) {
  for (const MatrixShape& shape : shapes) {
    if (shape.name == name || shape.second_name == name) return shape;
  }
  FAIL("no shape " << name);
  return shapes[0];
}

/// Runs an MFMA over a problem and counts wrong outputs.
unsigned wrong_outputs(const Problem& p, MfmaOperands operands, unsigned (*a_block)(unsigned)) {
  const MatrixShape& s = p.shape;
  const RegisterCounts counts = mfma_registers(s);
  Registers a(counts.a), b(counts.b), c(counts.c), d(counts.c);
  place_mfma(p, operands.fp8 == Fp8Format::fnuz, a, b, c);
  operands.a = a.rows.data();
  operands.b = b.rows.data();
  operands.c = c.rows.data();
  operands.d = d.rows.data();
  run_mfma(s, operands);
  unsigned wrong = 0;
  each_output(s, [&](unsigned i, unsigned j, unsigned block) {
    const uint64_t got = d.get(mfma_output(s, i, j, block), sum_bits(s.c));
    wrong += got != encode_sum(s.c, p.expected(i, j, block, a_block(block)));
  });
  return wrong;
}
unsigned same_block(unsigned block) {
  return block;
}

}  // namespace

TEST_CASE("every MFMA multiplies in the documented layout") {
  unsigned seed = 1;
  for (const MatrixShape& s : mfma_shapes()) {
    CAPTURE(std::string(s.name));
    const Problem p(s, seed++);
    for (const Fp8Format format : {Fp8Format::ocp, Fp8Format::fnuz}) {
      MfmaOperands operands;
      operands.fp8 = format;
      CHECK(wrong_outputs(p, operands, same_block) == 0);
    }
  }
}

TEST_CASE("register counts as the compiler prints them") {
  const auto counts = [](const char* name) {
    const RegisterCounts c = mfma_registers(find(mfma_shapes(), name));
    return std::to_string(c.a) + " " + std::to_string(c.b) + " " + std::to_string(c.c);
  };
  CHECK(counts("v_mfma_f32_32x32x8f16") == "2 2 16");
  CHECK(counts("v_mfma_f32_32x32x1f32") == "1 1 32");
  CHECK(counts("v_mfma_f32_4x4x4f16") == "2 2 4");
  CHECK(counts("v_mfma_f64_16x16x4f64") == "2 2 8");
  CHECK(counts("v_mfma_f64_4x4x4f64") == "2 2 2");
  CHECK(counts("v_mfma_f32_16x16x32_fp8_bf8") == "2 2 4");
  CHECK(counts("v_mfma_i32_32x32x16_i8") == "2 2 16");
  CHECK(counts("v_mfma_i32_16x16x64_i8") == "4 4 4");
  CHECK(counts("v_mfma_f32_32x32x2bf16") == "1 1 32");
}

TEST_CASE("cbsz and abid share a block of A") {
  const Problem p(find(mfma_shapes(), "v_mfma_f32_4x4x4f16"), 5);
  MfmaOperands operands;
  operands.cbsz = 2;
  operands.abid = 3;
  CHECK(wrong_outputs(p, operands, [](unsigned block) { return block / 4 * 4 + 3; }) == 0);
  operands.cbsz = 4;
  operands.abid = 9;
  CHECK(wrong_outputs(p, operands, [](unsigned) { return 9u; }) == 0);
}

TEST_CASE("blgp moves lanes of B before the product") {
  const MatrixShape& s = find(mfma_shapes(), "v_mfma_f32_32x32x1f32");
  // One k: lane 32*b + j holds B[0][j] of block b.
  constexpr unsigned kFrom[8][4] = {{0, 16, 32, 48},  {0, 16, 0, 16},  {32, 48, 32, 48},
                                    {16, 32, 48, 0},  {0, 0, 0, 0},    {16, 16, 16, 16},
                                    {32, 32, 32, 32}, {48, 48, 48, 48}};
  for (uint8_t blgp = 0; blgp < 8; ++blgp) {
    CAPTURE(int{blgp});
    Registers a(1), b(1), d(32);
    for (unsigned lane = 0; lane < 64; ++lane) {
      a.rows[0].lane[lane] = std::bit_cast<uint32_t>(1.0f);
      b.rows[0].lane[lane] = std::bit_cast<uint32_t>(static_cast<float>(lane));
    }
    MfmaOperands operands{a.rows.data(), b.rows.data(), nullptr, 0, d.rows.data()};
    operands.blgp = blgp;
    run_mfma(s, operands);
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned block = lane / 32, j = lane % 32;
      const unsigned from = kFrom[blgp][lane / 16] + lane % 16;
      CHECK(d.get(mfma_output(s, 0, j, block), 32) ==
            std::bit_cast<uint32_t>(static_cast<float>(from)));
    }
  }
}

TEST_CASE("a constant C, and D in the place of C and of A") {
  const MatrixShape& s = find(mfma_shapes(), "v_mfma_f32_16x16x16f16");
  Problem p(s, 7);
  std::fill(p.c.begin(), p.c.end(), 2);
  const RegisterCounts counts = mfma_registers(s);
  Registers a(4), b(counts.b), c(counts.c);
  place_mfma(p, false, a, b, c);
  MfmaOperands operands{a.rows.data(), b.rows.data(), nullptr, encode_sum(s.c, 2), a.rows.data()};
  run_mfma(s, operands);
  Registers a2(counts.a);
  place_mfma(p, false, a2, b, c);
  run_mfma(s, {a2.rows.data(), b.rows.data(), c.rows.data(), 0, c.rows.data()});
  each_output(s, [&](unsigned i, unsigned j, unsigned) {
    const uint64_t expected = encode_sum(s.c, p.expected(i, j, 0, 0));
    CHECK(a.get(mfma_output(s, i, j, 0), 32) == expected);
    CHECK(c.get(mfma_output(s, i, j, 0), 32) == expected);
  });
}

TEST_CASE("signs of f64") {
  const MatrixShape& s = find(mfma_shapes(), "v_mfma_f64_4x4x4f64");
  const Problem p(s, 8);
  Registers a(2), b(2), c(2), d(2);
  place_mfma(p, false, a, b, c);
  for (uint8_t signs = 0; signs < 8; ++signs) {
    MfmaOperands operands{a.rows.data(), b.rows.data(), c.rows.data(), 0, d.rows.data()};
    operands.blgp = signs;
    run_mfma(s, operands);
    const int product_sign = ((signs & 1) != 0) != ((signs & 2) != 0) ? -1 : 1;
    const int c_sign = (signs & 4) != 0 ? -1 : 1;
    each_output(s, [&](unsigned i, unsigned j, unsigned block) {
      const int c_value = p.at_c(i, j, block);
      const int expected =
          c_sign * c_value + product_sign * (p.expected(i, j, block, block) - c_value);
      const uint64_t got = d.get(mfma_output(s, i, j, block), 64);
      CHECK(std::bit_cast<double>(got) == static_cast<double>(expected));
    });
  }
}

TEST_CASE("rounding: f32 products are kept exact, xf32 drops 13 bits") {
  const MatrixShape& f32 = find(mfma_shapes(), "v_mfma_f32_32x32x2f32");
  Registers a(1), b(1), d(16);
  const float x = 1.0f + 0x1p-23f;
  for (auto& lane : a.rows[0].lane) lane = std::bit_cast<uint32_t>(x);
  for (unsigned lane = 0; lane < 64; ++lane) {
    b.rows[0].lane[lane] = std::bit_cast<uint32_t>(lane < 32 ? x : -1.0f - 0x1p-22f);
  }
  run_mfma(f32, {a.rows.data(), b.rows.data(), nullptr, 0, d.rows.data()});
  // x*x rounds to 1 + 2^-22; the second product is -(1 + 3*2^-23 + 2^-45), both exact before
  // adding.
  const float first = static_cast<float>(static_cast<double>(x) * x);
  const double second = static_cast<double>(x) * (-1.0 - 0x1p-22);
  CHECK(std::bit_cast<float>(d.rows[0].lane[0]) == static_cast<float>(first + second));
  CHECK(round_xf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
  CHECK(round_xf32(1.0f + 0x1p-11f) == 1.0f);
  CHECK(round_xf32(1.0f + 0x1p-11f + 0x1p-20f) == 1.0f + 0x1p-10f);
}

TEST_CASE("8-bit floats in both encodings") {
  CHECK(widen_fp8(0x38, Element::fp8, Fp8Format::ocp) == 1.0f);
  CHECK(widen_fp8(0x40, Element::fp8, Fp8Format::fnuz) == 1.0f);
  CHECK(widen_fp8(0x7f, Element::fp8, Fp8Format::fnuz) == 240.0f);
  CHECK(widen_fp8(0x01, Element::fp8, Fp8Format::fnuz) == 0x1p-10f);
  CHECK(std::isnan(widen_fp8(0x80, Element::fp8, Fp8Format::fnuz)));
  CHECK(widen_fp8(0x3c, Element::bf8, Fp8Format::ocp) == 1.0f);
  CHECK(widen_fp8(0x40, Element::bf8, Fp8Format::fnuz) == 1.0f);
  CHECK(widen_fp8(0x7f, Element::bf8, Fp8Format::fnuz) == 57344.0f);
  CHECK(widen_fp8(0xc0, Element::bf8, Fp8Format::fnuz) == -1.0f);
}

TEST_CASE("every WMMA multiplies in the documented layouts") {
  unsigned seed = 100;
  for (const WmmaLayout layout :
       {WmmaLayout::gfx11_wave32, WmmaLayout::gfx11_wave64, WmmaLayout::gfx12_wave32}) {
    for (const MatrixShape& s : wmma_shapes()) {
      for (const bool high : {false, true}) {
        if (high && (sum_bits(s.c) != 16 || layout == WmmaLayout::gfx12_wave32)) continue;
        CAPTURE(std::string(s.name));
        CAPTURE(static_cast<int>(layout));
        CAPTURE(high);
        const Problem p(s, seed++);
        const RegisterCounts counts = wmma_registers(s, layout);
        Registers a(counts.a), b(counts.b), c(counts.c), d(counts.c);
        place_wmma(p, layout, high, a, b, c);
        const Registers before = d;
        WmmaOperands operands{a.rows.data(), b.rows.data(), c.rows.data(), 0,
                              d.rows.data(), layout};
        operands.high_half = high;
        operands.neg_lo = s.c == Accumulator::i32 ? 3 : 0;  // both signed
        run_wmma(s, operands);
        unsigned wrong = 0;
        each_output(s, [&](unsigned i, unsigned j, unsigned) {
          const Spot at = wmma_output(s.c, layout, i, j, high);
          wrong += d.get(at, sum_bits(s.c)) != encode_sum(s.c, p.expected(i, j, 0, 0));
          if (sum_bits(s.c) == 16 && layout != WmmaLayout::gfx12_wave32) {
            const Spot other{at.lane, at.item ^ 1};
            wrong += d.get(other, 16) != before.get(other, 16);
          }
        });
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("WMMA: unsigned bytes, saturation and signs") {
  const MatrixShape& s = find(wmma_shapes(), "v_wmma_i32_16x16x16_iu8");
  Registers a(4), b(4), d(8);
  for (auto& row : a.rows) std::fill(std::begin(row.lane), std::end(row.lane), 0xffffffffu);
  for (auto& row : b.rows) std::fill(std::begin(row.lane), std::end(row.lane), 0x02020202u);
  WmmaOperands operands{a.rows.data(), b.rows.data(), nullptr, 0, d.rows.data()};
  run_wmma(s, operands);
  CHECK(d.rows[0].lane[0] == 16u * 255 * 2);
  operands.neg_lo = 1;
  run_wmma(s, operands);
  CHECK(static_cast<int32_t>(d.rows[7].lane[31]) == -32);
  operands.constant = 0x80000000u;
  run_wmma(s, operands);
  CHECK(d.rows[0].lane[0] == 0x80000000u - 32u);
  operands.clamp = true;
  run_wmma(s, operands);
  CHECK(d.rows[0].lane[0] == 0x80000000u);

  const MatrixShape& f = find(wmma_shapes(), "v_wmma_f32_16x16x16_f16");
  Registers fa(8), fb(8), fd(8);
  for (auto& row : fa.rows)
    std::fill(std::begin(row.lane), std::end(row.lane), 0x40003c00u);  // 1, 2
  for (auto& row : fb.rows) std::fill(std::begin(row.lane), std::end(row.lane), 0x3c003c00u);
  WmmaOperands g{fa.rows.data(), fb.rows.data(), nullptr, std::bit_cast<uint32_t>(-5.0f),
                 fd.rows.data()};
  const auto result = [&] {
    run_wmma(f, g);
    return std::bit_cast<float>(fd.rows[3].lane[17]);
  };
  CHECK(result() == 24.0f - 5);
  g.neg_lo = 1;  // even k of A
  CHECK(result() == 16.0f - 8 - 5);
  g.neg_lo = 0;
  g.neg_hi = 1;  // odd k of A
  CHECK(result() == 8.0f - 16 - 5);
  g.neg_hi = 4;  // |C|
  CHECK(result() == 24.0f + 5);
  g.neg_lo = 4;  // -|C|
  CHECK(result() == 24.0f - 5);
}
