// A libamdhip64 for machines without a GPU: the HIP entry points that the hip device uses, over an
// emulated device, with faults on request. It is opened like the real library, by its file name.
//   STAND_IN_TARGET   stem of a file in descriptors/targets (mi300x)
//   STAND_IN_DEVICES  how many there are, 1 else; they share everything
//   STAND_IN_FAULT    ENTRY=STATUS or ENTRY=STATUS@CALL: from that call on (0 first) the entry
//   fails
//   STAND_IN_SLOWING  each launch takes this much longer than the one before: 0.01 for one percent
#include "hip_stand_in.h"

#include <cstdlib>
#include <cstring>

#include "base/file.h"

namespace stand_in {

std::string setting(const char* name, const char* otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}

State& state() {
  static State one;
  return one;
}

Status injected(const std::string& entry) {
  const int call = state().calls[entry]++;
  const std::string fault = setting("STAND_IN_FAULT", "");
  if (fault.rfind(entry + "=", 0) != 0) return kSuccess;
  const std::string rest = fault.substr(entry.size() + 1);
  const size_t at = rest.find('@');
  const int first = at == std::string::npos ? 0 : std::atoi(rest.c_str() + at + 1);
  return call >= first ? std::atoi(rest.c_str()) : kSuccess;
}

device::Device* device_or_null() {
  State& s = state();
  if (s.device) return s.device.get();
  const std::string stem = setting("STAND_IN_TARGET", "mi300x");
  const auto text =
      read_file(std::string(HIPPLAN_SOURCE_DIR "/descriptors/targets/") + stem + ".json");
  if (!text) return nullptr;
  const auto description = target::parse_description(
      std::string_view(reinterpret_cast<const char*>(text->data()), text->size()), stem);
  if (!description) {
    s.why = description.error().text();
    return nullptr;
  }
  device::OpenOptions options;
  options.module_folder = HIPPLAN_MODULE_FOLDER;
  auto opened = device::open_emulator(*description, options);
  if (!opened) {
    s.why = opened.error().text();
    return nullptr;
  }
  s.device = std::move(opened).value();
  return s.device.get();
}

int devices() {
  return std::atoi(setting("STAND_IN_DEVICES", "1").c_str());
}
bool no_device() {
  return devices() == 0;
}

}  // namespace stand_in

using namespace stand_in;

namespace {
thread_local int current_device = 0;
}

STAND_IN Status hipInit(unsigned) {
  if (const Status fault = injected("hipInit"); fault != kSuccess) return fault;
  return no_device() ? kInvalidDevice : kSuccess;
}
STAND_IN Status hipGetDeviceCount(int* count) {
  if (const Status fault = injected("hipGetDeviceCount"); fault != kSuccess) return fault;
  *count = devices();
  return no_device() ? kNoDevice : kSuccess;
}
STAND_IN Status hipGetDevice(int* index) {
  *index = current_device;
  return injected("hipGetDevice");
}
STAND_IN Status hipSetDevice(int index) {
  if (const Status fault = injected("hipSetDevice"); fault != kSuccess) return fault;
  if (index < 0 || index >= devices()) return kInvalidDevice;
  current_device = index;
  return kSuccess;
}
STAND_IN Status hipDeviceGetName(char* name, int bytes, int) {
  return on_device("hipDeviceGetName", kInvalidValue, [&](device::Device& d) {
    std::strncpy(name, d.description().name.c_str(), static_cast<size_t>(bytes));
    return true;
  });
}
STAND_IN Status hipDeviceTotalMem(size_t* bytes, int) {
  return on_device("hipDeviceTotalMem", kInvalidValue, [&](device::Device& d) {
    *bytes = d.description().memory_bytes;
    return true;
  });
}
STAND_IN Status hipGetDevicePropertiesR0600(void* properties, int) {
  return on_device("hipGetDevicePropertiesR0600", kInvalidValue, [&](device::Device& d) {
    constexpr size_t kArchPlace = 1160;  // of gcnArchName in HIP 6
    std::memset(properties, 0, 1472);
    std::strcpy(static_cast<char*>(properties), d.description().name.c_str());
    std::strcpy(static_cast<char*>(properties) + kArchPlace, d.description().arch.text().c_str());
    return true;
  });
}
STAND_IN Status hipDriverGetVersion(int* version) {
  *version = 60000000;
  return injected("hipDriverGetVersion");
}
STAND_IN Status hipRuntimeGetVersion(int* version) {
  *version = 60000000;
  return injected("hipRuntimeGetVersion");
}
STAND_IN Status hipMalloc(void** pointer, size_t bytes) {
  return on_device("hipMalloc", kOutOfMemory, [&](device::Device& d) {
    auto got = d.allocate(bytes);
    if (!got) return false;
    *pointer = reinterpret_cast<void*>(*got);
    state().sizes[*pointer] = bytes;
    state().bytes_in_use += bytes;
    return true;
  });
}
STAND_IN Status hipFree(void* pointer) {
  return on_device("hipFree", kInvalidValue, [&](device::Device& d) {
    if (!d.release(address(pointer)).ok()) return false;
    state().bytes_in_use -= state().sizes[pointer];
    state().sizes.erase(pointer);
    return true;
  });
}
STAND_IN Status hipMemcpyHtoD(void* to, const void* from, size_t bytes) {
  return on_device("hipMemcpyHtoD", kInvalidValue, [&](device::Device& d) {
    return drain() == kSuccess &&
           d.copy_in(address(to), {static_cast<const std::byte*>(from), bytes}).ok();
  });
}
STAND_IN Status hipMemcpyDtoH(void* to, const void* from, size_t bytes) {
  return on_device("hipMemcpyDtoH", kInvalidValue, [&](device::Device& d) {
    return drain() == kSuccess &&
           d.copy_out({static_cast<std::byte*>(to), bytes}, address(from)).ok();
  });
}
STAND_IN Status hipMemsetD8(void* to, unsigned char value, size_t bytes) {
  return on_device("hipMemsetD8", kInvalidValue, [&](device::Device& d) {
    return drain() == kSuccess && d.fill(address(to), static_cast<std::byte>(value), bytes).ok();
  });
}
STAND_IN Status hipMemGetInfo(size_t* free_bytes, size_t* total) {
  return on_device("hipMemGetInfo", kInvalidValue, [&](device::Device& d) {
    *total = d.description().memory_bytes;
    *free_bytes = *total - state().bytes_in_use;
    return true;
  });
}
STAND_IN Status hipModuleLoadData(void** module, const void* image) {
  return on_device("hipModuleLoadData", kInvalidImage, [&](device::Device& d) {
    // The real entry takes no size either: an ELF file ends with its section table.
    uint64_t table = 0;
    uint16_t entry_bytes = 0, entries = 0;
    const char* elf = static_cast<const char*>(image);
    std::memcpy(&table, elf + 0x28, sizeof(table));
    std::memcpy(&entry_bytes, elf + 0x3a, sizeof(entry_bytes));
    std::memcpy(&entries, elf + 0x3c, sizeof(entries));
    auto loaded =
        d.load({static_cast<const std::byte*>(image), table + uint64_t{entry_bytes} * entries});
    if (!loaded) return false;
    *module = loaded->get();
    state().modules[*module] = std::move(loaded).value();
    return true;
  });
}
STAND_IN Status hipModuleUnload(void* module) {
  return on_device("hipModuleUnload", kInvalidValue,
                   [&](device::Device&) { return state().modules.erase(module) == 1; });
}
STAND_IN Status hipModuleGetFunction(void** function, void* module, const char* name) {
  return on_device("hipModuleGetFunction", kNotFound, [&](device::Device&) {
    const auto found = state().modules.find(module);
    if (found == state().modules.end()) return false;
    const auto kernel = found->second->kernel(name);
    if (!kernel) return false;
    *function = const_cast<device::Kernel*>(*kernel);
    return true;
  });
}
STAND_IN Status hipModuleLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz,
                                      unsigned bx, unsigned by, unsigned bz, unsigned lds_bytes,
                                      void*, void**, void** extra) {
  return on_device("hipModuleLaunchKernel", kLaunchFailure, [&](device::Device& d) {
    const device::Launch launch = {{gx, gy, gz}, {bx, by, bz}, lds_bytes, {}};
    std::vector<std::byte> arguments;
    if (extra != nullptr) {
      const auto* from = static_cast<const std::byte*>(extra[1]);
      arguments.assign(from, from + *static_cast<size_t*>(extra[3]));
    }
    const auto& kernel = *static_cast<device::Kernel*>(function);
    return in_order([&d, &kernel, launch, arguments] {
             return run_launch(d, kernel, launch, arguments);
           }) == kSuccess;
  });
}
STAND_IN Status hipDeviceSynchronize() {
  return on_device("hipDeviceSynchronize", kLaunchFailure,
                   [](device::Device& d) { return drain() == kSuccess && d.synchronize().ok(); });
}
STAND_IN const char* hipGetErrorName(Status status) {
  switch (status) {
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    case kNoDevice:
      return "hipErrorNoDevice";
    case kInvalidImage:
      return "hipErrorInvalidImage";
    case kLaunchFailure:
      return "hipErrorLaunchFailure";
    default:
      return "hipErrorUnknown";
  }
}
STAND_IN const char* hipGetErrorString(Status) {
  return state().why.c_str();
}
