// Events, gates and replays of the HIP device. Work goes to the null stream, like launches do.
#include "device/driver_timing.h"
#include "device/hip/hip_device.h"

namespace hipplan::device::hip {
namespace {

/// A host function that blocks until the gate opens; the stream waits for it.
class HipGate final : public Gate {
 public:
  explicit HipGate(std::shared_ptr<GateState> state) : state_(std::move(state)) {}
  HipGate(const HipGate&) = delete;
  HipGate& operator=(const HipGate&) = delete;
  ~HipGate() override { (void)open(); }
  Result<void> open() override { return state_->open(); }

 private:
  std::shared_ptr<GateState> state_;
};

/// Owns its share of the state: the gate may be gone when the stream comes by.
extern "C" void hipplan_hold_stream(void* data) {
  const std::unique_ptr<std::shared_ptr<GateState>> own(
      static_cast<std::shared_ptr<GateState>*>(data));
  (*own)->hold();
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
    const Launch& launch = item.launch;
    HIPPLAN_TRY_ASSIGN(const DriverKernel* const kernel,
                       device_.ready_kernel(*item.kernel, launch));
    ArgumentList<Api> arguments(launch.arguments);
    void* none[] = {nullptr};  // a kernel without arguments: one of the two lists must be there
    const KernelNode node = {{launch.block.x, launch.block.y, launch.block.z},
                             arguments.list(),
                             kernel->function,
                             {launch.grid.x, launch.grid.y, launch.grid.z},
                             arguments.list() == nullptr ? none : nullptr,
                             launch.dynamic_lds_bytes};
    return append(*kernel, launch, node);
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
  const auto state = std::make_shared<GateState>(name(), longest_hold());
  auto shared = std::make_unique<std::shared_ptr<GateState>>(state);
  HIPPLAN_TRY(
      check([&] { return a.launch_host_function(nullptr, hipplan_hold_stream, shared.get()); },
            "cannot hold up work"));
  (void)shared.release();  // the host function frees it
  return std::unique_ptr<Gate>(new HipGate(state));
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

}  // namespace hipplan::device::hip
