// Compares the table of entry points with NVIDIA's own header. Compiled only where cuda.h is found;
// adds nothing to the program.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "device/cuda/api.h"

namespace hipplan::device::cuda {
namespace {

/// Whether a value of one type is passed like one of the other: handles are pointers in both,
/// enumerations and integers of one size count as one another.
template <class Ours, class Theirs>
constexpr bool same_passing() {
  if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>)
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  else if constexpr (std::is_floating_point_v<Ours> || std::is_floating_point_v<Theirs>)
    return std::is_same_v<Ours, Theirs>;
  else
    return sizeof(Ours) == sizeof(Theirs);
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
struct SameCall<OurResult (*)(Ours...), TheirResult(Theirs...)> {
  static constexpr bool arguments() {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs))
      return false;
    else
      return (same_passing<Ours, Theirs>() && ...);
  }
  static constexpr bool value = same_passing<OurResult, TheirResult>() && arguments();
};

#define HIPPLAN_SAME(member, entry) \
  static_assert(SameCall<decltype(Api::member), decltype(entry)>::value, #entry)
HIPPLAN_SAME(init, cuInit);
HIPPLAN_SAME(driver_version, cuDriverGetVersion);
HIPPLAN_SAME(device_count, cuDeviceGetCount);
HIPPLAN_SAME(device_get, cuDeviceGet);
HIPPLAN_SAME(device_name, cuDeviceGetName);
HIPPLAN_SAME(device_memory, cuDeviceTotalMem);
HIPPLAN_SAME(device_attribute, cuDeviceGetAttribute);
HIPPLAN_SAME(context_retain, cuDevicePrimaryCtxRetain);
HIPPLAN_SAME(context_release, cuDevicePrimaryCtxRelease);
HIPPLAN_SAME(get_current, cuCtxGetCurrent);
HIPPLAN_SAME(set_current, cuCtxSetCurrent);
HIPPLAN_SAME(synchronize, cuCtxSynchronize);
HIPPLAN_SAME(allocate, cuMemAlloc);
HIPPLAN_SAME(release, cuMemFree);
HIPPLAN_SAME(copy_in, cuMemcpyHtoD);
HIPPLAN_SAME(copy_out, cuMemcpyDtoH);
HIPPLAN_SAME(fill, cuMemsetD8);
HIPPLAN_SAME(memory_info, cuMemGetInfo);
HIPPLAN_SAME(module_load, cuModuleLoadDataEx);
HIPPLAN_SAME(module_unload, cuModuleUnload);
HIPPLAN_SAME(module_function, cuModuleGetFunction);
HIPPLAN_SAME(function_set_attribute, cuFuncSetAttribute);
HIPPLAN_SAME(launch, cuLaunchKernel);
HIPPLAN_SAME(error_name, cuGetErrorName);
HIPPLAN_SAME(error_text, cuGetErrorString);
HIPPLAN_SAME(device_bus_id, cuDeviceGetPCIBusId);
HIPPLAN_SAME(event_create, cuEventCreate);
HIPPLAN_SAME(event_destroy, cuEventDestroy);
HIPPLAN_SAME(event_record, cuEventRecord);
HIPPLAN_SAME(event_synchronize, cuEventSynchronize);
HIPPLAN_SAME(event_elapsed, cuEventElapsedTime);
HIPPLAN_SAME(host_allocate, cuMemHostAlloc);
HIPPLAN_SAME(host_release, cuMemFreeHost);
HIPPLAN_SAME(stream_wait_value, cuStreamWaitValue32);
HIPPLAN_SAME(graph_create, cuGraphCreate);
HIPPLAN_SAME(graph_destroy, cuGraphDestroy);
HIPPLAN_SAME(graph_add_kernel, cuGraphAddKernelNode);
HIPPLAN_SAME(graph_launch, cuGraphLaunch);
HIPPLAN_SAME(graph_executable_destroy, cuGraphExecDestroy);
#if CUDA_VERSION >= 11040
HIPPLAN_SAME(graph_instantiate, cuGraphInstantiateWithFlags);
#endif
#undef HIPPLAN_SAME

static_assert(sizeof(Status) == sizeof(CUresult) && sizeof(DeviceAddress) == sizeof(CUdeviceptr));
static_assert(sizeof(int) == sizeof(CUdevice));
static_assert(kSuccess == CUDA_SUCCESS && kNoDevice == CUDA_ERROR_NO_DEVICE &&
              kInvalidDevice == CUDA_ERROR_INVALID_DEVICE);

constexpr bool is(Attribute ours, CUdevice_attribute theirs) {
  return static_cast<int>(ours) == static_cast<int>(theirs);
}
static_assert(is(Attribute::max_workgroup_size, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(is(Attribute::wavefront_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE));
static_assert(is(Attribute::registers_per_workgroup, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK));
static_assert(is(Attribute::clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
static_assert(is(Attribute::compute_units, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(is(Attribute::memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
static_assert(is(Attribute::memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
static_assert(is(Attribute::l2_cache_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
static_assert(is(Attribute::major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(is(Attribute::minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
static_assert(is(Attribute::lds_bytes_per_workgroup,
                 CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
static_assert(static_cast<int>(FunctionAttribute::max_dynamic_lds_bytes) ==
              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
static_assert(static_cast<int>(JitOption::error_log) == CU_JIT_ERROR_LOG_BUFFER &&
              static_cast<int>(JitOption::error_log_bytes) == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);

// The first layout of the node's parameters; later ones append to it.
static_assert(offsetof(KernelNode, function) == offsetof(CUDA_KERNEL_NODE_PARAMS, func));
static_assert(offsetof(KernelNode, grid_x) == offsetof(CUDA_KERNEL_NODE_PARAMS, gridDimX));
static_assert(offsetof(KernelNode, block_x) == offsetof(CUDA_KERNEL_NODE_PARAMS, blockDimX));
static_assert(offsetof(KernelNode, lds_bytes) == offsetof(CUDA_KERNEL_NODE_PARAMS, sharedMemBytes));
static_assert(offsetof(KernelNode, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams));
static_assert(offsetof(KernelNode, extra) == offsetof(CUDA_KERNEL_NODE_PARAMS, extra));

}  // namespace
}  // namespace hipplan::device::cuda
