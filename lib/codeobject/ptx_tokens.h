// The words of PTX.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hipplan::codeobject {
namespace ptx {

/// What a character is to the words of PTX, by its number: texts are long and read while a plan
/// loads.
enum class Letter : uint8_t { word, blank, mark, end };
constexpr std::array<Letter, 256> letters() {
  std::array<Letter, 256> out{};
  for (const char c : {' ', '\t', '\n', '\r'}) out[static_cast<unsigned char>(c)] = Letter::blank;
  for (const char c : std::string_view("(){}[],;<>"))
    out[static_cast<unsigned char>(c)] = Letter::mark;
  for (const char c : {'"', '/'}) out[static_cast<unsigned char>(c)] = Letter::end;
  return out;
}
inline constexpr std::array<Letter, 256> kLetters = letters();
inline Letter letter(char c) {
  return kLetters[static_cast<unsigned char>(c)];
}

}  // namespace ptx

/// Words and single punctuation marks of PTX, without comments. Empty at the end.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text) : text_(text) {}
  /// Where what is not read yet begins.
  [[nodiscard]] const char* rest() const { return text_.data(); }
  /// Whether the next word is `word`; a longer one is not read to its end.
  bool next_is(std::string_view word) {
    skip();
    return text_.starts_with(word) &&
           (text_.size() == word.size() || ptx::letter(text_[word.size()]) != ptx::Letter::word);
  }
  std::string_view next() {
    skip();
    if (text_.empty()) return {};
    size_t length = 1;
    if (text_.front() == '"') {
      const size_t end = text_.find('"', 1);
      length = end == std::string_view::npos ? text_.size() : end + 1;
    } else if (ptx::letter(text_.front()) != ptx::Letter::mark) {
      while (length < text_.size() && ptx::letter(text_[length]) == ptx::Letter::word) ++length;
    }
    const std::string_view token = text_.substr(0, length);
    text_.remove_prefix(length);
    return token;
  }

 private:
  void skip() {
    for (;;) {
      size_t first = 0;
      while (first < text_.size() && ptx::letter(text_[first]) == ptx::Letter::blank) ++first;
      text_.remove_prefix(first);
      const bool line = text_.starts_with("//"), block = text_.starts_with("/*");
      if (!line && !block) return;
      const size_t end = line ? text_.find('\n') : text_.find("*/", 2);
      if (end == std::string_view::npos)
        text_ = {};
      else
        text_.remove_prefix(end + (line ? 1 : 2));
    }
  }
  std::string_view text_;
};

}  // namespace hipplan::codeobject
