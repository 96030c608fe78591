#include "device/hip/api.h"

#include <cstring>
#include <vector>

namespace hipplan::device::hip {
namespace {

struct Symbol {
  const char* name;
  bool required;
  size_t place;  ///< of the pointer in Api
};

#define HIPPLAN_SYMBOL(name, required, member) {name, required, offsetof(Api, member)}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Winvalid-offsetof"  // Api holds a library handle; offsets are of pointers
constexpr Symbol kSymbols[] = {
    HIPPLAN_SYMBOL("hipInit", true, init),
    HIPPLAN_SYMBOL("hipGetDeviceCount", true, get_device_count),
    HIPPLAN_SYMBOL("hipSetDevice", true, set_device),
    HIPPLAN_SYMBOL("hipDeviceGetName", true, device_get_name),
    HIPPLAN_SYMBOL("hipDeviceTotalMem", true, device_total_memory),
    HIPPLAN_SYMBOL("hipDriverGetVersion", true, driver_version),
    HIPPLAN_SYMBOL("hipRuntimeGetVersion", true, runtime_version),
    HIPPLAN_SYMBOL("hipMalloc", true, allocate),
    HIPPLAN_SYMBOL("hipFree", true, release),
    HIPPLAN_SYMBOL("hipMemcpyHtoD", true, copy_in),
    HIPPLAN_SYMBOL("hipMemcpyDtoH", true, copy_out),
    HIPPLAN_SYMBOL("hipMemsetD8", true, fill),
    HIPPLAN_SYMBOL("hipMemGetInfo", true, memory_info),
    HIPPLAN_SYMBOL("hipModuleLoadData", true, module_load),
    HIPPLAN_SYMBOL("hipModuleUnload", true, module_unload),
    HIPPLAN_SYMBOL("hipModuleGetFunction", true, module_function),
    HIPPLAN_SYMBOL("hipModuleLaunchKernel", true, launch),
    HIPPLAN_SYMBOL("hipDeviceSynchronize", true, synchronize),
    HIPPLAN_SYMBOL("hipGetErrorName", true, error_name),
    HIPPLAN_SYMBOL("hipGetErrorString", true, error_text),
    HIPPLAN_SYMBOL("hipGetDevicePropertiesR0600", false, properties_6),
    HIPPLAN_SYMBOL("hipGetDeviceProperties", false, properties),
    HIPPLAN_SYMBOL("hipDeviceGetAttribute", false, device_attribute),
    HIPPLAN_SYMBOL("hipDeviceGetPCIBusId", false, device_bus_id),
    HIPPLAN_SYMBOL("hipEventCreate", false, event_create),
    HIPPLAN_SYMBOL("hipEventDestroy", false, event_destroy),
    HIPPLAN_SYMBOL("hipEventRecord", false, event_record),
    HIPPLAN_SYMBOL("hipEventSynchronize", false, event_synchronize),
    HIPPLAN_SYMBOL("hipEventElapsedTime", false, event_elapsed),
    HIPPLAN_SYMBOL("hipLaunchHostFunc", false, launch_host_function),
    HIPPLAN_SYMBOL("hipGraphCreate", false, graph_create),
    HIPPLAN_SYMBOL("hipGraphDestroy", false, graph_destroy),
    HIPPLAN_SYMBOL("hipGraphAddKernelNode", false, graph_add_kernel),
    HIPPLAN_SYMBOL("hipGraphInstantiate", false, graph_instantiate),
    HIPPLAN_SYMBOL("hipGraphLaunch", false, graph_launch),
    HIPPLAN_SYMBOL("hipGraphExecDestroy", false, graph_executable_destroy),
};
#pragma GCC diagnostic pop

Error missing(const Api& api, const std::string& name) {
  return {.code = Code::machine,
          .reason = "hip-symbol",
          .where = api.path,
          .what = "the HIP library lacks " + name,
          .expected = "libamdhip64 of ROCm 5 or newer",
          .advice =
              "install a newer ROCm, or name the library with --hip-library (hip_library in the C "
              "interface)"};
}

Result<SharedLibrary> open_first(const std::vector<std::string>& names, std::string& path) {
  std::string tried, why;
  for (const auto& name : names) {
    auto library = SharedLibrary::open(name);
    if (library) {
      path = name;
      return library;
    }
    tried += (tried.empty() ? "" : ", ") + name;
    why = library.error().what;
  }
  return Error{.code = Code::machine,
               .reason = "hip-library",
               .where = tried,
               .what = "no HIP library opens (" + why + ")",
               .advice =
                   "install ROCm's libamdhip64, or name it with --hip-library (hip_library in the "
                   "C interface)"};
}

// Values of hipError_t that mean something of their own.
constexpr Status kOutOfMemory = 2, kInvalidImage = 200, kNoBinaryForGpu = 209,
                 kInvalidKernelFile = 218, kNotFound = 500;

bool is_refusal(Status status) {
  return status == kInvalidImage || status == kNoBinaryForGpu || status == kInvalidKernelFile ||
         status == kNotFound;
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
  const std::vector<std::string> names =
      library.empty() ? std::vector<std::string>{"libamdhip64.so.7", "libamdhip64.so.6",
                                                 "libamdhip64.so.5", "libamdhip64.so"}
                      : std::vector<std::string>{library};
  HIPPLAN_TRY_ASSIGN(api.library, open_first(names, api.path));
  for (const Symbol& symbol : kSymbols) {
    void* found = api.library.symbol(symbol.name);
    if (found == nullptr && symbol.required) return missing(api, symbol.name);
    std::memcpy(reinterpret_cast<char*>(&api) + symbol.place, &found, sizeof(found));
  }
  if (api.properties == nullptr && api.properties_6 == nullptr)
    return missing(api, "hipGetDeviceProperties");
  return api;
}

Error status_error(const Api& api, Status status, const std::string& where,
                   const std::string& what) {
  const char* name = api.error_name(status);
  const char* text = api.error_text(status);
  return {.code = is_refusal(status) ? Code::unusable : Code::machine,
          .reason = reason_of(status),
          .where = where,
          .what = what,
          .found = cat(name != nullptr ? name : "an unnamed error", " (", status,
                       text != nullptr ? std::string("): ") + text : ")")};
}

}  // namespace hipplan::device::hip
