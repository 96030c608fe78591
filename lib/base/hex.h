// Numbers as hexadecimal text, one way for every message and listing.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace hipplan {

/// "0x1f": lower case, no leading zeros, zero is "0x0".
[[nodiscard]] inline std::string hex(uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
  return "0x" + std::string(digits, end);
}

}  // namespace hipplan
