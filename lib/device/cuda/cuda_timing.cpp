// Events, gates and replays of the CUDA device. Work goes to the null stream, like launches do.
#include <initializer_list>

#include "device/cuda/cuda_device.h"

namespace hipplan::device::cuda {
namespace {

class CudaEvent final : public Event {
 public:
  CudaEvent(const CudaDevice& device, void* handle) : device_(device), handle_(handle) {}
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() override {
    (void)device_.call([&] { return device_.api().event_destroy(handle_); });
  }
  Result<void> record() override {
    return device_.check([&] { return device_.api().event_record(handle_, nullptr); },
                         "cannot record an event");
  }
  Result<double> microseconds_since(const Event& earlier) override {
    const auto* from = dynamic_cast<const CudaEvent*>(&earlier);
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
  const CudaDevice& device_;
  void* handle_;
};

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

class CudaReplay final : public Replay {
 public:
  explicit CudaReplay(CudaDevice& device) : device_(device) {}
  CudaReplay(const CudaReplay&) = delete;
  CudaReplay& operator=(const CudaReplay&) = delete;
  ~CudaReplay() override {
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
    return device_.check([&] { return api.graph_instantiate(&executable_, graph_, 0); },
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

  CudaDevice& device_;
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

Error lacks_entry(const CudaDevice& device, const char* what, const char* entry) {
  return not_supported(device.name(), what, cat(device.api().path, " without ", entry));
}

}  // namespace

Result<std::unique_ptr<Event>> CudaDevice::make_event() {
  const Api& a = api();
  if (const char* entry = missing_of({{a.event_create != nullptr, "cuEventCreate"},
                                      {a.event_destroy != nullptr, "cuEventDestroy_v2"},
                                      {a.event_record != nullptr, "cuEventRecord"},
                                      {a.event_synchronize != nullptr, "cuEventSynchronize"},
                                      {a.event_elapsed != nullptr, "cuEventElapsedTime"}}))
    return lacks_entry(*this, "timing by events", entry);
  void* handle = nullptr;
  HIPPLAN_TRY(check([&] { return a.event_create(&handle, 0); }, "cannot make an event"));
  return std::unique_ptr<Event>(new CudaEvent(*this, handle));
}

Result<std::unique_ptr<Gate>> CudaDevice::close_gate() {
  const Api& a = api();
  if (const char* entry = missing_of({{a.host_allocate != nullptr, "cuMemHostAlloc"},
                                      {a.host_release != nullptr, "cuMemFreeHost"},
                                      {a.stream_wait_value != nullptr, "cuStreamWaitValue32_v2"}}))
    return lacks_entry(*this, "holding up work", entry);
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
  if (const char* entry =
          missing_of({{a.graph_create != nullptr, "cuGraphCreate"},
                      {a.graph_destroy != nullptr, "cuGraphDestroy"},
                      {a.graph_add_kernel != nullptr, "cuGraphAddKernelNode"},
                      {a.graph_instantiate != nullptr, "cuGraphInstantiateWithFlags"},
                      {a.graph_launch != nullptr, "cuGraphLaunch"},
                      {a.graph_executable_destroy != nullptr, "cuGraphExecDestroy"}}))
    return lacks_entry(*this, "replaying recorded launches", entry);
  auto replay = std::make_unique<CudaReplay>(*this);
  HIPPLAN_TRY(replay->record(launches));
  return std::unique_ptr<Replay>(std::move(replay));
}

Result<Facts> CudaDevice::facts() const {
  HIPPLAN_TRY_ASSIGN(Facts facts, runtime_->facts(index_));
  size_t total = 0, free_bytes = 0;
  HIPPLAN_TRY(check([&] { return api().memory_info(&free_bytes, &total); },
                    "cannot read how much memory is free"));
  facts.free_memory_bytes = free_bytes;
  return facts;
}

}  // namespace hipplan::device::cuda
