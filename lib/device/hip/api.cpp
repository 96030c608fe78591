#include "device/hip/api.h"

#include <vector>

namespace hipplan::device::hip {
namespace {

#define HIPPLAN_ENTRY(name, required, member) {name, required, offsetof(Api, member)}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Winvalid-offsetof"  // Api holds a library handle; offsets are of pointers
constexpr EntryPoint kEntryPoints[] = {
    HIPPLAN_ENTRY("hipInit", true, init),
    HIPPLAN_ENTRY("hipGetDeviceCount", true, device_count),
    HIPPLAN_ENTRY("hipGetDevice", true, get_current),
    HIPPLAN_ENTRY("hipSetDevice", true, set_current),
    HIPPLAN_ENTRY("hipDeviceGetName", true, device_get_name),
    HIPPLAN_ENTRY("hipDeviceTotalMem", true, device_total_memory),
    HIPPLAN_ENTRY("hipDriverGetVersion", true, driver_version),
    HIPPLAN_ENTRY("hipRuntimeGetVersion", true, runtime_version),
    HIPPLAN_ENTRY("hipMalloc", true, allocate),
    HIPPLAN_ENTRY("hipFree", true, release),
    HIPPLAN_ENTRY("hipMemcpyHtoD", true, copy_in),
    HIPPLAN_ENTRY("hipMemcpyDtoH", true, copy_out),
    HIPPLAN_ENTRY("hipMemsetD8", true, fill),
    HIPPLAN_ENTRY("hipMemGetInfo", true, memory_info),
    HIPPLAN_ENTRY("hipModuleLoadData", true, module_load),
    HIPPLAN_ENTRY("hipModuleUnload", true, module_unload),
    HIPPLAN_ENTRY("hipModuleGetFunction", true, module_function),
    HIPPLAN_ENTRY("hipModuleLaunchKernel", true, launch),
    HIPPLAN_ENTRY("hipDeviceSynchronize", true, synchronize),
    HIPPLAN_ENTRY("hipGetErrorName", true, error_name),
    HIPPLAN_ENTRY("hipGetErrorString", true, error_text),
    HIPPLAN_ENTRY("hipGetDevicePropertiesR0600", false, properties_6),
    HIPPLAN_ENTRY("hipGetDeviceProperties", false, properties),
    HIPPLAN_ENTRY("hipDeviceGetAttribute", false, device_attribute),
    HIPPLAN_ENTRY("hipDeviceGetPCIBusId", false, device_bus_id),
    HIPPLAN_ENTRY("hipEventCreate", false, event_create),
    HIPPLAN_ENTRY("hipEventDestroy", false, event_destroy),
    HIPPLAN_ENTRY("hipEventRecord", false, event_record),
    HIPPLAN_ENTRY("hipEventSynchronize", false, event_synchronize),
    HIPPLAN_ENTRY("hipEventElapsedTime", false, event_elapsed),
    HIPPLAN_ENTRY("hipLaunchHostFunc", false, launch_host_function),
    HIPPLAN_ENTRY("hipGraphCreate", false, graph_create),
    HIPPLAN_ENTRY("hipGraphDestroy", false, graph_destroy),
    HIPPLAN_ENTRY("hipGraphAddKernelNode", false, graph_add_kernel),
    HIPPLAN_ENTRY("hipGraphInstantiate", false, graph_instantiate),
    HIPPLAN_ENTRY("hipGraphLaunch", false, graph_launch),
    HIPPLAN_ENTRY("hipGraphExecDestroy", false, graph_executable_destroy),
};
#pragma GCC diagnostic pop
#undef HIPPLAN_ENTRY

constexpr LibraryWords kWords = {
    "hip", "HIP library", "no HIP library opens", "libamdhip64 of ROCm 5 or newer",
    "install ROCm 5 or newer, or name its libamdhip64 with --hip-library (hip_library in the C "
    "interface)"};

constexpr Status kInvalidKernelFile = 218;
constexpr Status kRefusals[] = {kInvalidKernelFile};

}  // namespace

Result<Api> Api::open(const std::string& library) {
  Api api{};
  const std::vector<std::string> names =
      library.empty() ? std::vector<std::string>{"libamdhip64.so.7", "libamdhip64.so.6",
                                                 "libamdhip64.so.5", "libamdhip64.so"}
                      : std::vector<std::string>{library};
  HIPPLAN_TRY_ASSIGN(api.library, open_first(names, kWords, api.path));
  HIPPLAN_TRY(fill_table(api.library, api.path, kEntryPoints, kWords, &api));
  if (api.properties == nullptr && api.properties_6 == nullptr)
    return missing_entry(api.path, "hipGetDeviceProperties", kWords);
  return api;
}

Error status_error(const Api& api, Status status, const std::string& where,
                   const std::string& what) {
  return driver_error(status, kRefusals, api.error_name(status), api.error_text(status), where,
                      what);
}

}  // namespace hipplan::device::hip
