#include "device/hip/hip_device.h"

#include "codeobject/codeobject.h"
#include "target/code_object_target.h"

namespace hipplan::device::hip {

HipModule::~HipModule() {
  // A failure to unload has no one left to tell; the driver keeps what it could not give back.
  (void)device_.call([&] { return device_.api().module_unload(handle_); });
}

Result<const Kernel*> HipModule::kernel(std::string_view symbol) {
  const std::lock_guard lock(mutex_);
  const auto known = kernels_.find(symbol);
  if (known != kernels_.end()) return static_cast<const Kernel*>(known->second.get());
  const std::string name(symbol);
  void* function = nullptr;
  const Status status =
      device_.call([&] { return device_.api().module_function(&function, handle_, name.c_str()); });
  if (status != kSuccess)
    return device_.fail(status, cat("the module has no kernel '", name.substr(0, 80), "'"));
  auto& slot = kernels_[name];
  slot = std::make_unique<HipKernel>(&device_, function);
  return static_cast<const Kernel*>(slot.get());
}

Result<std::unique_ptr<Module>> HipDevice::load(ByteView code_object,
                                                const codeobject::CodeObject& parsed) {
  // The runtime trusts what it is given; what is no code object for this device never gets there.
  if (!target::code_loads_on(parsed.arch, description_.arch))
    return Error{.code = Code::unusable,
                 .reason = "driver-load",
                 .where = name(),
                 .what = "the code object is for another architecture",
                 .expected = description_.arch.text(),
                 .found = parsed.arch.text()};
  void* handle = nullptr;
  const Status status = call([&] { return api().module_load(&handle, code_object.data()); });
  if (status != kSuccess) return fail(status, "the driver refuses the code object");
  return std::unique_ptr<Module>(new HipModule(*this, handle));
}

Result<void*> HipDevice::function_of(const Kernel& kernel) const {
  if (const auto* known = dynamic_cast<const HipKernel*>(&kernel)) return known->function;
  return Error{.code = Code::internal,
               .reason = "foreign-kernel",
               .where = name(),
               .what = "the kernel belongs to another device"};
}

Result<void> HipDevice::launch(const Kernel& kernel, const Launch& launch) {
  HIPPLAN_TRY_ASSIGN(void* const function, function_of(kernel));
  size_t bytes = launch.arguments.size();
  auto* arguments = const_cast<std::byte*>(launch.arguments.data());
  void* extra[] = {kArgumentBuffer, arguments, kArgumentSize, &bytes, kArgumentEnd};
  const Status status = call([&] {
    return api().launch(function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                        launch.block.y, launch.block.z, launch.dynamic_lds_bytes, nullptr, nullptr,
                        bytes == 0 ? nullptr : extra);
  });
  if (status != kSuccess) return fail(status, "the driver refuses the launch");
  count_launches(1);
  return {};
}

Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description) {
  HIPPLAN_TRY_ASSIGN(const Identity identity, runtime->identify(index));
  if (identity.arch.base != description.arch.base)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = cat("hip:", index),
                 .what = "the device is of another architecture than its description",
                 .expected = description.arch.base,
                 .found = identity.arch.text()};
  description.arch = identity.arch;
  description.name = identity.name;
  description.memory_bytes = identity.memory_bytes;
  return std::unique_ptr<Device>(new HipDevice(std::move(runtime), index, std::move(description)));
}

}  // namespace hipplan::device::hip
