// What the tests of reasons share.
#pragma once

#include <set>
#include <string>

#include "commands/reasons.h"

namespace hipplan::test {

inline std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += word + " ";
  return out;
}

/// What the list says of a reason; null when it does not know it.
inline const plan::ReasonFacts* facts_of(const std::string& reason) {
  for (const auto& facts : commands::verify_reasons())
    if (facts.reason == reason) return &facts;
  return nullptr;
}

}  // namespace hipplan::test
