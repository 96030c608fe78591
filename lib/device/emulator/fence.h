// The edge of the emulator's module: what is thrown inside becomes an error, so that no exception
// passes between two C++ runtimes.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/result.h"

namespace hipplan::emulator {

/// The exception that is being handled, as an error.
[[nodiscard]] inline Error caught(std::string where) {
  Error out{.code = Code::internal, .reason = "exception", .where = std::move(where)};
  try {
    throw;
  } catch (const std::bad_alloc&) {
    out.code = Code::machine;
    out.reason = "out-of-memory";
    out.what = "the host has not enough memory";
  } catch (const std::exception& failure) {
    out.what = failure.what();
  } catch (...) {
    out.what = "an exception of an unknown kind";
  }
  return out;
}

/// What `body` answers, a Result; what it throws is a failure of that Result.
template <class Body>
auto fenced(const std::string& where, const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (...) {
    return caught(where);
  }
}

}  // namespace hipplan::emulator
