// Comparing kernels' argument lists, whoever recorded them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hipplan::codeobject {

/// "by_value of 8 bytes at 16"
template <class Argument>
[[nodiscard]] std::string argument_text(const Argument& argument) {
  return cat(argument.kind, " of ", argument.size, " bytes at ", argument.offset);
}

/// Where two argument lists differ first.
struct ArgumentMismatch {
  std::string where, expected, found;  ///< "argument 2", or "arguments" when the counts differ
};

/// Kind, size and offset decide; names are for people. Nothing when the lists agree.
template <class A, class B>
[[nodiscard]] std::optional<ArgumentMismatch> argument_mismatch(const std::vector<A>& wanted,
                                                                const std::vector<B>& found) {
  if (wanted.size() != found.size())
    return ArgumentMismatch{"arguments", cat(wanted.size(), " arguments"), cat(found.size())};
  for (size_t i = 0; i < wanted.size(); ++i) {
    const A& a = wanted[i];
    const B& b = found[i];
    if (a.kind != b.kind || a.size != b.size || a.offset != b.offset)
      return ArgumentMismatch{cat("argument ", i), argument_text(a), argument_text(b)};
  }
  return std::nullopt;
}

}  // namespace hipplan::codeobject
