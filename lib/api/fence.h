// What every exported function needs: no exception gets out, the thread's last error is kept.
#pragma once

#include <new>
#include <string>
#include <utility>

#include "base/result.h"
#include "hipplan/status.h"

namespace hipplan::api {

struct LastError {
  std::string text, reason;
  const char* fixed_text = nullptr;  ///< instead of `text` and `reason` when set
  const char* fixed_reason = nullptr;
};
/// The calling thread's.
LastError& last_error();
hipplan_status keep(const Error& error);
/// The same with static text: needs no memory.
hipplan_status keep_fixed(hipplan_status status, const char* text, const char* reason) noexcept;

[[nodiscard]] inline Error null_argument(const char* name) {
  return {.code = Code::bad_input, .reason = "null-argument", .where = name, .what = "is null"};
}

/// Runs `body` (returning Result<void>) and turns its outcome into a status.
template <class Body>
hipplan_status fenced(const Body& body) {
  try {
    last_error() = {};
    if (Result<void> done = body(); !done) return keep(done.error());
    return HIPPLAN_OK;
  } catch (const std::bad_alloc&) {
    return keep_fixed(HIPPLAN_MACHINE, "out of memory", "out-of-memory");
  } catch (...) {
    return keep_fixed(HIPPLAN_MACHINE, "internal fault, please report: an exception", "exception");
  }
}

}  // namespace hipplan::api
