// Small scanners that the instruction parser is made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hipplan::disassembly {

[[nodiscard]] std::string_view trim(std::string_view text);
/// Letters, digits and underscores, starting with a letter.
[[nodiscard]] bool is_word(std::string_view text);
/// Splits at `separator` outside of (), [] and "". Always at least one part.
[[nodiscard]] std::vector<std::string_view> split_top_level(std::string_view text, char separator);
/// Decimal digits only.
[[nodiscard]] std::optional<uint32_t> scan_unsigned(std::string_view text);
/// [-]digits or [-]0xhex, up to 64 bits.
[[nodiscard]] std::optional<int64_t> scan_integer(std::string_view text);
/// A decimal with a point or an exponent.
[[nodiscard]] std::optional<double> scan_real(std::string_view text);
/// The 16-bit ds_swizzle offset of "swizzle(SWAP,16)" and its like (BROADCAST, REVERSE, QUAD_PERM,
/// BITMASK_PERM, FFT, ROTATE).
[[nodiscard]] std::optional<int64_t> swizzle_pattern(std::string_view text);

}  // namespace hipplan::disassembly
