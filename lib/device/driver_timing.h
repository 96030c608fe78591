// What events and replays of the HIP and the CUDA device have in common. D is the device class.
#pragma once

#include <initializer_list>
#include <utility>

#include "device/driver_device.h"

namespace hipplan::device {

/// An event of the driver; destroyed with this object.
template <class D>
class DriverEvent final : public Event {
 public:
  DriverEvent(const D& device, void* handle) : device_(device), handle_(handle) {}
  DriverEvent(const DriverEvent&) = delete;
  DriverEvent& operator=(const DriverEvent&) = delete;
  ~DriverEvent() override {
    (void)device_.call([&] { return device_.api().event_destroy(handle_); });
  }
  Result<void> record() override {
    return device_.check([&] { return device_.api().event_record(handle_, nullptr); },
                         "cannot record an event");
  }
  Result<double> microseconds_since(const Event& earlier) override {
    const auto* from = dynamic_cast<const DriverEvent*>(&earlier);
    if (from == nullptr || &from->device_ != &device_)
      return Error{.code = Code::internal,
                   .reason = "foreign-event",
                   .where = device_.name(),
                   .what = "the event belongs to another device"};
    float milliseconds = 0;
    HIPPLAN_TRY(device_.check([&] { return device_.api().event_synchronize(handle_); },
                              "the device's work failed"));
    HIPPLAN_TRY(device_.check(
        [&] { return device_.api().event_elapsed(&milliseconds, from->handle_, handle_); },
        "cannot read the time between two events"));
    return double{milliseconds} * 1000;
  }

 private:
  const D& device_;
  void* handle_;
};

/// A graph of launches, one after the other, and what the driver made of it. A backend's class
/// fills it in: create(), then append() per launch, then its own way to instantiate. The driver
/// copies a launch's arguments when it is appended.
template <class D>
class DriverReplay : public Replay {
 public:
  explicit DriverReplay(D& device) : device_(device) {}
  DriverReplay(const DriverReplay&) = delete;
  DriverReplay& operator=(const DriverReplay&) = delete;
  ~DriverReplay() override {
    if (executable_ != nullptr)
      (void)device_.call([&] { return device_.api().graph_executable_destroy(executable_); });
    if (graph_ != nullptr) (void)device_.call([&] { return device_.api().graph_destroy(graph_); });
  }
  Result<void> start() override {
    HIPPLAN_TRY(device_.check([&] { return device_.api().graph_launch(executable_, nullptr); },
                              "the driver refuses the graph's launch"));
    device_.count_launches(launches_);
    return {};
  }

 protected:
  Result<void> create() {
    return device_.check([&] { return device_.api().graph_create(&graph_, 0); },
                         "cannot make a graph");
  }
  /// Puts one launch behind those before it. Node is the driver's description of it.
  template <class Node>
  Result<void> append(const DriverKernel& kernel, const Launch& launch, const Node& node) {
    void* added = nullptr;
    const Status status = device_.call([&] {
      return device_.api().graph_add_kernel(&added, graph_, &last_, last_ == nullptr ? 0 : 1,
                                            &node);
    });
    if (status != kSuccess)
      return device_.fail(
          status, cat("the driver takes into no graph the ", launch_text(kernel.name, launch)));
    last_ = added;
    ++launches_;
    return {};
  }

  D& device_;
  void* graph_ = nullptr;
  void* executable_ = nullptr;

 private:
  void* last_ = nullptr;
  uint64_t launches_ = 0;
};

/// An entry point, and whether the library has it.
struct EntryPresence {
  bool there;
  const char* name;
};

/// Fails with not-supported, naming `what` and the first of `entries` that the library lacks.
template <class D>
Result<void> need_entries(const D& device, const char* what,
                          std::initializer_list<EntryPresence> entries) {
  for (const auto& entry : entries)
    if (!entry.there)
      return not_supported(device.name(), what, cat(device.api().path, " without ", entry.name));
  return {};
}

}  // namespace hipplan::device
