// What the files of the CUDA stand-in share: a null device that keeps memory and loads code,
// injected faults, contexts, and the order of work, which a wait for a value may hold up.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/null.h"

#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace stand_in {

using namespace hipplan;
using Status = int;
constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                 kInvalidDevice = 101, kInvalidImage = 200, kInvalidContext = 201, kNotFound = 500,
                 kLaunchFailed = 719;
constexpr int kMostDevices = 4;

std::string setting(const char* name, const char* otherwise);
int devices();
/// The status that CUDA_STAND_IN_FAULT asks `entry` to give.
Status injected(const std::string& entry);

/// Work of the null stream: done in order; an item that is not ready holds up those behind it.
struct Work {
  std::function<bool()> ready;  ///< empty: always
  std::function<void()> run;
};

struct State {
  State();
  device::NullDevice device;
  std::map<void*, std::unique_ptr<device::Module>> modules;
  std::map<void*, std::string> kernel_names;
  std::map<void*, int> lds_granted;
  std::map<uint64_t, uint64_t> sizes;
  uint64_t bytes_in_use = 0;
  int contexts[kMostDevices] = {};  ///< how often each device's context is held; its address is it
  std::deque<Work> stream;
  double clock_us = 0;  ///< the device's time: a launch takes one
  bool failed = false;  ///< work has failed; told by the next call that waits
  std::recursive_mutex mutex;
};
State& state();
/// Whether one of the contexts is current on this thread.
bool has_context();

/// Does what is ready; `all`: waits until nothing is left. False when work has failed.
bool pump(bool all);
void in_order(Work work);
/// A launch whose arguments are kept. Kernels named add_one compute, all others do nothing.
void start_launch(void* function, device::Launch launch, std::vector<std::byte> arguments);

/// Runs `f` under the lock unless a fault is asked for; its failure becomes `status`.
template <class F>
Status on_device(const char* entry, Status status, F&& f, bool needs_context = false) {
  const std::lock_guard lock(state().mutex);
  if (const Status fault = injected(entry); fault != kSuccess) return fault;
  if (devices() == 0) return kNoDevice;
  if (needs_context && !has_context()) return kInvalidContext;
  return f(state()) ? kSuccess : status;
}
template <class F>
Status in_context(const char* entry, Status status, F&& f) {
  return on_device(entry, status, std::forward<F>(f), true);
}

}  // namespace stand_in
