#include "plan/bundle_locale.h"

#include <new>

namespace hipplan::plan {

locale_t utf8_locale() {
  // Kept until the process ends.
  static const locale_t made = [] {
    for (const char* name : {"C.UTF-8", "en_US.UTF-8"})
      if (const locale_t one = ::newlocale(LC_CTYPE_MASK, name, nullptr); one != nullptr)
        return one;
    return locale_t{};
  }();
  return made;
}

locale_t bytes_locale() {
  static const locale_t made = ::newlocale(LC_CTYPE_MASK, "C", nullptr);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

}  // namespace hipplan::plan
