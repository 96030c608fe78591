// A libcuda for machines without a GPU: the entry points of the CUDA driver over a null device,
// which keeps memory and loads code and computes one kernel, add_one, with faults on request. It is
// opened like the real library, by its file name. This file alone is a driver of the required entry
// points; cuda_stand_in_timing.cpp adds the optional ones.
//   CUDA_STAND_IN_DEVICES  how many GPUs there are, 1 else, at most 4; they share everything
//   CUDA_STAND_IN_FAULT    ENTRY=STATUS: the entry fails so
//   CUDA_STAND_IN_SLOW     BYTES: granting as much LDS or more takes 50 ms longer to return
#include "cuda_stand_in.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "target_files.h"

namespace stand_in {
namespace {

thread_local void* current_context = nullptr;

/// What the kernel of the conformance suite does: argument 0 is an address, argument 1 a count.
void add_one(device::NullDevice& device, const device::Launch& launch) {
  device::Address at = 0;
  uint32_t count = 0;
  std::memcpy(&at, launch.arguments.data(), sizeof(at));
  std::memcpy(&count, launch.arguments.data() + sizeof(at), sizeof(count));
  std::vector<uint32_t> words(std::min<size_t>(count, size_t{launch.grid.x} * launch.block.x));
  state().failed |= !device.copy_out(std::as_writable_bytes(std::span(words)), at).ok();
  for (auto& word : words) ++word;
  state().failed |= !device.copy_in(at, std::as_bytes(std::span(words))).ok();
}

}  // namespace

std::string setting(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

int devices() {
  return std::clamp(std::atoi(setting("CUDA_STAND_IN_DEVICES", "1").c_str()), 0, kMostDevices);
}

Status injected(const std::string& entry) {
  const std::string fault = setting("CUDA_STAND_IN_FAULT", "");
  return fault.starts_with(entry + "=") ? std::atoi(fault.c_str() + entry.size() + 1) : kSuccess;
}

State::State() : device(test::shipped_target("h200")) {}
State& state() {
  static State one;
  return one;
}

bool has_context() {
  for (const int& held : state().contexts)
    if (current_context == &held) return held > 0;
  return false;
}

bool pump(bool all) {
  State& s = state();
  while (!s.stream.empty()) {
    const Work& next = s.stream.front();
    if (next.ready && !next.ready()) {
      if (!all) break;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    if (next.run) next.run();
    s.stream.pop_front();
  }
  return !all || !std::exchange(s.failed, false);
}

void in_order(Work work) {
  state().stream.push_back(std::move(work));
  (void)pump(false);
}

void start_launch(void* function, device::Launch launch, std::vector<std::byte> arguments) {
  in_order({{}, [function, launch, arguments = std::move(arguments)]() mutable {
              State& s = state();
              launch.arguments = arguments;
              s.clock_us += 1;
              s.failed |= !s.device.launch(*static_cast<device::Kernel*>(function), launch).ok();
              if (s.kernel_names[function] == "add_one") add_one(s.device, launch);
            }});
}

}  // namespace stand_in

using namespace stand_in;

namespace {

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
                                           {38, description.last_level_cache_bytes},
                                           {75, 9},
                                           {76, 0},
                                           {97, description.lds_bytes_per_workgroup}};
    const auto found = known.find(attribute);
    if (found == known.end()) return false;
    *value = static_cast<int>(found->second);
    return true;
  });
}
STAND_IN Status cuDevicePrimaryCtxRetain(void** context, int device) {
  return on_device("cuDevicePrimaryCtxRetain", kInvalidDevice, [&](State& s) {
    ++s.contexts[device];
    *context = &s.contexts[device];
    return true;
  });
}
STAND_IN Status cuDevicePrimaryCtxRelease_v2(int device) {
  return on_device("cuDevicePrimaryCtxRelease_v2", kInvalidValue, [&](State& s) {
    // A context that nobody holds takes its memory with it, whoever forgot it: that would hide it.
    return --s.contexts[device] >= 0;
  });
}
STAND_IN Status cuCtxGetCurrent(void** context) {
  *context = current_context;
  return injected("cuCtxGetCurrent");
}
STAND_IN Status cuCtxSetCurrent(void* context) {
  return on_device("cuCtxSetCurrent", kInvalidContext, [&](State& s) {
    const bool known = std::any_of(std::begin(s.contexts), std::end(s.contexts),
                                   [&](const int& held) { return context == &held && held > 0; });
    if (known || context == nullptr) current_context = context;
    return known || context == nullptr;
  });
}
STAND_IN Status cuCtxSynchronize() {
  return in_context("cuCtxSynchronize", kLaunchFailed, [](State&) { return pump(true); });
}
STAND_IN Status cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  return in_context("cuMemAlloc_v2", kOutOfMemory, [&](State& s) {
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
  return in_context("cuMemFree_v2", kInvalidValue, [&](State& s) {
    if (!pump(true) || !s.device.release(address).ok()) return false;
    s.bytes_in_use -= s.sizes[address];
    return true;
  });
}
STAND_IN Status cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  return in_context("cuMemcpyHtoD_v2", kInvalidValue, [&](State& s) {
    return pump(true) && s.device.copy_in(to, {static_cast<const std::byte*>(from), bytes}).ok();
  });
}
STAND_IN Status cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  return in_context("cuMemcpyDtoH_v2", kInvalidValue, [&](State& s) {
    return pump(true) && s.device.copy_out({static_cast<std::byte*>(to), bytes}, from).ok();
  });
}
STAND_IN Status cuMemsetD8_v2(uint64_t to, unsigned char value, size_t bytes) {
  return in_context("cuMemsetD8_v2", kInvalidValue, [&](State& s) {
    return pump(true) && s.device.fill(to, static_cast<std::byte>(value), bytes).ok();
  });
}
STAND_IN Status cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  return in_context("cuMemGetInfo_v2", kInvalidValue, [&](State& s) {
    *total = s.device.description().memory_bytes;
    *free_bytes = *total - s.bytes_in_use;
    return true;
  });
}
STAND_IN Status cuModuleLoadDataEx(void** module, const void* image, unsigned options, int* names,
                                   void** values) {
  const Status status = in_context("cuModuleLoadDataEx", kInvalidImage, [&](State& s) {
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
  return in_context("cuModuleUnload", kInvalidValue,
                    [&](State& s) { return s.modules.erase(module) == 1; });
}
STAND_IN Status cuModuleGetFunction(void** function, void* module, const char* name) {
  return in_context("cuModuleGetFunction", kNotFound, [&](State& s) {
    const auto found = s.modules.find(module);
    if (found == s.modules.end()) return false;
    const auto kernel = found->second->kernel(name);
    if (!kernel) return false;
    *function = const_cast<device::Kernel*>(*kernel);
    s.kernel_names[*function] = name;
    s.lds_granted[*function] = 48 << 10;
    return true;
  });
}
STAND_IN Status cuFuncSetAttribute(void* function, int attribute, int value) {
  const Status status = in_context("cuFuncSetAttribute", kInvalidValue, [&](State& s) {
    if (attribute != 8) return false;
    s.lds_granted[function] = value;
    return true;
  });
  if (value >= std::atoi(setting("CUDA_STAND_IN_SLOW", "1000000").c_str()))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return status;
}
STAND_IN Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned lds_bytes, void*, void**,
                               void** extra) {
  return in_context("cuLaunchKernel", kInvalidValue, [&](State& s) {
    if (lds_bytes > static_cast<unsigned>(s.lds_granted[function])) return false;
    std::vector<std::byte> arguments;
    if (extra != nullptr) {
      const auto* from = static_cast<const std::byte*>(extra[1]);
      arguments.assign(from, from + *static_cast<size_t*>(extra[3]));
    }
    start_launch(function, {{gx, gy, gz}, {bx, by, bz}, lds_bytes, {}}, std::move(arguments));
    return true;
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
