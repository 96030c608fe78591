// What devices with events, gates and replays must do, and what the others must answer.
#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "conformance.h"
#include "must.h"

namespace hipplan::test {
namespace {

template <class T>
void must_be_refused(const Result<T>& got, const std::string& device) {
  REQUIRE_FALSE(got.ok());
  CHECK(got.error().code == Code::unusable);
  CHECK(got.error().reason == "not-supported");
  CHECK(got.error().where == device);
}

/// One word that launches of add_one count up.
struct Counting {
  Counting(const Backend& backend, ByteView code)
      : device(must(backend.open())),
        module(must(device->load(code))),
        kernel(must(module->kernel("add_one"))),
        at(must(device->allocate(sizeof(uint32_t)))) {
    must(device->fill(at, std::byte{0}, sizeof(uint32_t)));
    const uint32_t count = 1;
    arguments.resize(sizeof(at) + sizeof(count));
    std::memcpy(arguments.data(), &at, sizeof(at));
    std::memcpy(arguments.data() + sizeof(at), &count, sizeof(count));
  }
  ~Counting() { (void)device->release(at); }
  [[nodiscard]] device::Launch launch() const {
    device::Launch out;
    out.block = {64, 1, 1};
    out.arguments = arguments;
    return out;
  }
  void start() { must(device->launch(*kernel, launch())); }
  uint32_t value() {
    uint32_t out = 0;
    must(device->copy_out(std::as_writable_bytes(std::span(&out, 1)), at));
    return out;
  }

  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Module> module;
  const device::Kernel* kernel;
  device::Address at;
  Bytes arguments;
};

}  // namespace

void check_timing(const Backend& backend, ByteView code) {
  Counting work(backend, code);
  if (!backend.times) {
    must_be_refused(work.device->make_event(), work.device->name());
    must_be_refused(work.device->close_gate(), work.device->name());
    return;
  }
  const auto before = must(work.device->make_event());
  const auto between = must(work.device->make_event());
  const auto after = must(work.device->make_event());
  work.start();
  must(work.device->synchronize());

  // Held up: the host gets through while the device stands still.
  auto gate = must(work.device->close_gate());
  must(before->record());
  work.start();
  must(between->record());
  for (int i = 0; i < 9; ++i) work.start();
  must(after->record());
  must(gate->open());
  const double one = must(between->microseconds_since(*before));
  const double ten = must(after->microseconds_since(*before));
  CHECK(one > 0);
  CHECK(ten > one);
  CHECK(must(after->microseconds_since(*between)) == doctest::Approx(ten - one).epsilon(0.01));
  CHECK(work.value() == 11);

  // An event may be put again, and a gate that goes opens.
  must(before->record());
  gate = must(work.device->close_gate());
  work.start();
  must(after->record());
  gate.reset();
  CHECK(must(after->microseconds_since(*before)) > 0);
  CHECK(work.value() == 12);

  // As many calls as the contract allows behind one gate.
  gate = must(work.device->close_gate());
  must(before->record());
  for (unsigned i = 0; i + 2 < device::kMaxGatedCalls; ++i) work.start();
  must(after->record());
  must(gate->open());
  must(work.device->synchronize());
  CHECK(work.value() == 12 + device::kMaxGatedCalls - 2);
}

void check_replays(const Backend& backend, ByteView code) {
  Counting work(backend, code);
  std::vector<device::KernelLaunch> launches(3, {work.kernel, work.launch()});
  if (!backend.times) {
    must_be_refused(work.device->make_replay(launches), work.device->name());
    return;
  }
  const auto no_arguments = must(work.module->kernel("no_arguments"));
  launches.insert(launches.begin() + 1, {no_arguments, device::Launch{}});
  const uint64_t counted = work.device->counters().launches;
  const auto replay = must(work.device->make_replay(launches));
  must(work.device->synchronize());
  CHECK(work.value() == 0);                                       // recording runs nothing
  work.arguments.assign(work.arguments.size(), std::byte{0xff});  // arguments were copied
  must(replay->start());
  must(replay->start());
  must(work.device->synchronize());
  CHECK(work.value() == 6);
  CHECK(work.device->counters().launches == counted + 8);

  auto gate = must(work.device->close_gate());
  must(replay->start());
  must(gate->open());
  CHECK(work.value() == 9);

  // From several threads, each start runs all launches.
  std::vector<int> failures(4);
  std::vector<std::thread> threads;
  for (auto& failed : failures)
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) failed += replay->start().ok() ? 0 : 1;
    });
  for (auto& thread : threads) thread.join();
  CHECK(failures == std::vector<int>(4));
  must(work.device->synchronize());
  CHECK(work.value() == 9 + 4 * 5 * 3);
}

void check_facts(const Backend& backend) {
  const auto device = must(backend.open());
  const auto told = device->facts();
  if (!backend.times) {
    must_be_refused(told, device->name());
    return;
  }
  REQUIRE(told.ok());
  CHECK(told->arch.base == backend.arch);
  CHECK(told->arch == device->description().arch);
  CHECK_FALSE(told->name.empty());
  CHECK_FALSE(told->driver_version.empty());
  CHECK_FALSE(told->runtime_version.empty());
  CHECK(told->memory_bytes > 0);
  CHECK(told->free_memory_bytes <= told->memory_bytes);
  CHECK(told->wavefront_size == device->description().wavefront_size);
  CHECK(told->compute_units > 0);
  CHECK(told->max_workgroup_size >= 1024);
  CHECK(told->last_level_cache_bytes > 0);
}

}  // namespace hipplan::test
