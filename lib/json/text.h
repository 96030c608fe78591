// Small helpers over text that the readers of this module share.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace hipplan::json::detail {

/// Bytes of the well-formed UTF-8 sequence at `at` (no overlong forms, no surrogates, at most
/// U+10FFFF), or 0 when there is none.
[[nodiscard]] inline size_t utf8_sequence(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  const auto tail = [&](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;
    if (lead == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;
    if (lead == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

/// Offset of the first byte that is not part of well-formed UTF-8, or text.size().
[[nodiscard]] inline size_t first_bad_utf8(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080ull;
  size_t at = 0;
  while (at < text.size()) {
    while (text.size() - at >= 8) {
      uint64_t eight;
      std::memcpy(&eight, text.data() + at, 8);
      if (eight & kHighBits) break;
      at += 8;
    }
    if (at >= text.size()) break;
    const size_t length = utf8_sequence(text, at);
    if (length == 0) return at;
    at += length;
  }
  return text.size();
}

}  // namespace hipplan::json::detail
