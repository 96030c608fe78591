// Independent pieces of work over a few threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace hipplan {

/// Number of workers for a request: 0 means one per hardware thread.
[[nodiscard]] inline unsigned worker_count(unsigned requested) {
  return requested != 0 ? requested : std::max(1u, std::thread::hardware_concurrency());
}

/// Calls work(i) for each i in [0, count) on `jobs` threads (0: all). `work` must not throw.
/// Returns when all are done; the order is not fixed, so each call writes only to its own place.
template <class Work>
void parallel_for(size_t count, unsigned jobs, const Work& work) {
  const size_t workers = std::min<size_t>(worker_count(jobs), count);
  if (workers <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (size_t t = 1; t < workers; ++t) threads.emplace_back(run);
  run();
  for (auto& thread : threads) thread.join();
}

}  // namespace hipplan
