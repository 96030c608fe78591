// Events, gates and replays of the HIP device. Work goes to the null stream, like launches do.
#include <chrono>
#include <condition_variable>

#include "device/hip/hip_device.h"

namespace hipplan::device::hip {
namespace {

/// A gate that nobody opens lets go by itself, so that a host that hangs does not hang the GPU.
constexpr std::chrono::seconds kLongestHold{10};

class HipEvent final : public Event {
 public:
  HipEvent(const HipDevice& device, void* handle) : device_(device), handle_(handle) {}
  ~HipEvent() override {
    (void)device_.call([&] { return device_.api().event_destroy(handle_); });
  }
  Result<void> record() override {
    return device_.check([&] { return device_.api().event_record(handle_, nullptr); },
                         "cannot record an event");
  }
  Result<double> microseconds_since(const Event& earlier) override {
    const auto* from = dynamic_cast<const HipEvent*>(&earlier);
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
  const HipDevice& device_;
  void* handle_;
};

/// What the host function and the gate share; the later of the two frees it.
struct GateState {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false, expired = false;
};

/// A host function that blocks until the gate opens; the stream waits for it.
class HipGate final : public Gate {
 public:
  explicit HipGate(std::string device) : device_(std::move(device)) {}
  ~HipGate() override { (void)open(); }
  Result<void> open() override {
    const std::lock_guard lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
    if (!state_->expired) return {};
    return Error{.code = Code::machine,
                 .reason = "gate-expired",
                 .where = device_,
                 .what = "work that was held up has started by itself",
                 .expected = cat("a start within ", kLongestHold.count(), " seconds")};
  }
  [[nodiscard]] std::shared_ptr<GateState> state() const { return state_; }

 private:
  std::string device_;
  std::shared_ptr<GateState> state_ = std::make_shared<GateState>();
};

extern "C" void hipplan_hold_stream(void* data) {
  const std::unique_ptr<std::shared_ptr<GateState>> own(
      static_cast<std::shared_ptr<GateState>*>(data));
  GateState& state = **own;
  std::unique_lock lock(state.mutex);
  state.expired = !state.changed.wait_for(lock, kLongestHold, [&] { return state.open; });
}

class HipReplay final : public Replay {
 public:
  explicit HipReplay(HipDevice& device) : device_(device) {}
  HipReplay(const HipReplay&) = delete;
  HipReplay& operator=(const HipReplay&) = delete;
  ~HipReplay() override {
    if (executable_ != nullptr)
      (void)device_.call([&] { return device_.api().graph_executable_destroy(executable_); });
    if (graph_ != nullptr) (void)device_.call([&] { return device_.api().graph_destroy(graph_); });
  }

  Result<void> record(std::span<const KernelLaunch> launches) {
    const Api& api = device_.api();
    HIPPLAN_TRY(device_.check([&] { return api.graph_create(&graph_, 0); }, "cannot make a graph"));
    void* last = nullptr;
    for (const auto& launch : launches) HIPPLAN_TRY(add(launch, last));
    launches_ = launches.size();
    return device_.check(
        [&] { return api.graph_instantiate(&executable_, graph_, nullptr, nullptr, 0); },
        "the driver refuses the graph of launches");
  }
  Result<void> start() override {
    HIPPLAN_TRY(device_.check([&] { return device_.api().graph_launch(executable_, nullptr); },
                              "the driver refuses the graph's launch"));
    device_.count_launches(launches_);
    return {};
  }

 private:
  /// Puts one launch behind `last`, and itself there.
  Result<void> add(const KernelLaunch& item, void*& last) {
    HIPPLAN_TRY_ASSIGN(void* const function, device_.function_of(*item.kernel));
    const Launch& launch = item.launch;
    Bytes arguments(launch.arguments.begin(), launch.arguments.end());
    size_t bytes = arguments.size();
    void* extra[] = {kArgumentBuffer, arguments.data(), kArgumentSize, &bytes, kArgumentEnd};
    void* none[] = {nullptr};  // a kernel without arguments: one of the two lists must be there
    const KernelNode node = {{launch.block.x, launch.block.y, launch.block.z},
                             bytes == 0 ? nullptr : extra,
                             function,
                             {launch.grid.x, launch.grid.y, launch.grid.z},
                             bytes == 0 ? none : nullptr,
                             launch.dynamic_lds_bytes};
    void* added = nullptr;
    HIPPLAN_TRY(device_.check(
        [&] {
          return device_.api().graph_add_kernel(&added, graph_, &last, last == nullptr ? 0 : 1,
                                                &node);
        },
        "cannot add a launch to a graph"));
    last = added;
    return {};
  }

  HipDevice& device_;
  void* graph_ = nullptr;
  void* executable_ = nullptr;
  uint64_t launches_ = 0;
};

/// The first of some entry points that the library lacks, or null.
struct Entry {
  bool there;
  const char* name;
};
const char* missing_of(std::initializer_list<Entry> entries) {
  for (const auto& entry : entries)
    if (!entry.there) return entry.name;
  return nullptr;
}

Error lacks_entry(const HipDevice& device, const char* what, const char* entry) {
  return not_supported(device.name(), what, cat(device.api().path, " without ", entry));
}

}  // namespace

Result<std::unique_ptr<Event>> HipDevice::make_event() {
  const Api& a = api();
  if (const char* entry = missing_of({{a.event_create != nullptr, "hipEventCreate"},
                                      {a.event_destroy != nullptr, "hipEventDestroy"},
                                      {a.event_record != nullptr, "hipEventRecord"},
                                      {a.event_synchronize != nullptr, "hipEventSynchronize"},
                                      {a.event_elapsed != nullptr, "hipEventElapsedTime"}}))
    return lacks_entry(*this, "timing by events", entry);
  void* handle = nullptr;
  HIPPLAN_TRY(check([&] { return a.event_create(&handle); }, "cannot make an event"));
  return std::unique_ptr<Event>(new HipEvent(*this, handle));
}

Result<std::unique_ptr<Gate>> HipDevice::close_gate() {
  const Api& a = api();
  if (a.launch_host_function == nullptr)
    return lacks_entry(*this, "holding up work", "hipLaunchHostFunc");
  auto gate = std::make_unique<HipGate>(name());
  auto shared = std::make_unique<std::shared_ptr<GateState>>(gate->state());
  HIPPLAN_TRY(
      check([&] { return a.launch_host_function(nullptr, hipplan_hold_stream, shared.get()); },
            "cannot hold up work"));
  (void)shared.release();  // the host function frees it
  return std::unique_ptr<Gate>(std::move(gate));
}

Result<std::unique_ptr<Replay>> HipDevice::make_replay(std::span<const KernelLaunch> launches) {
  const Api& a = api();
  if (const char* entry =
          missing_of({{a.graph_create != nullptr, "hipGraphCreate"},
                      {a.graph_destroy != nullptr, "hipGraphDestroy"},
                      {a.graph_add_kernel != nullptr, "hipGraphAddKernelNode"},
                      {a.graph_instantiate != nullptr, "hipGraphInstantiate"},
                      {a.graph_launch != nullptr, "hipGraphLaunch"},
                      {a.graph_executable_destroy != nullptr, "hipGraphExecDestroy"}}))
    return lacks_entry(*this, "replaying recorded launches", entry);
  auto replay = std::make_unique<HipReplay>(*this);
  HIPPLAN_TRY(replay->record(launches));
  return std::unique_ptr<Replay>(std::move(replay));
}

Result<Facts> HipDevice::facts() const {
  HIPPLAN_TRY_ASSIGN(Facts facts, runtime_->facts(index_));
  size_t total = 0, free_bytes = 0;
  HIPPLAN_TRY(check([&] { return api().memory_info(&free_bytes, &total); },
                    "cannot read how much memory is free"));
  facts.free_memory_bytes = free_bytes;
  return facts;
}

}  // namespace hipplan::device::hip
