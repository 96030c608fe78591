// The bytes that a plan is saved as: made once, however many threads ask.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::api {

class SavedBytes {
 public:
  /// The bytes. The first caller makes them with `fill` (returning Result<Bytes>), the others wait
  /// for it; a fill that fails is that caller's failure, and the next caller tries again.
  template <class Fill>
  Result<std::shared_ptr<const Bytes>> get(const Fill& fill) {
    const std::lock_guard lock(mutex_);
    if (!bytes_) {
      HIPPLAN_TRY_ASSIGN(Bytes made, fill());
      bytes_ = std::make_shared<const Bytes>(std::move(made));
    }
    return bytes_;
  }
  /// For a plan that was loaded: it saves as what it was loaded from.
  void set(Bytes bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = std::make_shared<const Bytes>(std::move(bytes));
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<const Bytes> bytes_;
};

}  // namespace hipplan::api
