#include "commands/long_work.h"

#include <system_error>

namespace hipplan::commands {

LongWork::~LongWork() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void LongWork::begin(const std::string& subject, const std::string& step, uint64_t done,
                     uint64_t total) {
  const std::lock_guard lock(mutex_);
  step_ = {cat(subject, ": ", step), done, total, Clock::now()};
  tell();
  // Where no thread can be had, the beginnings of steps are told and no more.
  if (!thread_.joinable()) try {
      thread_ = std::thread([this] { tell_every_second(); });
    } catch (const std::system_error&) {
    }
}

void LongWork::end() {
  const std::lock_guard lock(mutex_);
  step_.what.clear();
}

void LongWork::tell() const {
  const auto taken = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - step_.began);
  const std::string what =
      cat(step_.what, taken.count() == 0 ? "" : cat(" for ", taken.count(), " s"), ", steps done");
  io_.progress(what.c_str(), step_.done, step_.total);
}

void LongWork::tell_every_second() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, std::chrono::seconds(1), [this] { return stop_; })) {
    if (!step_.what.empty()) tell();
  }
}

}  // namespace hipplan::commands
