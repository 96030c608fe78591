#include <doctest/doctest.h>

#include <set>

#include "base/parallel.h"

using namespace hipplan;

TEST_CASE("every index is done once, with any number of workers") {
  for (const unsigned jobs : {0u, 1u, 2u, 3u, 16u})
    for (const size_t count : {size_t{0}, size_t{1}, size_t{2}, size_t{7}, size_t{1000}}) {
      std::vector<std::atomic<int>> done(count);
      parallel_for(count, jobs, [&](size_t i) { ++done[i]; });
      for (const auto& d : done) CHECK(d == 1);
    }
}

TEST_CASE("one job stays on the caller's thread") {
  std::set<std::thread::id> threads;
  parallel_for(50, 1, [&](size_t) { threads.insert(std::this_thread::get_id()); });
  CHECK(threads == std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST_CASE("writes of the workers are visible afterwards") {
  std::vector<size_t> squares(5000);
  parallel_for(squares.size(), 4, [&](size_t i) { squares[i] = i * i; });
  for (size_t i = 0; i < squares.size(); ++i) REQUIRE(squares[i] == i * i);
}

TEST_CASE("worker counts") {
  CHECK(worker_count(3) == 3);
  CHECK(worker_count(0) >= 1);
}

TEST_CASE("an exception in the work reaches the caller, after all threads ended") {
  for (const unsigned jobs : {1u, 4u}) {
    std::atomic<int> started{0};
    CHECK_THROWS_WITH(hipplan::parallel_for(1000, jobs,
                                            [&](size_t i) {
                                              ++started;
                                              if (i == 3) throw std::runtime_error("third");
                                            }),
                      "third");
    if (jobs == 1) CHECK(started == 4);
  }
}

TEST_CASE("an absurd number of threads still does the work") {
  std::vector<std::atomic<int>> seen(5000);
  hipplan::parallel_for(seen.size(), 4000000000u, [&](size_t i) { ++seen[i]; });
  for (const auto& count : seen) CHECK(count == 1);
}
