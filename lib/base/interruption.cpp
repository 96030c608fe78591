#include "base/interruption.h"

#include <cerrno>
#include <utility>

namespace hipplan {
namespace {

thread_local const std::function<bool()>* innermost_stop = nullptr;

bool asked_to_stop() {
  return innermost_stop != nullptr && *innermost_stop && (*innermost_stop)();
}

}  // namespace

InterruptionScope::InterruptionScope(std::function<bool()> stop)
    : stop_(std::move(stop)), outer_(std::exchange(innermost_stop, &stop_)) {}

InterruptionScope::~InterruptionScope() {
  innermost_stop = outer_;
}

bool call_again(int number) {
  if (number != EINTR) return false;
  const bool stop = asked_to_stop();
  errno = number;
  return !stop;
}

Error interrupted_error() {
  return {.code = Code::interrupted, .reason = "interrupted", .what = "stopped on request"};
}

Result<void> check_interruption() {
  if (asked_to_stop()) return interrupted_error();
  return {};
}

}  // namespace hipplan
