#include "device/cuda/api.h"

namespace hipplan::device::cuda {
namespace {

#define HIPPLAN_ENTRY(name, required, member) {name, required, offsetof(Api, member)}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Winvalid-offsetof"  // Api holds a library handle; offsets are of pointers
constexpr EntryPoint kEntryPoints[] = {
    HIPPLAN_ENTRY("cuInit", true, init),
    HIPPLAN_ENTRY("cuDriverGetVersion", true, driver_version),
    HIPPLAN_ENTRY("cuDeviceGetCount", true, device_count),
    HIPPLAN_ENTRY("cuDeviceGet", true, device_get),
    HIPPLAN_ENTRY("cuDeviceGetName", true, device_name),
    HIPPLAN_ENTRY("cuDeviceTotalMem_v2", true, device_memory),
    HIPPLAN_ENTRY("cuDeviceGetAttribute", true, device_attribute),
    HIPPLAN_ENTRY("cuDevicePrimaryCtxRetain", true, context_retain),
    HIPPLAN_ENTRY("cuDevicePrimaryCtxRelease_v2", true, context_release),
    HIPPLAN_ENTRY("cuCtxGetCurrent", true, get_current),
    HIPPLAN_ENTRY("cuCtxSetCurrent", true, set_current),
    HIPPLAN_ENTRY("cuCtxSynchronize", true, synchronize),
    HIPPLAN_ENTRY("cuMemAlloc_v2", true, allocate),
    HIPPLAN_ENTRY("cuMemFree_v2", true, release),
    HIPPLAN_ENTRY("cuMemcpyHtoD_v2", true, copy_in),
    HIPPLAN_ENTRY("cuMemcpyDtoH_v2", true, copy_out),
    HIPPLAN_ENTRY("cuMemsetD8_v2", true, fill),
    HIPPLAN_ENTRY("cuMemGetInfo_v2", true, memory_info),
    HIPPLAN_ENTRY("cuModuleLoadDataEx", true, module_load),
    HIPPLAN_ENTRY("cuModuleUnload", true, module_unload),
    HIPPLAN_ENTRY("cuModuleGetFunction", true, module_function),
    HIPPLAN_ENTRY("cuFuncSetAttribute", true, function_set_attribute),
    HIPPLAN_ENTRY("cuLaunchKernel", true, launch),
    HIPPLAN_ENTRY("cuGetErrorName", true, error_name),
    HIPPLAN_ENTRY("cuGetErrorString", true, error_text),
    HIPPLAN_ENTRY("cuDeviceGetPCIBusId", false, device_bus_id),
    HIPPLAN_ENTRY("cuEventCreate", false, event_create),
    HIPPLAN_ENTRY("cuEventDestroy_v2", false, event_destroy),
    HIPPLAN_ENTRY("cuEventRecord", false, event_record),
    HIPPLAN_ENTRY("cuEventSynchronize", false, event_synchronize),
    HIPPLAN_ENTRY("cuEventElapsedTime", false, event_elapsed),
    HIPPLAN_ENTRY("cuMemHostAlloc", false, host_allocate),
    HIPPLAN_ENTRY("cuMemFreeHost", false, host_release),
    HIPPLAN_ENTRY("cuStreamWaitValue32_v2", false, stream_wait_value),
    HIPPLAN_ENTRY("cuGraphCreate", false, graph_create),
    HIPPLAN_ENTRY("cuGraphDestroy", false, graph_destroy),
    HIPPLAN_ENTRY("cuGraphAddKernelNode", false, graph_add_kernel),
    HIPPLAN_ENTRY("cuGraphInstantiateWithFlags", false, graph_instantiate),
    HIPPLAN_ENTRY("cuGraphLaunch", false, graph_launch),
    HIPPLAN_ENTRY("cuGraphExecDestroy", false, graph_executable_destroy),
};
#pragma GCC diagnostic pop
#undef HIPPLAN_ENTRY

constexpr LibraryWords kWords = {
    "cuda", "CUDA driver library", "the CUDA driver library does not open",
    "a driver for CUDA 11 or newer",
    "install a newer NVIDIA driver, or name its library with --cuda-library (cuda_library in the C "
    "interface)"};

constexpr Status kInvalidPtx = 218, kNoJitCompiler = 221, kUnsupportedPtx = 222,
                 kInvalidSource = 300;
constexpr Status kRefusals[] = {kInvalidPtx, kNoJitCompiler, kUnsupportedPtx, kInvalidSource};

}  // namespace

Result<Api> Api::open(const std::string& library) {
  Api api{};
  HIPPLAN_TRY_ASSIGN(api.library,
                     open_first({library.empty() ? "libcuda.so.1" : library}, kWords, api.path));
  HIPPLAN_TRY(fill_table(api.library, api.path, kEntryPoints, kWords, &api));
  return api;
}

Error status_error(const Api& api, Status status, const std::string& where,
                   const std::string& what) {
  const char *name = nullptr, *text = nullptr;
  (void)api.error_name(status, &name);
  (void)api.error_text(status, &text);
  return driver_error(status, kRefusals, name, text, where, what);
}

}  // namespace hipplan::device::cuda
