// Small floating-point types in memory, and their conversion with round-to-nearest-even.
#pragma once

#include <cstdint>

namespace hipplan {

// IEEE binary16.
[[nodiscard]] float half_to_float(uint16_t bits);
[[nodiscard]] uint16_t float_to_half(float value);
/// Rounds once from double: not the same as going through float.
[[nodiscard]] uint16_t double_to_half(double value);

// bfloat16: the upper half of a binary32.
[[nodiscard]] float bfloat16_to_float(uint16_t bits);
[[nodiscard]] uint16_t float_to_bfloat16(float value);
[[nodiscard]] uint16_t double_to_bfloat16(double value);

// OCP 8-bit formats. E4M3 has no infinity (0x7f and 0xff are NaN) and saturates at 448; E5M2 is
// IEEE-like with infinities. E8M0 is a power of two, 2^(bits-127), 0xff is NaN.
[[nodiscard]] float fp8_e4m3_to_float(uint8_t bits);
[[nodiscard]] uint8_t float_to_fp8_e4m3(float value);
[[nodiscard]] float fp8_e5m2_to_float(uint8_t bits);
[[nodiscard]] uint8_t float_to_fp8_e5m2(float value);
[[nodiscard]] float fp8_e8m0_to_float(uint8_t bits);

}  // namespace hipplan
