// How waits and long loops learn that they should end.
#pragma once

#include <functional>

#include "base/result.h"

namespace hipplan {

/// While it lives, loops of this thread over plans and files ask `stop`, as do its waits that a
/// signal cuts short, and end with an `interrupted` error when it says yes. Without one, and when
/// it says no, they go on.
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

/// Fails with interrupted_error() when this thread is asked to stop. For each step of a long loop.
[[nodiscard]] Result<void> check_interruption();

}  // namespace hipplan
