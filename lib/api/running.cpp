// C interface: devices and execution.
#include <vector>

#include "api/fence.h"
#include "api/objects.h"
#include "api/options.h"
#include "commands/targets.h"
#include "hipplan/hipplan.h"

using hipplan::Result;
using hipplan::api::fenced;
using hipplan::api::null_argument;
using hipplan::api::taken;

extern "C" {

hipplan_status hipplan_device_open(const hipplan_device_options* options, hipplan_device** device) {
  return fenced([&]() -> Result<void> {
    if (options == nullptr || device == nullptr)
      return null_argument(device ? "options" : "device");
    HIPPLAN_TRY_ASSIGN(const auto own, taken(options, "options"));
    if (own.name == nullptr) return null_argument("name");
    hipplan_tool_io raw{};
    raw.struct_size = sizeof(raw);
    raw.data_folder = own.data_folder;
    raw.module_folder = own.module_folder;
    raw.hip_library = own.hip_library;
    raw.cuda_library = own.cuda_library;
    raw.jobs = own.jobs;
    const hipplan::commands::Io io(raw);
    HIPPLAN_TRY_ASSIGN(auto opened, hipplan::commands::open_device({own.name, {}, {}}, io));
    *device = new hipplan_device(std::move(opened));
    return {};
  });
}

void hipplan_device_destroy(hipplan_device* device) {
  delete device;
}

const char* hipplan_device_arch(const hipplan_device* device) {
  return device == nullptr ? "" : device->arch.c_str();
}

hipplan_status hipplan_device_allocate(hipplan_device* device, uint64_t bytes, uint64_t* address) {
  return fenced([&]() -> Result<void> {
    if (device == nullptr || address == nullptr)
      return null_argument(device ? "address" : "device");
    HIPPLAN_TRY_ASSIGN(*address, device->device->allocate(bytes));
    return {};
  });
}

hipplan_status hipplan_device_release(hipplan_device* device, uint64_t address) {
  return fenced([&]() -> Result<void> {
    if (device == nullptr) return null_argument("device");
    return device->device->release(address);
  });
}

hipplan_status hipplan_device_write(hipplan_device* device, uint64_t to, const void* from,
                                    size_t bytes) {
  return fenced([&]() -> Result<void> {
    if (device == nullptr || (from == nullptr && bytes != 0))
      return null_argument(device ? "from" : "device");
    return device->device->copy_in(to, {static_cast<const std::byte*>(from), bytes});
  });
}

hipplan_status hipplan_device_read(hipplan_device* device, void* to, uint64_t from, size_t bytes) {
  return fenced([&]() -> Result<void> {
    if (device == nullptr || (to == nullptr && bytes != 0))
      return null_argument(device ? "to" : "device");
    return device->device->copy_out({static_cast<std::byte*>(to), bytes}, from);
  });
}

hipplan_status hipplan_device_synchronize(hipplan_device* device) {
  return fenced([&]() -> Result<void> {
    if (device == nullptr) return null_argument("device");
    return device->device->synchronize();
  });
}

hipplan_status hipplan_executable_create(const hipplan_plan* plan, hipplan_device* device,
                                         hipplan_executable** executable) {
  return fenced([&]() -> Result<void> {
    if (plan == nullptr || device == nullptr || executable == nullptr)
      return null_argument(!plan ? "plan" : !device ? "device" : "executable");
    HIPPLAN_TRY_ASSIGN(auto made,
                       hipplan::restore::Executable::create(
                           plan->plan, hipplan::restore::built_in_provider(), *device->device));
    *executable = new hipplan_executable{std::move(made)};
    return {};
  });
}

void hipplan_executable_destroy(hipplan_executable* executable) {
  delete executable;
}

hipplan_status hipplan_execute(const hipplan_executable* executable, hipplan_device* device,
                               const int64_t* uids, const uint64_t* addresses, size_t count,
                               uint64_t workspace) {
  return fenced([&]() -> Result<void> {
    if (executable == nullptr || device == nullptr)
      return null_argument(device ? "executable" : "device");
    if (count != 0 && (uids == nullptr || addresses == nullptr))
      return null_argument(uids ? "addresses" : "uids");
    std::vector<hipplan::restore::TensorAddress> tensors;
    for (size_t i = 0; i < count; ++i) tensors.push_back({uids[i], addresses[i]});
    return executable->executable->execute(*device->device, tensors, workspace);
  });
}
}
