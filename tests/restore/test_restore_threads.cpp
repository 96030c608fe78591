#include <doctest/doctest.h>

#include <thread>

#include "baked.h"
#include "device/null.h"
#include "restore/restore.h"

using namespace hipplan;

TEST_CASE("16 threads run one restored plan on two devices; each device loads once") {
  if (!test::have_kernels()) return;
  const plan::Plan plan = test::baked_plan(test::sample_graph(), "gfx942");
  device::NullDevice first(test::target_of("gfx942")), second(test::target_of("gfx942"));
  {
    const auto made = restore::Executable::create(plan, restore::built_in_provider(), first);
    REQUIRE(made.ok());
    const auto executable = *made;
    constexpr int kThreads = 16, kRepeats = 50;
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        device::NullDevice& device = t % 2 == 0 ? first : second;
        std::vector<restore::TensorAddress> tensors;
        for (const auto& binding : executable->prepared().bindings)
          tensors.push_back({binding.uid, *device.allocate(binding.min_bytes)});
        for (int i = 0; i < kRepeats; ++i)
          if (!executable->execute(device, tensors, 0)) ++failures;
        for (const auto& tensor : tensors) (void)device.release(tensor.address);
      });
    for (auto& thread : threads) thread.join();
    CHECK(failures == 0);
    CHECK(first.loaded_modules() == 1);
    CHECK(second.loaded_modules() == 1);
    CHECK(first.launches().size() + second.launches().size() == kThreads * kRepeats);
    CHECK(first.live_allocations() == 0);
  }
  CHECK(first.loaded_modules() == 0);
}
