// The stand-in's stream order, events, host functions, graphs and device attributes. Its device
// time is made up from what the emulator counts: the same work takes the same time on every
// machine.
#include <cstdlib>
#include <cstring>

#include "hip_stand_in.h"

namespace stand_in {
namespace {

/// Makes up the time of one launch. A launch that the host had to be waited for costs more.
double launch_us(uint64_t instructions, bool held_up) {
  constexpr double kStart = 1.0, kPerInstruction = 0.01, kHostCost = 5.0;
  static double slowing = 1;
  slowing *= 1 + std::atof(setting("STAND_IN_SLOWING", "0").c_str());
  return (kStart + kPerInstruction * static_cast<double>(instructions)) * slowing +
         (held_up ? 0 : kHostCost);
}
thread_local bool draining = false;

Status settle() {
  Stream& stream = state().stream;
  if (stream.host_function.joinable()) stream.host_function.join();
  draining = true;
  for (auto& work : std::exchange(stream.waiting, {}))
    if (const Status status = work(); status != kSuccess && stream.failed == kSuccess)
      stream.failed = status;
  draining = false;
  return stream.failed;
}

struct MarkedEvent {
  double at_us = -1;
};

struct Node {
  device::Kernel* kernel = nullptr;
  device::Launch launch;
  std::vector<std::byte> arguments;
};
using Graph = std::vector<Node>;

}  // namespace

Status in_order(std::function<Status()> work) {
  Stream& stream = state().stream;
  if (!stream.returned) {
    stream.waiting.push_back(std::move(work));
    return kSuccess;
  }
  (void)settle();
  return work();
}

Status drain() {
  (void)settle();
  return std::exchange(state().stream.failed, kSuccess);
}

Status run_launch(device::Device& device, const device::Kernel& kernel, device::Launch launch,
                  std::vector<std::byte> arguments, bool follows) {
  launch.arguments = arguments;
  const uint64_t before = device.counters().instructions;
  const auto done = device.launch(kernel, launch);
  if (!done) state().why = done.error().text();
  state().stream.clock_us +=
      launch_us(device.counters().instructions - before, draining || follows);
  return done ? kSuccess : kLaunchFailure;
}

}  // namespace stand_in

using namespace stand_in;

STAND_IN Status hipLaunchHostFunc(void*, void (*function)(void*), void* data) {
  return on_device("hipLaunchHostFunc", kInvalidValue, [&](device::Device&) {
    (void)drain();
    Stream& stream = state().stream;
    stream.returned = false;
    stream.host_function = std::thread([&stream, function, data] {
      function(data);
      stream.returned = true;
    });
    return true;
  });
}

STAND_IN Status hipEventCreate(void** event) {
  return on_device("hipEventCreate", kOutOfMemory, [&](device::Device&) {
    *event = new MarkedEvent;
    return true;
  });
}
STAND_IN Status hipEventDestroy(void* event) {
  return on_device("hipEventDestroy", kInvalidValue, [&](device::Device&) {
    (void)drain();
    delete static_cast<MarkedEvent*>(event);
    return true;
  });
}
STAND_IN Status hipEventRecord(void* event, void*) {
  return on_device("hipEventRecord", kInvalidValue, [&](device::Device&) {
    return in_order([event] {
             static_cast<MarkedEvent*>(event)->at_us = state().stream.clock_us;
             return kSuccess;
           }) == kSuccess;
  });
}
STAND_IN Status hipEventSynchronize(void*) {
  return on_device("hipEventSynchronize", kLaunchFailure,
                   [](device::Device&) { return drain() == kSuccess; });
}
STAND_IN Status hipEventElapsedTime(float* milliseconds, void* from, void* to) {
  return on_device("hipEventElapsedTime", kInvalidValue, [&](device::Device&) {
    const double start = static_cast<MarkedEvent*>(from)->at_us;
    const double end = static_cast<MarkedEvent*>(to)->at_us;
    *milliseconds = static_cast<float>((end - start) / 1000);
    return start >= 0 && end >= 0;
  });
}

STAND_IN Status hipGraphCreate(void** graph, unsigned) {
  return on_device("hipGraphCreate", kOutOfMemory, [&](device::Device&) {
    *graph = new Graph;
    return true;
  });
}
STAND_IN Status hipGraphDestroy(void* graph) {
  return on_device("hipGraphDestroy", kInvalidValue, [&](device::Device&) {
    delete static_cast<Graph*>(graph);
    return true;
  });
}
/// hipKernelNodeParams.
struct KernelNodeParameters {
  uint32_t block[3];
  void** extra;
  void* function;
  uint32_t grid[3];
  void** parameters;
  unsigned lds_bytes;
};
STAND_IN Status hipGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                                      const KernelNodeParameters* kernel) {
  return on_device("hipGraphAddKernelNode", kInvalidValue, [&](device::Device&) {
    auto& nodes = *static_cast<Graph*>(graph);
    // One chain is all that is asked of it; a node's handle is its number from 1 on.
    const size_t last = count == 0 ? 0 : reinterpret_cast<size_t>(after[0]);
    if (count > 1 || last != nodes.size()) return false;
    if ((kernel->extra == nullptr) == (kernel->parameters == nullptr)) return false;
    Node added;
    added.kernel = static_cast<device::Kernel*>(kernel->function);
    added.launch.grid = {kernel->grid[0], kernel->grid[1], kernel->grid[2]};
    added.launch.block = {kernel->block[0], kernel->block[1], kernel->block[2]};
    added.launch.dynamic_lds_bytes = kernel->lds_bytes;
    if (kernel->extra != nullptr) {
      const auto* from = static_cast<const std::byte*>(kernel->extra[1]);
      added.arguments.assign(from, from + *static_cast<size_t*>(kernel->extra[3]));
    }
    nodes.push_back(std::move(added));
    *node = reinterpret_cast<void*>(nodes.size());
    return true;
  });
}
STAND_IN Status hipGraphInstantiate(void** executable, void* graph, void**, char*, size_t) {
  return on_device("hipGraphInstantiate", kInvalidValue, [&](device::Device&) {
    *executable = new Graph(*static_cast<Graph*>(graph));
    return true;
  });
}
STAND_IN Status hipGraphLaunch(void* executable, void*) {
  return on_device("hipGraphLaunch", kLaunchFailure, [&](device::Device& d) {
    return in_order([&d, graph = *static_cast<Graph*>(executable)] {
             bool follows = false;
             for (const auto& node : graph) {
               const Status status =
                   run_launch(d, *node.kernel, node.launch, node.arguments, follows);
               if (status != kSuccess) return status;
               follows = true;
             }
             return kSuccess;
           }) == kSuccess;
  });
}
STAND_IN Status hipGraphExecDestroy(void* executable) {
  return on_device("hipGraphExecDestroy", kInvalidValue, [&](device::Device&) {
    delete static_cast<Graph*>(executable);
    return true;
  });
}

STAND_IN Status hipDeviceGetPCIBusId(char* text, int bytes, int) {
  return on_device("hipDeviceGetPCIBusId", kInvalidValue, [&](device::Device&) {
    std::strncpy(text, "0000:c1:00.0", static_cast<size_t>(bytes));
    return true;
  });
}
STAND_IN Status hipDeviceGetAttribute(int* value, int attribute, int) {
  return on_device("hipDeviceGetAttribute", kInvalidValue, [&](device::Device& d) {
    const auto& known = d.description();
    const std::map<int, double> values = {
        {5, known.clock_ghz * 1e6},           // hipDeviceAttributeClockRate, kHz
        {19, 4 << 20},                        // hipDeviceAttributeL2CacheSize: of one die
        {56, known.max_workgroup_size},       // hipDeviceAttributeMaxThreadsPerBlock
        {59, 8192},                           // hipDeviceAttributeMemoryBusWidth
        {60, 2600000},                        // hipDeviceAttributeMemoryClockRate, kHz
        {63, known.compute_units},            // hipDeviceAttributeMultiprocessorCount
        {71, 65536},                          // hipDeviceAttributeMaxRegistersPerBlock
        {74, known.lds_bytes_per_workgroup},  // hipDeviceAttributeMaxSharedMemoryPerBlock
        {87, known.wavefront_size}};          // hipDeviceAttributeWarpSize
    const auto found = values.find(attribute);
    if (found == values.end()) return false;
    *value = static_cast<int>(found->second);
    return true;
  });
}
