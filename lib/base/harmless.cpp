#include "base/harmless.h"

#include <cstdint>

namespace hipplan {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

/// One character: its number and how many bytes it takes; no bytes where none is well-formed.
struct Character {
  uint32_t number = 0;
  size_t bytes = 0;
};

Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(text[i])}; };
  const uint32_t first = byte(at);
  if (first < 0x80) return {first, 1};
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < size) return {};
  uint32_t number = first & (0x7fu >> size);
  for (size_t i = at + 1; i < at + size; ++i) {
    if ((byte(i) & 0xc0u) != 0x80) return {};
    number = number << 6 | (byte(i) & 0x3fu);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = number >= 0xd800 && number < 0xe000;
  return number < kLeast[size] || number > 0x10ffff || surrogate ? Character{}
                                                                 : Character{number, size};
}

}  // namespace

std::string harmless(std::string_view text, std::string_view keep) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto [number, bytes] = character_at(text, at);
    const bool control = number < 0x20 || (number >= 0x7f && number < 0xa0);
    // Marks and turns of direction, ends of lines and paragraphs, the mark of byte order.
    const bool unseen = number == 0x61c || number == 0x200e || number == 0x200f ||
                        (number >= 0x2028 && number <= 0x202e) ||
                        (number >= 0x2066 && number <= 0x2069) || number == 0xfeff;
    if (bytes == 0)
      out += "\xef\xbf\xbd";
    else if (control && keep.find(text[at]) == std::string_view::npos)
      out.append({'\\', 'x', kDigits[number >> 4], kDigits[number & 15u]});
    else if (unseen)
      out.append({'\\', 'u', kDigits[number >> 12 & 15u], kDigits[number >> 8 & 15u],
                  kDigits[number >> 4 & 15u], kDigits[number & 15u]});
    else
      out += text.substr(at, bytes);
    at += bytes == 0 ? 1 : bytes;
  }
  return out;
}

}  // namespace hipplan
