// Events, gates and replays of the CUDA device. Work goes to the null stream, like launches do.
#include <cstring>
#include <thread>

#include "device/cuda/cuda_device.h"
#include "device/driver_timing.h"

namespace hipplan::device::cuda {
namespace {

/// Words that gates wait on; a word is used again after so many gates.
constexpr uint32_t kGateWords = 1024;
constexpr unsigned kPortableMapped = 3;  // CU_MEMHOSTALLOC_PORTABLE, …_DEVICEMAP
constexpr unsigned kWaitReached = 0;     // CU_STREAM_WAIT_VALUE_GEQ: cyclic, as reached() is

/// Whether `number` or a later one stands in a word.
bool reached(uint32_t word, uint32_t number) {
  return static_cast<int32_t>(word - number) >= 0;
}

/// The stream waits until a word of host memory has reached the gate's number. A thread of its own
/// ends a hold that lasts too long.
class CudaGate final : public Gate {
 public:
  CudaGate(uint32_t* word, uint32_t number, std::string device, std::chrono::milliseconds longest)
      : word_(word), number_(number), state_(std::move(device), longest), watchdog_([this] {
          state_.hold();
          let_go();
        }) {}
  CudaGate(const CudaGate&) = delete;
  CudaGate& operator=(const CudaGate&) = delete;
  ~CudaGate() override {
    (void)open();
    watchdog_.join();
  }
  Result<void> open() override {
    auto done = state_.open();
    let_go();
    return done;
  }

 private:
  /// The word only rises: a later gate may wait on it already.
  void let_go() {
    const std::atomic_ref<uint32_t> word(*word_);
    uint32_t old = word.load();
    while (!reached(old, number_) && !word.compare_exchange_weak(old, number_)) {
    }
  }
  uint32_t* word_;
  uint32_t number_;
  GateState state_;
  std::thread watchdog_;
};

class CudaReplay final : public DriverReplay<CudaDevice> {
 public:
  using DriverReplay::DriverReplay;
  Result<void> record(std::span<const KernelLaunch> launches) {
    const Api& api = device_.api();
    HIPPLAN_TRY(create());
    for (const auto& launch : launches) HIPPLAN_TRY(add(launch));
    return device_.check([&] { return api.graph_instantiate(&executable_, graph_, 0); },
                         "the driver refuses the graph of launches");
  }

 private:
  Result<void> add(const KernelLaunch& item) {
    const Launch& launch = item.launch;
    HIPPLAN_TRY_ASSIGN(const DriverKernel* const kernel,
                       device_.ready_kernel(*item.kernel, launch));
    ArgumentList<Api> arguments(launch.arguments);
    const KernelNode node = {
        kernel->function, launch.grid.x,   launch.grid.y,  launch.grid.z,
        launch.block.x,   launch.block.y,  launch.block.z, launch.dynamic_lds_bytes,
        nullptr,          arguments.list()};
    return append(*kernel, launch, node);
  }
};

}  // namespace

Result<std::unique_ptr<Event>> CudaDevice::make_event() {
  const Api& a = api();
  HIPPLAN_TRY(need_entries(*this, "timing by events",
                           {{a.event_create != nullptr, "cuEventCreate"},
                            {a.event_destroy != nullptr, "cuEventDestroy_v2"},
                            {a.event_record != nullptr, "cuEventRecord"},
                            {a.event_synchronize != nullptr, "cuEventSynchronize"},
                            {a.event_elapsed != nullptr, "cuEventElapsedTime"}}));
  void* handle = nullptr;
  HIPPLAN_TRY(check([&] { return a.event_create(&handle, 0); }, "cannot make an event"));
  return std::unique_ptr<Event>(new DriverEvent<CudaDevice>(*this, handle));
}

Result<std::unique_ptr<Gate>> CudaDevice::close_gate() {
  const Api& a = api();
  HIPPLAN_TRY(need_entries(*this, "holding up work",
                           {{a.host_allocate != nullptr, "cuMemHostAlloc"},
                            {a.host_release != nullptr, "cuMemFreeHost"},
                            {a.stream_wait_value != nullptr, "cuStreamWaitValue32_v2"}}));
  const std::lock_guard lock(gate_mutex_);
  if (gate_words_ == nullptr) {
    constexpr size_t kBytes = kGateWords * sizeof(uint32_t);
    HIPPLAN_TRY(check([&] { return a.host_allocate(&gate_words_, kBytes, kPortableMapped); },
                      "cannot allocate memory for gates"));
    std::memset(gate_words_, 0, kBytes);
  }
  const uint32_t number = ++gates_;
  auto* word = static_cast<uint32_t*>(gate_words_) + number % kGateWords;
  auto gate = std::make_unique<CudaGate>(word, number, name(), longest_hold());
  HIPPLAN_TRY(check(
      [&] {
        return a.stream_wait_value(nullptr, reinterpret_cast<DeviceAddress>(word), number,
                                   kWaitReached);
      },
      "cannot hold up work"));
  return std::unique_ptr<Gate>(std::move(gate));
}

Result<std::unique_ptr<Replay>> CudaDevice::make_replay(std::span<const KernelLaunch> launches) {
  const Api& a = api();
  HIPPLAN_TRY(need_entries(*this, "replaying recorded launches",
                           {{a.graph_create != nullptr, "cuGraphCreate"},
                            {a.graph_destroy != nullptr, "cuGraphDestroy"},
                            {a.graph_add_kernel != nullptr, "cuGraphAddKernelNode"},
                            {a.graph_instantiate != nullptr, "cuGraphInstantiateWithFlags"},
                            {a.graph_launch != nullptr, "cuGraphLaunch"},
                            {a.graph_executable_destroy != nullptr, "cuGraphExecDestroy"}}));
  auto replay = std::make_unique<CudaReplay>(*this);
  HIPPLAN_TRY(replay->record(launches));
  return std::unique_ptr<Replay>(std::move(replay));
}

}  // namespace hipplan::device::cuda
