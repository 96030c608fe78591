// A libcuda for machines without a GPU: the required entry points of the CUDA driver over a null
// device, which keeps memory and loads code but computes nothing, with faults on request. It is
// opened like the real library, by its file name.
//   CUDA_STAND_IN_DEVICES  how many GPUs there are, 1 else
//   CUDA_STAND_IN_FAULT    ENTRY=STATUS: the entry fails so
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "device/null.h"
#include "target_files.h"

#define STAND_IN extern "C" __attribute__((visibility("default")))

namespace {

using namespace hipplan;
using Status = int;
constexpr Status kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100,
                 kInvalidDevice = 101, kInvalidImage = 200, kNotFound = 500, kLaunchFailed = 719;

std::string setting(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

int devices() {
  return std::atoi(setting("CUDA_STAND_IN_DEVICES", "1").c_str());
}

Status injected(const std::string& entry) {
  const std::string fault = setting("CUDA_STAND_IN_FAULT", "");
  return fault.starts_with(entry + "=") ? std::atoi(fault.c_str() + entry.size() + 1) : kSuccess;
}

struct State {
  device::NullDevice device{test::shipped_target("h200")};
  std::map<void*, std::unique_ptr<device::Module>> modules;
  std::map<uint64_t, uint64_t> sizes;
  uint64_t bytes_in_use = 0;
  int contexts = 0;
  std::mutex mutex;
};
State& state() {
  static State one;
  return one;
}

/// Runs `f` on the device unless a fault is asked for; its failure becomes `status`.
template <class F>
Status on_device(const char* entry, Status status, F&& f) {
  const std::lock_guard lock(state().mutex);
  if (const Status fault = injected(entry); fault != kSuccess) return fault;
  if (devices() == 0) return kNoDevice;
  return f(state()) ? kSuccess : status;
}

/// The driver is told no sizes: an ELF file ends with one of its tables, PTX with a zero byte.
ByteView image_bytes(const void* image) {
  const char* from = static_cast<const char*>(image);
  if (std::memcmp(from,
                  "\x7f"
                  "ELF",
                  4) != 0)
    return as_bytes(std::string_view(from));
  const auto at = [&](auto value, size_t place) {
    std::memcpy(&value, from + place, sizeof(value));
    return value;
  };
  const uint64_t segments =
      at(uint64_t{}, 0x20) + uint64_t{at(uint16_t{}, 0x36)} * at(uint16_t{}, 0x38);
  const uint64_t sections =
      at(uint64_t{}, 0x28) + uint64_t{at(uint16_t{}, 0x3a)} * at(uint16_t{}, 0x3c);
  return {reinterpret_cast<const std::byte*>(from), std::max(segments, sections)};
}

}  // namespace

STAND_IN Status cuInit(unsigned) {
  if (const Status fault = injected("cuInit"); fault != kSuccess) return fault;
  return devices() == 0 ? kNoDevice : kSuccess;
}
STAND_IN Status cuDriverGetVersion(int* version) {
  *version = 13000;
  return injected("cuDriverGetVersion");
}
STAND_IN Status cuDeviceGetCount(int* count) {
  *count = devices();
  return injected("cuDeviceGetCount");
}
STAND_IN Status cuDeviceGet(int* device, int index) {
  *device = index;
  return index >= 0 && index < devices() ? injected("cuDeviceGet") : kInvalidDevice;
}
STAND_IN Status cuDeviceGetName(char* name, int bytes, int) {
  return on_device("cuDeviceGetName", kInvalidValue, [&](State& s) {
    std::strncpy(name, s.device.description().name.c_str(), static_cast<size_t>(bytes));
    return true;
  });
}
STAND_IN Status cuDeviceTotalMem_v2(size_t* bytes, int) {
  return on_device("cuDeviceTotalMem_v2", kInvalidValue, [&](State& s) {
    *bytes = s.device.description().memory_bytes;
    return true;
  });
}
STAND_IN Status cuDeviceGetAttribute(int* value, int attribute, int) {
  return on_device("cuDeviceGetAttribute", kInvalidValue, [&](State& s) {
    const auto& description = s.device.description();
    const std::map<int, uint64_t> known = {{1, description.max_workgroup_size},
                                           {10, description.wavefront_size},
                                           {16, description.compute_units},
                                           {75, 9},
                                           {76, 0},
                                           {97, description.lds_bytes_per_workgroup}};
    const auto found = known.find(attribute);
    if (found == known.end()) return false;
    *value = static_cast<int>(found->second);
    return true;
  });
}
STAND_IN Status cuDevicePrimaryCtxRetain(void** context, int) {
  return on_device("cuDevicePrimaryCtxRetain", kInvalidDevice, [&](State& s) {
    ++s.contexts;
    *context = &s;
    return true;
  });
}
STAND_IN Status cuDevicePrimaryCtxRelease_v2(int) {
  return on_device("cuDevicePrimaryCtxRelease_v2", kInvalidValue,
                   [](State& s) { return --s.contexts >= 0; });
}
STAND_IN Status cuCtxSetCurrent(void* context) {
  return on_device("cuCtxSetCurrent", kInvalidValue,
                   [&](State& s) { return context == &s && s.contexts > 0; });
}
STAND_IN Status cuCtxSynchronize() {
  return on_device("cuCtxSynchronize", kLaunchFailed, [](State&) { return true; });
}
STAND_IN Status cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  return on_device("cuMemAlloc_v2", kOutOfMemory, [&](State& s) {
    if (bytes > s.device.description().memory_bytes - s.bytes_in_use) return false;
    auto got = s.device.allocate(bytes);
    if (!got) return false;
    *address = *got;
    s.sizes[*got] = bytes;
    s.bytes_in_use += bytes;
    return true;
  });
}
STAND_IN Status cuMemFree_v2(uint64_t address) {
  return on_device("cuMemFree_v2", kInvalidValue, [&](State& s) {
    if (!s.device.release(address).ok()) return false;
    s.bytes_in_use -= s.sizes[address];
    return true;
  });
}
STAND_IN Status cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return on_device("cuMemcpyHtoD_v2", kInvalidValue, [&](State& s) {
    return s.device.copy_in(to, {static_cast<const std::byte*>(from), bytes}).ok();
  });
}
STAND_IN Status cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return on_device("cuMemcpyDtoH_v2", kInvalidValue, [&](State& s) {
    return s.device.copy_out({static_cast<std::byte*>(to), bytes}, from).ok();
  });
}
STAND_IN Status cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  return on_device("cuMemsetD8_v2", kInvalidValue, [&](State& s) {
    return s.device.fill(to, static_cast<std::byte>(value), bytes).ok();
  });
}
STAND_IN Status cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return on_device("cuMemGetInfo_v2", kInvalidValue, [&](State& s) {
    *total = s.device.description().memory_bytes;
    *free_bytes = *total - s.bytes_in_use;
    return true;
  });
}
STAND_IN Status cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names,
                                   void** values) {
  const Status status = on_device("cuModuleLoadDataEx", kInvalidImage, [&](State& s) {
    auto loaded = s.device.load(image_bytes(image));
    if (!loaded) return false;
    *module = loaded->get();
    s.modules[*module] = std::move(loaded).value();
    return true;
  });
  // The compiler of PTX says what it does not like.
  if (status != kSuccess && options > 0 && names[0] == 5)
    std::strcpy(static_cast<char*>(values[0]), "ptxas fatal: told by the stand-in");
  return status;
}
STAND_IN Status cuModuleUnload(void* module) {
  return on_device("cuModuleUnload", kInvalidValue,
                   [&](State& s) { return s.modules.erase(module) == 1; });
}
STAND_IN Status cuModuleGetFunction(void** function, void* module, const char* name) {
  return on_device("cuModuleGetFunction", kNotFound, [&](State& s) {
    const auto found = s.modules.find(module);
    if (found == s.modules.end()) return false;
    const auto kernel = found->second->kernel(name);
    if (!kernel) return false;
    *function = const_cast<device::Kernel*>(*kernel);
    return true;
  });
}
STAND_IN Status cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return injected("cuFuncGetAttribute");
}
STAND_IN Status cuFuncSetAttribute(void*, int, int) {
  return injected("cuFuncSetAttribute");
}
STAND_IN Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned lds_bytes, void*, void**,
                               void** extra) {
  return on_device("cuLaunchKernel", kLaunchFailed, [&](State& s) {
    device::Launch launch = {{gx, gy, gz}, {bx, by, bz}, lds_bytes, {}};
    if (extra != nullptr)
      launch.arguments = {static_cast<const std::byte*>(extra[1]), *static_cast<size_t*>(extra[3])};
    return s.device.launch(*static_cast<device::Kernel*>(function), launch).ok();
  });
}
STAND_IN Status cuGetErrorName(Status status, const char** name) {
  *name = status == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OF_THE_STAND_IN";
  return kSuccess;
}
STAND_IN Status cuGetErrorString(Status, const char** text) {
  *text = "told by the stand-in";
  return kSuccess;
}
