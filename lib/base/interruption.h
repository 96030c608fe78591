// How a wait for a pipe or a lock learns that it should end.
#pragma once

#include <functional>

#include "base/result.h"

namespace hipplan {

/// While it lives, waits of this thread that a signal cuts short ask `stop`, and end with an
/// `interrupted` error when it says yes. Without one, and when it says no, they go on.
class InterruptionScope {
 public:
  explicit InterruptionScope(std::function<bool()> stop);
  InterruptionScope(const InterruptionScope&) = delete;
  InterruptionScope& operator=(const InterruptionScope&) = delete;
  ~InterruptionScope();

 private:
  std::function<bool()> stop_;
  const std::function<bool()>* outer_;
};

/// Whether the call that set errno to `number` should be made again: a signal cut it short, and
/// this thread is not asked to stop. Keeps errno.
[[nodiscard]] bool call_again(int number);

/// "stopped on request".
[[nodiscard]] Error interrupted_error();

}  // namespace hipplan
