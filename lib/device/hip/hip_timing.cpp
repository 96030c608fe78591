// Events, gates and replays of the HIP device. Work goes to the null stream, like launches do.
#include <chrono>
#include <condition_variable>

#include "device/driver_timing.h"
#include "device/hip/hip_device.h"

namespace hipplan::device::hip {
namespace {

/// A gate that nobody opens lets go by itself, so that a host that hangs does not hang the GPU.
constexpr std::chrono::seconds kLongestHold{10};

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

class HipReplay final : public DriverReplay<HipDevice> {
 public:
  using DriverReplay::DriverReplay;
  Result<void> record(std::span<const KernelLaunch> launches) {
    const Api& api = device_.api();
    HIPPLAN_TRY(create());
    for (const auto& launch : launches) HIPPLAN_TRY(add(launch));
    return device_.check(
        [&] { return api.graph_instantiate(&executable_, graph_, nullptr, nullptr, 0); },
        "the driver refuses the graph of launches");
  }

 private:
  Result<void> add(const KernelLaunch& item) {
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
    return append(node);
  }
};

}  // namespace

Result<std::unique_ptr<Event>> HipDevice::make_event() {
  const Api& a = api();
  HIPPLAN_TRY(need_entries(*this, "timing by events",
                           {{a.event_create != nullptr, "hipEventCreate"},
                            {a.event_destroy != nullptr, "hipEventDestroy"},
                            {a.event_record != nullptr, "hipEventRecord"},
                            {a.event_synchronize != nullptr, "hipEventSynchronize"},
                            {a.event_elapsed != nullptr, "hipEventElapsedTime"}}));
  void* handle = nullptr;
  HIPPLAN_TRY(check([&] { return a.event_create(&handle); }, "cannot make an event"));
  return std::unique_ptr<Event>(new DriverEvent<HipDevice>(*this, handle));
}

Result<std::unique_ptr<Gate>> HipDevice::close_gate() {
  const Api& a = api();
  HIPPLAN_TRY(need_entries(*this, "holding up work",
                           {{a.launch_host_function != nullptr, "hipLaunchHostFunc"}}));
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
  HIPPLAN_TRY(need_entries(*this, "replaying recorded launches",
                           {{a.graph_create != nullptr, "hipGraphCreate"},
                            {a.graph_destroy != nullptr, "hipGraphDestroy"},
                            {a.graph_add_kernel != nullptr, "hipGraphAddKernelNode"},
                            {a.graph_instantiate != nullptr, "hipGraphInstantiate"},
                            {a.graph_launch != nullptr, "hipGraphLaunch"},
                            {a.graph_executable_destroy != nullptr, "hipGraphExecDestroy"}}));
  auto replay = std::make_unique<HipReplay>(*this);
  HIPPLAN_TRY(replay->record(launches));
  return std::unique_ptr<Replay>(std::move(replay));
}

Result<Facts> HipDevice::facts() const {
  HIPPLAN_TRY_ASSIGN(Facts known, runtime_->facts(index_));
  return with_free_memory(*this, std::move(known));
}

}  // namespace hipplan::device::hip
