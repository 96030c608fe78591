// Any bytes: no crash, right places, and what is accepted prints to a text of the same meaning.
#include <cstdlib>

#include "json/json.h"
#include "positions.h"

using namespace hipplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Limits limits;
  for (const bool comments : {false, true}) {
    limits.comments = comments;
    const auto value = json::parse(text, "f", limits);
    if (!value) {
      if (value.error().reason.empty() || value.error().what.empty()) std::abort();
      continue;
    }
    if (!test::first_misplaced(*value, text, test::line_starts(text)).empty()) std::abort();
    const std::string once = json::print(*value);
    const auto again = json::parse(once, "f");
    if (!again || json::print(*again) != once) std::abort();
  }
  return 0;
}
