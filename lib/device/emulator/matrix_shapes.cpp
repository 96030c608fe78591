#include "device/emulator/matrix_shapes.h"

namespace hipplan::emulator {
namespace {

using enum Element;
constexpr Accumulator F = Accumulator::f32, D = Accumulator::f64, I = Accumulator::i32;

// Sources: the public CDNA2, CDNA3 and CDNA4 instruction set documents.
constexpr MatrixShape kMfma[] = {
    {"v_mfma_f32_32x32x1f32", "v_mfma_f32_32x32x1_2b_f32", 32, 32, 1, 2, f32, f32, F},
    {"v_mfma_f32_16x16x1f32", "v_mfma_f32_16x16x1_4b_f32", 16, 16, 1, 4, f32, f32, F},
    {"v_mfma_f32_4x4x1f32", "v_mfma_f32_4x4x1_16b_f32", 4, 4, 1, 16, f32, f32, F},
    {"v_mfma_f32_32x32x2f32", "v_mfma_f32_32x32x2_f32", 32, 32, 2, 1, f32, f32, F},
    {"v_mfma_f32_16x16x4f32", "v_mfma_f32_16x16x4_f32", 16, 16, 4, 1, f32, f32, F},
    {"v_mfma_f32_32x32x4f16", "v_mfma_f32_32x32x4_2b_f16", 32, 32, 4, 2, f16, f16, F},
    {"v_mfma_f32_16x16x4f16", "v_mfma_f32_16x16x4_4b_f16", 16, 16, 4, 4, f16, f16, F},
    {"v_mfma_f32_4x4x4f16", "v_mfma_f32_4x4x4_16b_f16", 4, 4, 4, 16, f16, f16, F},
    {"v_mfma_f32_32x32x8f16", "v_mfma_f32_32x32x8_f16", 32, 32, 8, 1, f16, f16, F},
    {"v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16", 16, 16, 16, 1, f16, f16, F},
    {"v_mfma_f32_32x32x2bf16", "", 32, 32, 2, 2, bf16, bf16, F},
    {"v_mfma_f32_16x16x2bf16", "", 16, 16, 2, 4, bf16, bf16, F},
    {"v_mfma_f32_4x4x2bf16", "", 4, 4, 2, 16, bf16, bf16, F},
    {"v_mfma_f32_32x32x4bf16", "", 32, 32, 4, 1, bf16, bf16, F},
    {"v_mfma_f32_16x16x8bf16", "", 16, 16, 8, 1, bf16, bf16, F},
    {"v_mfma_f32_32x32x4bf16_1k", "v_mfma_f32_32x32x4_2b_bf16", 32, 32, 4, 2, bf16, bf16, F},
    {"v_mfma_f32_16x16x4bf16_1k", "v_mfma_f32_16x16x4_4b_bf16", 16, 16, 4, 4, bf16, bf16, F},
    {"v_mfma_f32_4x4x4bf16_1k", "v_mfma_f32_4x4x4_16b_bf16", 4, 4, 4, 16, bf16, bf16, F},
    {"v_mfma_f32_32x32x8bf16_1k", "v_mfma_f32_32x32x8_bf16", 32, 32, 8, 1, bf16, bf16, F},
    {"v_mfma_f32_16x16x16bf16_1k", "v_mfma_f32_16x16x16_bf16", 16, 16, 16, 1, bf16, bf16, F},
    {"v_mfma_i32_32x32x4i8", "v_mfma_i32_32x32x4_2b_i8", 32, 32, 4, 2, i8, i8, I},
    {"v_mfma_i32_16x16x4i8", "v_mfma_i32_16x16x4_4b_i8", 16, 16, 4, 4, i8, i8, I},
    {"v_mfma_i32_4x4x4i8", "v_mfma_i32_4x4x4_16b_i8", 4, 4, 4, 16, i8, i8, I},
    {"v_mfma_i32_32x32x8i8", "", 32, 32, 8, 1, i8, i8, I},
    {"v_mfma_i32_16x16x16i8", "", 16, 16, 16, 1, i8, i8, I},
    {"v_mfma_i32_32x32x16_i8", "v_mfma_i32_32x32x16i8", 32, 32, 16, 1, i8, i8, I},
    {"v_mfma_i32_16x16x32_i8", "v_mfma_i32_16x16x32i8", 16, 16, 32, 1, i8, i8, I},
    {"v_mfma_i32_32x32x32_i8", "", 32, 32, 32, 1, i8, i8, I},
    {"v_mfma_i32_16x16x64_i8", "", 16, 16, 64, 1, i8, i8, I},
    {"v_mfma_f64_16x16x4f64", "v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, f64, f64, D},
    {"v_mfma_f64_4x4x4f64", "v_mfma_f64_4x4x4_4b_f64", 4, 4, 4, 4, f64, f64, D},
    {"v_mfma_f32_16x16x8_xf32", "v_mfma_f32_16x16x8xf32", 16, 16, 8, 1, xf32, xf32, F},
    {"v_mfma_f32_32x32x4_xf32", "v_mfma_f32_32x32x4xf32", 32, 32, 4, 1, xf32, xf32, F},
    {"v_mfma_f32_16x16x32_fp8_fp8", "", 16, 16, 32, 1, fp8, fp8, F},
    {"v_mfma_f32_16x16x32_fp8_bf8", "", 16, 16, 32, 1, fp8, bf8, F},
    {"v_mfma_f32_16x16x32_bf8_fp8", "", 16, 16, 32, 1, bf8, fp8, F},
    {"v_mfma_f32_16x16x32_bf8_bf8", "", 16, 16, 32, 1, bf8, bf8, F},
    {"v_mfma_f32_32x32x16_fp8_fp8", "", 32, 32, 16, 1, fp8, fp8, F},
    {"v_mfma_f32_32x32x16_fp8_bf8", "", 32, 32, 16, 1, fp8, bf8, F},
    {"v_mfma_f32_32x32x16_bf8_fp8", "", 32, 32, 16, 1, bf8, fp8, F},
    {"v_mfma_f32_32x32x16_bf8_bf8", "", 32, 32, 16, 1, bf8, bf8, F},
    {"v_mfma_f32_16x16x32_f16", "", 16, 16, 32, 1, f16, f16, F},
    {"v_mfma_f32_32x32x16_f16", "", 32, 32, 16, 1, f16, f16, F},
    {"v_mfma_f32_16x16x32_bf16", "", 16, 16, 32, 1, bf16, bf16, F},
    {"v_mfma_f32_32x32x16_bf16", "", 32, 32, 16, 1, bf16, bf16, F},
};

// The dense product that each stands for.
constexpr MatrixShape kSmfmac[] = {
    {"v_smfmac_f32_16x16x32_f16", "", 16, 16, 32, 1, f16, f16, F},
    {"v_smfmac_f32_32x32x16_f16", "", 32, 32, 16, 1, f16, f16, F},
    {"v_smfmac_f32_16x16x32_bf16", "", 16, 16, 32, 1, bf16, bf16, F},
    {"v_smfmac_f32_32x32x16_bf16", "", 32, 32, 16, 1, bf16, bf16, F},
    {"v_smfmac_i32_16x16x64_i8", "", 16, 16, 64, 1, i8, i8, I},
    {"v_smfmac_i32_32x32x32_i8", "", 32, 32, 32, 1, i8, i8, I},
    {"v_smfmac_f32_16x16x64_bf8_bf8", "", 16, 16, 64, 1, bf8, bf8, F},
    {"v_smfmac_f32_16x16x64_bf8_fp8", "", 16, 16, 64, 1, bf8, fp8, F},
    {"v_smfmac_f32_16x16x64_fp8_bf8", "", 16, 16, 64, 1, fp8, bf8, F},
    {"v_smfmac_f32_16x16x64_fp8_fp8", "", 16, 16, 64, 1, fp8, fp8, F},
    {"v_smfmac_f32_32x32x32_bf8_bf8", "", 32, 32, 32, 1, bf8, bf8, F},
    {"v_smfmac_f32_32x32x32_bf8_fp8", "", 32, 32, 32, 1, bf8, fp8, F},
    {"v_smfmac_f32_32x32x32_fp8_bf8", "", 32, 32, 32, 1, fp8, bf8, F},
    {"v_smfmac_f32_32x32x32_fp8_fp8", "", 32, 32, 32, 1, fp8, fp8, F},
    {"v_smfmac_f32_16x16x64_f16", "", 16, 16, 64, 1, f16, f16, F},
    {"v_smfmac_f32_32x32x32_f16", "", 32, 32, 32, 1, f16, f16, F},
    {"v_smfmac_f32_16x16x64_bf16", "", 16, 16, 64, 1, bf16, bf16, F},
    {"v_smfmac_f32_32x32x32_bf16", "", 32, 32, 32, 1, bf16, bf16, F},
    {"v_smfmac_i32_16x16x128_i8", "", 16, 16, 128, 1, i8, i8, I},
    {"v_smfmac_i32_32x32x64_i8", "", 32, 32, 64, 1, i8, i8, I},
    {"v_smfmac_f32_16x16x128_bf8_bf8", "", 16, 16, 128, 1, bf8, bf8, F},
    {"v_smfmac_f32_16x16x128_bf8_fp8", "", 16, 16, 128, 1, bf8, fp8, F},
    {"v_smfmac_f32_16x16x128_fp8_bf8", "", 16, 16, 128, 1, fp8, bf8, F},
    {"v_smfmac_f32_16x16x128_fp8_fp8", "", 16, 16, 128, 1, fp8, fp8, F},
    {"v_smfmac_f32_32x32x64_bf8_bf8", "", 32, 32, 64, 1, bf8, bf8, F},
    {"v_smfmac_f32_32x32x64_bf8_fp8", "", 32, 32, 64, 1, bf8, fp8, F},
    {"v_smfmac_f32_32x32x64_fp8_bf8", "", 32, 32, 64, 1, fp8, bf8, F},
    {"v_smfmac_f32_32x32x64_fp8_fp8", "", 32, 32, 64, 1, fp8, fp8, F},
};

// "Matrix Arithmetic Instructions" with scales, CDNA4.
constexpr MatrixShape kF8f6f4[] = {
    {"v_mfma_f32_16x16x128_f8f6f4", "v_mfma_scale_f32_16x16x128_f8f6f4", 16, 16, 128, 1, fp8, fp8,
     F},
    {"v_mfma_f32_32x32x64_f8f6f4", "v_mfma_scale_f32_32x32x64_f8f6f4", 32, 32, 64, 1, fp8, fp8, F},
};

// Sources: the public RDNA3 and RDNA4 instruction set documents.
constexpr MatrixShape kWmma[] = {
    {"v_wmma_f32_16x16x16_f16", "", 16, 16, 16, 1, f16, f16, F},
    {"v_wmma_f32_16x16x16_bf16", "", 16, 16, 16, 1, bf16, bf16, F},
    {"v_wmma_f16_16x16x16_f16", "", 16, 16, 16, 1, f16, f16, Accumulator::f16},
    {"v_wmma_bf16_16x16x16_bf16", "", 16, 16, 16, 1, bf16, bf16, Accumulator::bf16},
    {"v_wmma_i32_16x16x16_iu8", "", 16, 16, 16, 1, i8, i8, I},
    {"v_wmma_i32_16x16x16_iu4", "", 16, 16, 16, 1, i4, i4, I},
    {"v_wmma_i32_16x16x32_iu4", "", 16, 16, 32, 1, i4, i4, I},
    {"v_wmma_f32_16x16x16_fp8_fp8", "", 16, 16, 16, 1, fp8, fp8, F},
    {"v_wmma_f32_16x16x16_fp8_bf8", "", 16, 16, 16, 1, fp8, bf8, F},
    {"v_wmma_f32_16x16x16_bf8_fp8", "", 16, 16, 16, 1, bf8, fp8, F},
    {"v_wmma_f32_16x16x16_bf8_bf8", "", 16, 16, 16, 1, bf8, bf8, F},
};

// The dense product that each stands for; the public RDNA4 instruction set document.
constexpr MatrixShape kSwmmac[] = {
    {"v_swmmac_f32_16x16x32_f16", "", 16, 16, 32, 1, f16, f16, F},
    {"v_swmmac_f32_16x16x32_bf16", "", 16, 16, 32, 1, bf16, bf16, F},
    {"v_swmmac_f16_16x16x32_f16", "", 16, 16, 32, 1, f16, f16, Accumulator::f16},
    {"v_swmmac_bf16_16x16x32_bf16", "", 16, 16, 32, 1, bf16, bf16, Accumulator::bf16},
    {"v_swmmac_i32_16x16x32_iu8", "", 16, 16, 32, 1, i8, i8, I},
    {"v_swmmac_i32_16x16x32_iu4", "", 16, 16, 32, 1, i4, i4, I},
    {"v_swmmac_i32_16x16x64_iu4", "", 16, 16, 64, 1, i4, i4, I},
    {"v_swmmac_f32_16x16x32_fp8_fp8", "", 16, 16, 32, 1, fp8, fp8, F},
    {"v_swmmac_f32_16x16x32_fp8_bf8", "", 16, 16, 32, 1, fp8, bf8, F},
    {"v_swmmac_f32_16x16x32_bf8_fp8", "", 16, 16, 32, 1, bf8, fp8, F},
    {"v_swmmac_f32_16x16x32_bf8_bf8", "", 16, 16, 32, 1, bf8, bf8, F},
};

}  // namespace

std::span<const MatrixShape> mfma_shapes() {
  return kMfma;
}
std::span<const MatrixShape> smfmac_shapes() {
  return kSmfmac;
}
std::span<const MatrixShape> f8f6f4_shapes() {
  return kF8f6f4;
}
std::span<const MatrixShape> wmma_shapes() {
  return kWmma;
}
std::span<const MatrixShape> swmmac_shapes() {
  return kSwmmac;
}

}  // namespace hipplan::emulator
