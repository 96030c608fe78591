// A gate that nobody opens lets go by itself, so that a host that hangs does not hang the GPU.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "device/device.h"

namespace hipplan::device {

/// How long a gate holds up work at most.
inline constexpr std::chrono::milliseconds kLongestHold{10'000};

/// What a gate shares with the thread that ends its hold. Thread-safe.
class GateState {
 public:
  GateState(std::string device, std::chrono::milliseconds longest)
      : device_(std::move(device)), longest_(longest) {}
  /// Blocks until the gate opens or has held up work for too long.
  void hold() {
    std::unique_lock lock(mutex_);
    expired_ = !changed_.wait_for(lock, longest_, [&] { return open_; });
  }
  /// Ends the hold. Fails with machine, reason gate-expired, when it had ended by itself.
  Result<void> open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
    if (!expired_) return {};
    return Error{.code = Code::machine,
                 .reason = "gate-expired",
                 .where = device_,
                 .what = "work that was held up has started by itself",
                 .expected = cat("a start within ", longest_.count(), " ms")};
  }

 private:
  std::string device_;
  std::chrono::milliseconds longest_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false, expired_ = false;
};

}  // namespace hipplan::device
