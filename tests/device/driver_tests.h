// What the devices behind a driver must answer, over the stand-in of its library. S describes a
// stand-in:
//   Runtime, kBackend, kLibrary (its file), kFirstEntry, kFaultVariable, kDevicesVariable, kTarget
//   and kOtherTarget (stems of target files), kArch and kOtherArch; code() of kArch, other_code()
//   of another; open(runtime, index, description, longest hold); current_of(api, index): what is
//   current on a thread that uses the device; Entries: names of entry points
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/device.h"
#include "device/driver_gate.h"
#include "must.h"
#include "target_files.h"

namespace hipplan::test {

/// A variable of a stand-in for the length of a scope.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

inline bool mentions(const Error& error, const std::string& text) {
  return error.text().find(text) != std::string::npos;
}

template <class S>
std::shared_ptr<typename S::Runtime> stand_in() {
  return must(S::Runtime::open(S::kLibrary));
}
template <class S>
std::unique_ptr<device::Device> stand_in_device(
    int index = 0, std::chrono::milliseconds longest_hold = device::kLongestHold) {
  return must(S::open(stand_in<S>(), index, shipped_target(S::kTarget), longest_hold));
}
/// The failure of `call` while `entry` gives `status`; the message must name the number.
template <class S, class Call>
Error failing(const char* entry, int status, const Call& call) {
  CAPTURE(entry);
  const Setting fault(S::kFaultVariable, cat(entry, "=", status));
  const Error error = refusal(call());
  CHECK(mentions(error, std::to_string(status)));
  return error;
}

template <class S>
void check_absent_libraries() {
  const auto absent = refusal(S::Runtime::open("/nowhere/libdriver.so.1"));
  CHECK(absent.code == Code::machine);
  CHECK(absent.reason == cat(S::kBackend, "-library"));
  CHECK(mentions(absent, "/nowhere/libdriver.so.1"));
  const auto other = refusal(S::Runtime::open("libc.so.6"));
  CHECK(other.code == Code::machine);
  CHECK(other.reason == cat(S::kBackend, "-symbol"));
  CHECK(mentions(other, S::kFirstEntry));
}

template <class S>
void check_no_device() {
  const Setting none(S::kDevicesVariable, "0");
  const auto runtime = stand_in<S>();
  CHECK(must(runtime->count()) == 0);
  const auto refused =
      refusal(S::open(runtime, 0, shipped_target(S::kTarget), device::kLongestHold));
  CHECK(refused.code == Code::machine);
  CHECK(refused.reason == "no-device");
}

template <class S>
void check_identity() {
  const auto runtime = stand_in<S>();
  const auto identity = must(runtime->identify(0));
  CHECK(identity.arch.base == S::kArch);
  CHECK(identity.name == shipped_target(S::kTarget).name);
  CHECK(identity.memory_bytes == shipped_target(S::kTarget).memory_bytes);
  CHECK_FALSE(runtime->identify(1).ok());
  CHECK_FALSE(runtime->identify(-1).ok());
  const auto refused =
      refusal(S::open(runtime, 0, shipped_target(S::kOtherTarget), device::kLongestHold));
  CHECK(refused.reason == "device-arch");
  CHECK(mentions(refused, S::kArch));
  CHECK(mentions(refused, S::kOtherArch));
}

/// A driver that does not start, count or tell fails with its own words.
template <class S>
void check_silent_driver() {
  for (const char* entry : S::Entries::kQuestions) {
    CAPTURE(entry);
    const Setting fault(S::kFaultVariable, cat(entry, "=999"));
    const auto runtime = S::Runtime::open(S::kLibrary);
    const Error error = runtime.ok() ? refusal((*runtime)->identify(0)) : runtime.error();
    CHECK(error.code == Code::machine);
    CHECK(error.reason == "driver");
    CHECK(mentions(error, "999"));
    CHECK(mentions(error, "told by the stand-in"));
  }
}

template <class S>
void check_out_of_memory() {
  const auto device = stand_in_device<S>();
  const auto refused = refusal(device->allocate(uint64_t{1} << 50));
  CHECK(refused.code == Code::machine);
  CHECK(refused.reason == "device-memory");
  CHECK(mentions(refused, std::to_string(uint64_t{1} << 50)));
  CHECK(mentions(refused, "free"));
}

/// Memory that nobody has released goes with its device.
template <class S>
void check_forgotten_memory() {
  const auto other = stand_in_device<S>();
  const auto free_bytes = [&] { return must(other->facts()).free_memory_bytes; };
  const uint64_t before = free_bytes();
  {
    const auto device = stand_in_device<S>();
    const auto released = must(device->allocate(1000));
    must(device->allocate(1 << 20));
    must(device->allocate(1 << 20));
    must(device->release(released));
    CHECK(free_bytes() < before);
    // What the driver would not release is still there to be released.
    const auto kept = must(device->allocate(1000));
    failing<S>(S::Entries::kRelease, 999, [&] { return device->release(kept); });
  }
  CHECK(free_bytes() == before);
}

template <class S>
void check_failing_calls() {
  using E = typename S::Entries;
  const auto device = stand_in_device<S>();
  const Bytes code = S::code();
  const auto module = must(device->load(code));
  const auto* kernel = must(module->kernel("no_arguments"));
  const auto memory = must(device->allocate(64));
  Bytes bytes(64);
  const auto in = failing<S>(E::kCopyIn, 1, [&] { return device->copy_in(memory, bytes); });
  CHECK(in.code == Code::machine);
  failing<S>(E::kCopyOut, 1, [&] { return device->copy_out(bytes, memory); });
  failing<S>(E::kFill, 1, [&] { return device->fill(memory, std::byte{1}, 64); });
  device::Launch launch;
  launch.grid = {3, 2, 1};
  launch.block = {16, 4, 1};
  launch.dynamic_lds_bytes = 640;
  const auto refused = failing<S>(E::kLaunch, 719, [&] { return device->launch(*kernel, launch); });
  CHECK(refused.code == Code::machine);
  for (const char* part : {"no_arguments", "3x2x1", "16x4x1", "640 bytes"})
    CHECK(mentions(refused, part));
  failing<S>(E::kSynchronize, 719, [&] { return device->synchronize(); });
  const auto lost = failing<S>(E::kGetCurrent, 101, [&] { return device->synchronize(); });
  CHECK(lost.reason == "no-device");
  const auto unloaded = failing<S>(E::kModuleLoad, 209, [&] { return device->load(code); });
  CHECK(unloaded.code == Code::unusable);
  CHECK(unloaded.reason == "driver-load");
  // Once the fault is gone the device works as before.
  CHECK(device->launch(*kernel, {}).ok());
  CHECK(device->synchronize().ok());
  CHECK(device->release(memory).ok());
}

template <class S>
void check_failing_timing() {
  using E = typename S::Entries;
  const auto device = stand_in_device<S>();
  const auto machine = [](const Error& error) { CHECK(error.code == Code::machine); };
  machine(failing<S>(E::kEventCreate, 2, [&] { return device->make_event(); }));
  machine(failing<S>(E::kHold, 999, [&] { return device->close_gate(); }));
  machine(failing<S>(E::kGraphCreate, 2, [&] { return device->make_replay({}); }));
  machine(failing<S>(E::kGraphInstantiate, 1, [&] { return device->make_replay({}); }));
  const auto module = must(device->load(S::code()));
  const device::KernelLaunch launches[] = {{must(module->kernel("no_arguments")), {}}};
  const auto refused = failing<S>(E::kGraphAdd, 1, [&] { return device->make_replay(launches); });
  CHECK(mentions(refused, "no_arguments"));
  // Nothing is held up or kept after a failure.
  CHECK(device->synchronize().ok());
  CHECK(device->make_event().ok());
}

template <class S>
void check_other_architecture() {
  const auto device = stand_in_device<S>();
  // The driver would take it: it says nothing.
  const auto refused = refusal(device->load(S::other_code()));
  CHECK(refused.code == Code::unusable);
  CHECK(refused.reason == "driver-load");
  CHECK(mentions(refused, S::kArch));
  CHECK(mentions(refused, S::kOtherCodeArch));
}

/// What is current on a thread belongs to the caller.
template <class S>
void check_current_device() {
  using E = typename S::Entries;
  const Setting two(S::kDevicesVariable, "2");
  const auto device = stand_in_device<S>(0), neighbour = stand_in_device<S>(1);
  const auto runtime = stand_in<S>();
  const auto& api = runtime->api();
  const auto ours = S::current_of(api, 0), others = S::current_of(api, 1);
  typename S::Runtime::Api::Current now{}, at_first{};
  REQUIRE(api.get_current(&at_first) == device::kSuccess);
  REQUIRE(api.set_current(others) == device::kSuccess);
  const auto stays = [&] {
    REQUIRE(api.get_current(&now) == device::kSuccess);
    CHECK(now == others);
  };
  const auto memory = must(device->allocate(64));
  stays();
  auto module = must(device->load(S::code()));
  must(device->launch(*must(module->kernel("no_arguments")), {}));
  must(device->synchronize());
  stays();
  failing<S>(E::kFill, 1, [&] { return device->fill(memory, std::byte{1}, 64); });
  stays();
  auto event = must(device->make_event());
  must(event->record());
  event.reset();
  CHECK(must(device->close_gate())->open().ok());
  module.reset();
  stays();
  // Where the device is current already, nothing is set.
  REQUIRE(api.set_current(ours) == device::kSuccess);
  {
    const Setting fault(S::kFaultVariable, cat(E::kSetCurrent, "=101"));
    CHECK(device->synchronize().ok());
    CHECK(device->release(memory).ok());
    CHECK_FALSE(neighbour->synchronize().ok());
  }
  REQUIRE(api.set_current(at_first) == device::kSuccess);
  S::give_back(api, 0), S::give_back(api, 1);
}

/// A gate that nobody opens opens by itself, and says so.
template <class S>
void check_gate_expires() {
  const auto device = stand_in_device<S>(0, std::chrono::milliseconds(30));
  const auto module = must(device->load(S::code()));
  const auto* kernel = must(module->kernel("no_arguments"));
  auto gate = must(device->close_gate());
  must(device->launch(*kernel, {}));
  must(device->synchronize());  // it would wait for ever
  const auto expired = refusal(gate->open());
  CHECK(expired.code == Code::machine);
  CHECK(expired.reason == "gate-expired");
  gate.reset();
  // The next one holds again, and in time is in time.
  gate = must(device->close_gate());
  must(device->launch(*kernel, {}));
  CHECK(gate->open().ok());
  must(device->synchronize());
}

/// Gates beyond the words that they wait on: each holds, and opens, though words are used again.
template <class S>
void check_many_gates() {
  const auto device = stand_in_device<S>();
  const auto module = must(device->load(S::code()));
  const auto* kernel = must(module->kernel("no_arguments"));
  const auto before = must(device->make_event()), after = must(device->make_event());
  for (int i = 0; i < S::kManyGates; ++i) {
    auto gate = must(device->close_gate());
    must(device->launch(*kernel, {}));
    must(gate->open());
    must(device->synchronize());
  }
}

}  // namespace hipplan::test
