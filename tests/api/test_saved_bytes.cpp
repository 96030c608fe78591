// Saving from many threads: one fill, the same bytes for all, a failed fill is tried again.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "api/saved_bytes.h"

using namespace hipplan;

namespace {

constexpr unsigned kThreads = 16;

/// Calls `work` on 16 threads that start together.
template <class Work>
void together(const Work& work) {
  std::atomic<unsigned> waiting{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      ++waiting;
      while (waiting < kThreads) std::this_thread::yield();
      work(i);
    });
  for (auto& thread : threads) thread.join();
}

Error refusal() {
  return {.code = Code::machine, .reason = "io", .what = "refused"};
}

}  // namespace

TEST_CASE("16 threads: one call of the provider, identical bytes") {
  api::SavedBytes saved;
  std::atomic<unsigned> calls{0};
  std::vector<std::shared_ptr<const Bytes>> all(kThreads);
  together([&](unsigned i) {
    const auto got = saved.get([&]() -> Result<Bytes> {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return Bytes(100, static_cast<std::byte>(++calls));
    });
    if (got) all[i] = *got;
  });
  CHECK(calls == 1);
  for (const auto& mine : all) {
    REQUIRE(mine != nullptr);
    CHECK(mine == all[0]);
  }
}

TEST_CASE("a failed fill is the caller's failure and is tried again by the next") {
  api::SavedBytes saved;
  std::atomic<unsigned> calls{0}, failures{0};
  together([&](unsigned) {
    const auto got = saved.get([&]() -> Result<Bytes> {
      if (++calls <= 5) return refusal();
      return Bytes(10, std::byte{7});
    });
    if (!got) ++failures;
  });
  CHECK(calls == 6);
  CHECK(failures == 5);
  const auto got = saved.get([&]() -> Result<Bytes> { return refusal(); });
  REQUIRE(got);
  CHECK(**got == Bytes(10, std::byte{7}));
}

TEST_CASE("what was loaded is saved without a call") {
  api::SavedBytes saved;
  saved.set(Bytes(3, std::byte{1}));
  unsigned calls = 0;
  const auto got = saved.get([&]() -> Result<Bytes> {
    ++calls;
    return Bytes();
  });
  REQUIRE(got);
  CHECK(**got == Bytes(3, std::byte{1}));
  CHECK(calls == 0);
}
