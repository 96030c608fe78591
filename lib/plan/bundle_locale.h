// How libarchive takes the bytes of names: by the character set of the calling thread's locale,
// whatever the process has set.
#pragma once

#include <locale.h>

#include <algorithm>
#include <string_view>

namespace hipplan::plan {

/// Names are UTF-8, so that they go into an archive's pax headers as they are. Null where the
/// system has no such locale.
[[nodiscard]] locale_t utf8_locale();
/// Names are bytes. libarchive turns names that it reads to its own choice of equal characters
/// where it can translate them; under this locale it cannot, says so (ARCHIVE_WARN), and hands over
/// the bytes that are stored.
[[nodiscard]] locale_t bytes_locale();

[[nodiscard]] inline bool is_ascii(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

/// This thread's locale as long as the object lives; a null one changes nothing.
class LocaleHeld {
 public:
  explicit LocaleHeld(locale_t wanted)
      : before_(wanted == nullptr ? nullptr : ::uselocale(wanted)) {}
  ~LocaleHeld() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  LocaleHeld(const LocaleHeld&) = delete;
  LocaleHeld& operator=(const LocaleHeld&) = delete;

 private:
  locale_t before_;
};

}  // namespace hipplan::plan
