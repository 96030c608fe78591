#include <algorithm>
#include <map>
#include <mutex>

#include "codeobject/codeobject.h"
#include "device/hip/api.h"
#include "device/hip/hip.h"
#include "target/code_object_target.h"

namespace hipplan::device::hip {
namespace {

void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

struct HipKernel final : Kernel {
  explicit HipKernel(void* handle) : function(handle) {}
  void* function;
};

class HipDevice;

class HipModule final : public Module {
 public:
  HipModule(HipDevice& device, void* handle) : device_(device), handle_(handle) {}
  ~HipModule() override;
  Result<const Kernel*> kernel(std::string_view symbol) override;

 private:
  HipDevice& device_;
  void* handle_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<HipKernel>, std::less<>> kernels_;
};

class HipDevice final : public Device {
 public:
  HipDevice(std::shared_ptr<Runtime> runtime, int index, target::Description description)
      : runtime_(std::move(runtime)), index_(index), description_(std::move(description)) {}

  [[nodiscard]] std::string name() const override { return "hip:" + std::to_string(index_); }
  [[nodiscard]] const target::Description& description() const override { return description_; }

  Result<Address> allocate(uint64_t bytes) override {
    void* address = nullptr;
    const Status status =
        call([&] { return api().allocate(&address, std::max<uint64_t>(bytes, 1)); });
    if (status == kSuccess) return reinterpret_cast<Address>(address);
    auto error = fail(status, cat("cannot allocate ", bytes, " bytes"));
    size_t free_bytes = 0, total = 0;
    if (call([&] { return api().memory_info(&free_bytes, &total); }) == kSuccess)
      error.expected = cat("at most ", free_bytes, " of ", total, " bytes, which are free");
    return error;
  }
  Result<void> release(Address address) override {
    return check([&] { return api().release(pointer(address)); }, "cannot release memory");
  }
  Result<void> copy_in(Address to, ByteView from) override {
    if (from.empty()) return {};
    return check([&] { return api().copy_in(pointer(to), from.data(), from.size()); },
                 "cannot copy to the device");
  }
  Result<void> copy_out(std::span<std::byte> to, Address from) override {
    if (to.empty()) return {};
    return check([&] { return api().copy_out(to.data(), pointer(from), to.size()); },
                 "cannot copy from the device");
  }
  Result<void> fill(Address to, std::byte value, uint64_t bytes) override {
    if (bytes == 0) return {};
    return check([&] { return api().fill(pointer(to), static_cast<unsigned char>(value), bytes); },
                 "cannot fill memory");
  }
  Result<std::unique_ptr<Module>> load(ByteView code_object) override;
  Result<void> launch(const Kernel& kernel, const Launch& launch) override;
  Result<void> synchronize() override {
    return check([&] { return api().synchronize(); }, "the device's work failed");
  }
  [[nodiscard]] Counters counters() const override {
    const std::lock_guard lock(mutex_);
    return {.launches = launches_};
  }

  [[nodiscard]] const Api& api() const { return runtime_->api(); }
  [[nodiscard]] Error fail(Status status, const std::string& what) const {
    return status_error(api(), status, name(), what);
  }
  /// The current device belongs to the calling thread.
  template <class F>
  Status call(F&& function) const {
    const Status chosen = api().set_device(index_);
    return chosen == kSuccess ? function() : chosen;
  }
  template <class F>
  Result<void> check(F&& function, const char* what) const {
    const Status status = call(function);
    if (status == kSuccess) return {};
    return fail(status, what);
  }

 private:
  std::shared_ptr<Runtime> runtime_;
  int index_;
  target::Description description_;
  mutable std::mutex mutex_;
  uint64_t launches_ = 0;
};

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
  slot = std::make_unique<HipKernel>(function);
  return static_cast<const Kernel*>(slot.get());
}

Result<std::unique_ptr<Module>> HipDevice::load(ByteView code_object) {
  // The runtime trusts what it is given; what is no code object for this device never gets there.
  HIPPLAN_TRY_ASSIGN(const auto parsed, codeobject::parse(code_object, "code object"));
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

Result<void> HipDevice::launch(const Kernel& kernel, const Launch& launch) {
  const auto* known = dynamic_cast<const HipKernel*>(&kernel);
  if (known == nullptr)
    return Error{.code = Code::internal,
                 .reason = "foreign-kernel",
                 .where = name(),
                 .what = "the kernel belongs to another device"};
  size_t bytes = launch.arguments.size();
  auto* arguments = const_cast<std::byte*>(launch.arguments.data());
  void* extra[] = {kArgumentBuffer, arguments, kArgumentSize, &bytes, kArgumentEnd};
  const Status status = call([&] {
    return api().launch(known->function, launch.grid.x, launch.grid.y, launch.grid.z,
                        launch.block.x, launch.block.y, launch.block.z, launch.dynamic_lds_bytes,
                        nullptr, nullptr, bytes == 0 ? nullptr : extra);
  });
  if (status != kSuccess) return fail(status, "the driver refuses the launch");
  const std::lock_guard lock(mutex_);
  ++launches_;
  return {};
}

}  // namespace

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
