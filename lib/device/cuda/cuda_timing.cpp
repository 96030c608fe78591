// Events, gates and replays of the CUDA device. Work goes to the null stream, like launches do.
#include "device/cuda/cuda_device.h"
#include "device/driver_timing.h"

namespace hipplan::device::cuda {
namespace {

/// Words that gates wait on; a word is used again after so many gates.
constexpr uint32_t kGateWords = 1024;
constexpr unsigned kPortableMapped = 3;  // CU_MEMHOSTALLOC_PORTABLE, …_DEVICEMAP
constexpr unsigned kWaitEqual = 1;       // CU_STREAM_WAIT_VALUE_EQ

/// The stream waits until a word of host memory holds the gate's number.
class CudaGate final : public Gate {
 public:
  CudaGate(uint32_t* word, uint32_t number) : word_(word), number_(number) {}
  CudaGate(const CudaGate&) = delete;
  CudaGate& operator=(const CudaGate&) = delete;
  ~CudaGate() override { store(); }
  Result<void> open() override {
    store();
    return {};
  }

 private:
  void store() { std::atomic_ref<uint32_t>(*word_).store(number_); }
  uint32_t* word_;
  uint32_t number_;
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
    HIPPLAN_TRY_ASSIGN(void* const function,
                       device_.function_of(*item.kernel, launch.dynamic_lds_bytes));
    size_t bytes = launch.arguments.size();
    auto* arguments = const_cast<std::byte*>(launch.arguments.data());
    void* extra[] = {kArgumentBuffer, arguments, kArgumentSize, &bytes, kArgumentEnd};
    const KernelNode node = {function,       launch.grid.x,
                             launch.grid.y,  launch.grid.z,
                             launch.block.x, launch.block.y,
                             launch.block.z, launch.dynamic_lds_bytes,
                             nullptr,        bytes == 0 ? nullptr : extra};
    return append(node);
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
  if (gate_words_ == nullptr)
    HIPPLAN_TRY(check(
        [&] {
          return a.host_allocate(&gate_words_, kGateWords * sizeof(uint32_t), kPortableMapped);
        },
        "cannot allocate memory for gates"));
  const uint32_t number = ++gates_;
  auto* word = static_cast<uint32_t*>(gate_words_) + number % kGateWords;
  std::atomic_ref<uint32_t>(*word).store(number - 1);
  HIPPLAN_TRY(check(
      [&] {
        return a.stream_wait_value(nullptr, reinterpret_cast<DeviceAddress>(word), number,
                                   kWaitEqual);
      },
      "cannot hold up work"));
  return std::unique_ptr<Gate>(new CudaGate(word, number));
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

Result<Facts> CudaDevice::facts() const {
  HIPPLAN_TRY_ASSIGN(Facts known, runtime_->facts(index_));
  return with_free_memory(*this, std::move(known));
}

}  // namespace hipplan::device::cuda
