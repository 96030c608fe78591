// What the files of the HIP stand-in share: the emulated device behind it, injected faults, and the
// order of work, which may be held up.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "device/device.h"

#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace stand_in {

using namespace hipplan;
using Status = int;
constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                 kInvalidDevice = 101, kInvalidImage = 200, kNotFound = 500, kLaunchFailure = 719;

std::string setting(const char* name, const char* otherwise);

/// Work in order. It runs at once, unless a host function is under way: what is started then waits,
/// as on a stream, until the function has returned and something looks.
struct Stream {
  std::thread host_function;
  std::atomic<bool> returned{true};
  std::vector<std::function<Status()>> waiting;
  Status failed = 0;    ///< of work that had waited; told by the next call that waits
  double clock_us = 0;  ///< the device's time
  ~Stream() {
    if (host_function.joinable()) host_function.join();
  }
};

struct State {
  std::unique_ptr<device::Device> device;
  std::map<void*, std::unique_ptr<device::Module>> modules;
  std::map<std::string, int> calls;
  uint64_t bytes_in_use = 0;
  std::map<void*, uint64_t> sizes;
  std::recursive_mutex mutex;
  std::string why = "told by the stand-in";  ///< the last failure behind a status
  Stream stream;
};
State& state();

/// The status that STAND_IN_FAULT asks this call of `entry` to give.
Status injected(const std::string& entry);
device::Device* device_or_null();
int devices();
bool no_device();

/// Runs `f` on the device unless a fault is asked for; its failure becomes `status`.
template <class F>
Status on_device(const char* entry, Status status, F&& f) {
  const std::lock_guard lock(state().mutex);
  if (const Status fault = injected(entry); fault != kSuccess) return fault;
  if (no_device()) return kNoDevice;
  device::Device* device = device_or_null();
  if (device == nullptr) return kInvalidDevice;
  return f(*device) ? kSuccess : status;
}

inline device::Address address(const void* pointer) {
  return reinterpret_cast<device::Address>(pointer);
}

/// Runs `work` in the stream's order: at once, or later when the stream is held up.
Status in_order(std::function<Status()> work);
/// Waits for the stream as a call that blocks does. Gives what failed meanwhile.
Status drain();
/// A launch whose arguments the stream keeps. `follows`: a graph starts it right behind another.
Status run_launch(device::Device& device, const device::Kernel& kernel, device::Launch launch,
                  std::vector<std::byte> arguments, bool follows = false);

}  // namespace stand_in
