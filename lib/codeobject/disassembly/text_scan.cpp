#include "codeobject/disassembly/text_scan.h"

#include <charconv>

namespace hipplan::disassembly {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Bit-mode pattern: lane = ((lane & and) | or) ^ xor inside 32 lanes.
int64_t bit_mode(unsigned and_mask, unsigned or_mask, unsigned xor_mask) {
  return static_cast<int64_t>(and_mask | or_mask << 5 | xor_mask << 10);
}

/// "01pip" from the highest lane bit: force 0, force 1, preserve, invert.
std::optional<int64_t> bitmask_permutation(std::string_view text) {
  if (text.size() != 7 || text.front() != '"' || text.back() != '"') return std::nullopt;
  unsigned and_mask = 0, or_mask = 0, xor_mask = 0;
  for (int i = 0; i < 5; ++i) {
    const unsigned bit = 1u << (4 - i);
    switch (text[static_cast<size_t>(i) + 1]) {
      case '0':
        break;
      case '1':
        or_mask |= bit;
        break;
      case 'p':
        and_mask |= bit;
        break;
      case 'i':
        and_mask |= bit, xor_mask |= bit;
        break;
      default:
        return std::nullopt;
    }
  }
  return bit_mode(and_mask, or_mask, xor_mask);
}

bool power_of_two_in(uint32_t value, uint32_t low, uint32_t high) {
  return value >= low && value <= high && (value & (value - 1)) == 0;
}

std::optional<int64_t> named_swizzle(std::string_view name, const std::vector<uint32_t>& n) {
  if (name == "SWAP" && n.size() == 1 && power_of_two_in(n[0], 1, 16)) {
    return bit_mode(0x1f, 0, n[0]);
  }
  if (name == "REVERSE" && n.size() == 1 && power_of_two_in(n[0], 2, 32)) {
    return bit_mode(0x1f, 0, n[0] - 1);
  }
  if (name == "BROADCAST" && n.size() == 2 && power_of_two_in(n[0], 2, 32) && n[1] < n[0]) {
    return bit_mode(0x1f & ~(n[0] - 1), n[1], 0);
  }
  if (name == "QUAD_PERM" && n.size() == 4 && n[0] < 4 && n[1] < 4 && n[2] < 4 && n[3] < 4) {
    return int64_t{0x8000} | n[0] | n[1] << 2 | n[2] << 4 | n[3] << 6;
  }
  if (name == "FFT" && n.size() == 1 && n[0] < 32) return int64_t{0xe000} | n[0];
  if (name == "ROTATE" && n.size() == 2 && n[0] < 2 && n[1] < 32) {
    return int64_t{0xc000} | n[0] << 10 | n[1] << 5;
  }
  return std::nullopt;
}

}  // namespace

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_word(std::string_view text) {
  if (text.empty() || !is_letter(text.front())) return false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

std::vector<std::string_view> split_top_level(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != separator || depth != 0 || quoted) continue;
    parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::optional<uint32_t> scan_unsigned(std::string_view text) {
  uint32_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> scan_integer(std::string_view text) {
  const bool negative = text.size() > 1 && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, status] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || status != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::optional<double> scan_real(std::string_view text) {
  const std::string_view digits = text.starts_with("-") ? text.substr(1) : text;
  if (digits.empty() || !is_digit(digits.front())) return std::nullopt;
  if (digits.find_first_of(".e") == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> swizzle_pattern(std::string_view text) {
  constexpr std::string_view kOpen = "swizzle(";
  if (!text.starts_with(kOpen) || !text.ends_with(")")) return std::nullopt;
  const auto parts =
      split_top_level(text.substr(kOpen.size(), text.size() - kOpen.size() - 1), ',');
  if (parts[0] == "BITMASK_PERM") {
    return parts.size() == 2 ? bitmask_permutation(trim(parts[1])) : std::nullopt;
  }
  std::vector<uint32_t> numbers;
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto number = scan_unsigned(trim(parts[i]));
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return named_swizzle(parts[0], numbers);
}

}  // namespace hipplan::disassembly
