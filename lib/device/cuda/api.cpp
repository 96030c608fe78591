#include "device/cuda/api.h"

#include <cstring>

namespace hipplan::device::cuda {
namespace {

struct EntryPoint {
  const char* name;
  bool required;
  size_t place;  ///< of the pointer in Api
};

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
    HIPPLAN_ENTRY("cuCtxSetCurrent", true, context_set),
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
    HIPPLAN_ENTRY("cuFuncGetAttribute", true, function_attribute),
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

constexpr const char* kName = "libcuda.so.1";

// Values of CUresult that mean something of their own.
constexpr Status kOutOfMemory = 2, kInvalidImage = 200, kNoBinaryForGpu = 209, kInvalidPtx = 218,
                 kNoJitCompiler = 221, kUnsupportedPtx = 222, kInvalidSource = 300, kNotFound = 500;

bool is_refusal(Status status) {
  switch (status) {
    case kInvalidImage:
    case kNoBinaryForGpu:
    case kInvalidPtx:
    case kNoJitCompiler:
    case kUnsupportedPtx:
    case kInvalidSource:
    case kNotFound:
      return true;
    default:
      return false;
  }
}

std::string reason_of(Status status) {
  switch (status) {
    case kOutOfMemory:
      return "device-memory";
    case kNoDevice:
    case kInvalidDevice:
      return "no-device";
    case kNotFound:
      return "symbol";
    default:
      return is_refusal(status) ? "driver-load" : "driver";
  }
}

}  // namespace

Result<Api> open_api(const std::string& library) {
  Api api{};
  api.path = library.empty() ? kName : library;
  auto opened = SharedLibrary::open(api.path);
  if (!opened)
    return Error{.code = Code::machine,
                 .reason = "cuda-library",
                 .where = api.path,
                 .what = "the CUDA driver library does not open (" + opened.error().what + ")",
                 .advice =
                     "install the NVIDIA driver, or name its library with --cuda-library "
                     "(cuda_library in the C interface)"};
  api.library = std::move(opened).value();
  for (const EntryPoint& entry : kEntryPoints) {
    void* found = api.library.symbol(entry.name);
    if (found == nullptr && entry.required)
      return Error{.code = Code::machine,
                   .reason = "cuda-symbol",
                   .where = api.path,
                   .what = cat("the CUDA driver library lacks ", entry.name),
                   .expected = "a driver for CUDA 11 or newer",
                   .advice =
                       "install a newer NVIDIA driver, or name its library with "
                       "--cuda-library (cuda_library in the C interface)"};
    std::memcpy(reinterpret_cast<char*>(&api) + entry.place, &found, sizeof(found));
  }
  return api;
}

Error status_error(const Api& api, Status status, const std::string& where,
                   const std::string& what) {
  const char *name = nullptr, *text = nullptr;
  (void)api.error_name(status, &name);
  (void)api.error_text(status, &text);
  return {.code = is_refusal(status) ? Code::unusable : Code::machine,
          .reason = reason_of(status),
          .where = where,
          .what = what,
          .found = cat(name != nullptr ? name : "an unnamed error", " (", status,
                       text != nullptr ? std::string("): ") + text : ")")};
}

}  // namespace hipplan::device::cuda
