// Which addresses of a driver's memory are allocated and not yet released.
#pragma once

#include <mutex>
#include <unordered_set>
#include <utility>

#include "device/device.h"

namespace hipplan::device {

/// Thread-safe.
class LiveMemory {
 public:
  void add(Address address) {
    const std::lock_guard lock(mutex_);
    live_.insert(address);
  }
  /// Whether `address` was there.
  [[nodiscard]] bool remove(Address address) {
    const std::lock_guard lock(mutex_);
    return live_.erase(address) == 1;
  }
  /// All of them; none are left.
  [[nodiscard]] std::unordered_set<Address> take_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(live_, {});
  }

 private:
  std::mutex mutex_;
  std::unordered_set<Address> live_;
};

}  // namespace hipplan::device
