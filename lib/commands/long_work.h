// Telling that one long piece of work still goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "commands/io.h"

namespace hipplan::commands {

/// Tells a step's progress when it begins, and again every second from a thread of its own, with
/// how long it has taken. Whoever takes the progress decides what of it is shown.
class LongWork {
 public:
  explicit LongWork(Io& io) : io_(io) {}
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;
  ~LongWork();

  /// A step begins: "conv.hplan: 04151b225e3ac406/gfx942 on emulator:gfx942", "first run". `done`
  /// of `total` steps are behind it.
  void begin(const std::string& subject, const std::string& step, uint64_t done, uint64_t total);
  /// No step is going on; once it returns nothing more is told.
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  struct Step {
    std::string what;
    uint64_t done = 0, total = 0;
    Clock::time_point began{};
  };
  /// Tells step_. The mutex is held meanwhile, so that what is told comes in order.
  void tell() const;
  void tell_every_second();

  Io& io_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Step step_{};  ///< empty `what`: none
  bool stop_ = false;
  std::thread thread_{};
};

}  // namespace hipplan::commands
