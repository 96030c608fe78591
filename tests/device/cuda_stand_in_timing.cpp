// The optional entry points of the CUDA stand-in: events, waits for a value, graphs, facts. Its
// device time counts launches.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "cuda_stand_in.h"

using namespace stand_in;

namespace {

struct MarkedEvent {
  double at_us = -1;
};

struct Node {
  void* function = nullptr;
  device::Launch launch;
  std::vector<std::byte> arguments;
};
using Graph = std::vector<Node>;

/// CUDA_KERNEL_NODE_PARAMS_v1.
struct KernelNodeParameters {
  void* function;
  unsigned grid[3], block[3];
  unsigned lds_bytes;
  void** parameters;
  void** extra;
};

}  // namespace

STAND_IN Status cuDeviceGetPCIBusId(char* text, int bytes, int) {
  std::strncpy(text, "0000:c1:00.0", static_cast<size_t>(bytes));
  return injected("cuDeviceGetPCIBusId");
}

STAND_IN Status cuEventCreate(void** event, unsigned) {
  return in_context("cuEventCreate", kOutOfMemory, [&](State&) {
    *event = new MarkedEvent;
    return true;
  });
}
STAND_IN Status cuEventDestroy_v2(void* event) {
  return in_context("cuEventDestroy_v2", kInvalidValue, [&](State&) {
    (void)pump(true);
    delete static_cast<MarkedEvent*>(event);
    return true;
  });
}
STAND_IN Status cuEventRecord(void* event, void*) {
  return in_context("cuEventRecord", kInvalidValue, [&](State& s) {
    in_order({{}, [event, &s] { static_cast<MarkedEvent*>(event)->at_us = s.clock_us; }});
    return true;
  });
}
STAND_IN Status cuEventSynchronize(void*) {
  return in_context("cuEventSynchronize", kLaunchFailed, [](State&) { return pump(true); });
}
STAND_IN Status cuEventElapsedTime(float* milliseconds, void* from, void* to) {
  return in_context("cuEventElapsedTime", kInvalidValue, [&](State&) {
    const double start = static_cast<MarkedEvent*>(from)->at_us;
    const double end = static_cast<MarkedEvent*>(to)->at_us;
    *milliseconds = static_cast<float>((end - start) / 1000);
    return start >= 0 && end >= 0;
  });
}

STAND_IN Status cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  return in_context("cuMemHostAlloc", kOutOfMemory, [&](State&) {
    *memory = std::malloc(bytes);
    if (*memory != nullptr) std::memset(*memory, 0xee, bytes);
    return *memory != nullptr;
  });
}
STAND_IN Status cuMemFreeHost(void* memory) {
  return in_context("cuMemFreeHost", kInvalidValue, [&](State&) {
    (void)pump(true);
    std::free(memory);
    return true;
  });
}
/// Waits as CU_STREAM_WAIT_VALUE_GEQ (0) and _EQ (1) do.
STAND_IN Status cuStreamWaitValue32_v2(void*, uint64_t address, uint32_t value, unsigned flags) {
  return in_context("cuStreamWaitValue32_v2", kInvalidValue, [&](State&) {
    if (flags > 1) return false;
    auto* word = reinterpret_cast<uint32_t*>(address);
    in_order({[word, value, flags] {
                const uint32_t now = std::atomic_ref<uint32_t>(*word).load();
                return flags == 0 ? static_cast<int32_t>(now - value) >= 0 : now == value;
              },
              {}});
    return true;
  });
}

STAND_IN Status cuGraphCreate(void** graph, unsigned) {
  return in_context("cuGraphCreate", kOutOfMemory, [&](State&) {
    *graph = new Graph;
    return true;
  });
}
STAND_IN Status cuGraphDestroy(void* graph) {
  return in_context("cuGraphDestroy", kInvalidValue, [&](State&) {
    delete static_cast<Graph*>(graph);
    return true;
  });
}
STAND_IN Status cuGraphAddKernelNode(void** node, void* graph, void* const* after, size_t count,
                                     const KernelNodeParameters* kernel) {
  return in_context("cuGraphAddKernelNode", kInvalidValue, [&](State& s) {
    auto& nodes = *static_cast<Graph*>(graph);
    // One chain is all that is asked of it; a node's handle is its number from 1 on.
    const size_t last = count == 0 ? 0 : reinterpret_cast<size_t>(after[0]);
    if (count > 1 || last != nodes.size() || kernel->parameters != nullptr) return false;
    if (kernel->lds_bytes > static_cast<unsigned>(s.lds_granted[kernel->function])) return false;
    Node added;
    added.function = kernel->function;
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
STAND_IN Status cuGraphInstantiateWithFlags(void** executable, void* graph, unsigned long long) {
  return in_context("cuGraphInstantiateWithFlags", kInvalidValue, [&](State&) {
    *executable = new Graph(*static_cast<Graph*>(graph));
    return true;
  });
}
STAND_IN Status cuGraphLaunch(void* executable, void*) {
  return in_context("cuGraphLaunch", kLaunchFailed, [&](State&) {
    for (const auto& node : *static_cast<Graph*>(executable))
      start_launch(node.function, node.launch, node.arguments);
    return true;
  });
}
STAND_IN Status cuGraphExecDestroy(void* executable) {
  return in_context("cuGraphExecDestroy", kInvalidValue, [&](State&) {
    delete static_cast<Graph*>(executable);
    return true;
  });
}
