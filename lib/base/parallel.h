// Independent pieces of work over a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hipplan {

/// Number of workers for a request: 0 means one per hardware thread.
[[nodiscard]] inline unsigned worker_count(unsigned requested) {
  return requested != 0 ? requested : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls work(i) for each i in [0, count) on at most `jobs` threads (0: one per hardware thread),
/// the calling one included. Returns when all are done; the order is not fixed, so each call writes
/// only to its own place. When calls throw, no new ones start and one of the exceptions is thrown
/// on. When the system gives fewer threads than asked for, those that it gave do the work.
template <class Work>
void parallel_for(size_t count, unsigned jobs, const Work& work) {
  const size_t workers = std::min<size_t>({worker_count(jobs), count, 1024});
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    threads.reserve(workers);
    while (threads.size() + 1 < workers) threads.emplace_back(run);
  } catch (const std::exception&) {
    // Too few threads or too little memory for them: go on with those that run.
  }
  run();
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace hipplan
