#include "base/harmless.h"

namespace hipplan {

std::string harmless(std::string_view text, std::string_view keep) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool high_control = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    const bool control = byte < 0x20 || byte == 0x7f || high_control;
    if (high_control) out.pop_back();
    if (control && keep.find(text[i]) == std::string_view::npos)
      out.append({'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15u]});
    else
      out += text[i];
  }
  return out;
}

}  // namespace hipplan
