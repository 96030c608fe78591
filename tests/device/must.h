// Results that a test relies on.
#pragma once

#include <doctest/doctest.h>

#include <utility>

#include "base/result.h"

namespace hipplan::test {

/// The value of a call that must succeed.
template <class T>
T must(Result<T> got) {
  REQUIRE_MESSAGE(got.ok(), (got.ok() ? "" : got.error().text()));
  return std::move(got).value();
}
inline void must(const Result<void>& got) {
  REQUIRE_MESSAGE(got.ok(), (got.ok() ? "" : got.error().text()));
}
/// The failure of a call that must not succeed.
template <class T>
Error refusal(const Result<T>& got) {
  REQUIRE_FALSE(got.ok());
  return got.error();
}

}  // namespace hipplan::test
