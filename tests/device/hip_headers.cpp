// Checked where HIP's headers are: the entry points that the hip device declares for itself have
// the types, and the numbers the values, of the real ones. Nothing of it runs.
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <type_traits>

#include "device/hip/api.h"

namespace {

using hipplan::device::hip::Api;
using hipplan::device::hip::Attribute;
using hipplan::device::hip::KernelNode;

/// Handles and pointers are declared as void pointers, enumerations as int.
template <class Ours, class Theirs>
constexpr bool fits =
    std::is_same_v<Ours, Theirs> || (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) ||
    ((std::is_integral_v<Ours> || std::is_enum_v<Ours>) &&
     (std::is_integral_v<Theirs> || std::is_enum_v<Theirs>) && sizeof(Ours) == sizeof(Theirs));

template <class Ours, class Theirs>
constexpr bool same_call = false;
template <class R, class... P, class S, class... Q>
  requires(sizeof...(P) == sizeof...(Q))
constexpr bool same_call<R (*)(P...), S (*)(Q...)> = fits<R, S> && (fits<P, Q> && ...);

#define SAME(member, entry) static_assert(same_call<decltype(Api::member), decltype(&entry)>)
SAME(init, hipInit);
SAME(device_count, hipGetDeviceCount);
SAME(get_current, hipGetDevice);
SAME(set_current, hipSetDevice);
SAME(device_get_name, hipDeviceGetName);
SAME(device_total_memory, hipDeviceTotalMem);
SAME(driver_version, hipDriverGetVersion);
SAME(runtime_version, hipRuntimeGetVersion);
SAME(release, hipFree);
SAME(copy_in, hipMemcpyHtoD);
SAME(copy_out, hipMemcpyDtoH);
SAME(fill, hipMemsetD8);
SAME(memory_info, hipMemGetInfo);
SAME(module_load, hipModuleLoadData);
SAME(module_unload, hipModuleUnload);
SAME(module_function, hipModuleGetFunction);
SAME(launch, hipModuleLaunchKernel);
SAME(synchronize, hipDeviceSynchronize);
SAME(error_name, hipGetErrorName);
SAME(error_text, hipGetErrorString);
SAME(device_attribute, hipDeviceGetAttribute);
SAME(device_bus_id, hipDeviceGetPCIBusId);
SAME(event_create, hipEventCreate);
SAME(event_destroy, hipEventDestroy);
SAME(event_record, hipEventRecord);
SAME(event_synchronize, hipEventSynchronize);
SAME(event_elapsed, hipEventElapsedTime);
SAME(launch_host_function, hipLaunchHostFunc);
SAME(graph_create, hipGraphCreate);
SAME(graph_destroy, hipGraphDestroy);
SAME(graph_add_kernel, hipGraphAddKernelNode);
SAME(graph_instantiate, hipGraphInstantiate);
SAME(graph_launch, hipGraphLaunch);
SAME(graph_executable_destroy, hipGraphExecDestroy);

#define VALUE(ours, theirs) static_assert(static_cast<int>(Attribute::ours) == theirs)
VALUE(clock_khz, hipDeviceAttributeClockRate);
VALUE(l2_cache_bytes, hipDeviceAttributeL2CacheSize);
VALUE(max_workgroup_size, hipDeviceAttributeMaxThreadsPerBlock);
VALUE(memory_bus_bits, hipDeviceAttributeMemoryBusWidth);
VALUE(memory_clock_khz, hipDeviceAttributeMemoryClockRate);
VALUE(compute_units, hipDeviceAttributeMultiprocessorCount);
VALUE(registers_per_workgroup, hipDeviceAttributeMaxRegistersPerBlock);
VALUE(lds_bytes_per_workgroup, hipDeviceAttributeMaxSharedMemoryPerBlock);
VALUE(wavefront_size, hipDeviceAttributeWarpSize);
static_assert(hipplan::device::kNoDevice == hipErrorNoDevice);
static_assert(hipplan::device::kInvalidDevice == hipErrorInvalidDevice);

#define PLACE(ours, theirs) \
  static_assert(offsetof(KernelNode, ours) == offsetof(hipKernelNodeParams, theirs))
static_assert(sizeof(KernelNode) == sizeof(hipKernelNodeParams));
PLACE(block, blockDim);
PLACE(extra, extra);
PLACE(function, func);
PLACE(grid, gridDim);
PLACE(parameters, kernelParams);
PLACE(lds_bytes, sharedMemBytes);

}  // namespace
