#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <array>

#include "codeobject/codeobject.h"
#include "target/code_object_target.h"

namespace hipplan::device::cuda {
namespace {

/// What every kernel may have of LDS in all without asking the driver for more.
constexpr uint32_t kFreeLdsBytes = 48u << 10;
constexpr size_t kLogBytes = 4096;

struct CudaKernel final : Kernel {
  CudaKernel(const Device* owner, void* handle, uint32_t fixed_bytes)
      : Kernel(owner), function(handle), static_lds_bytes(fixed_bytes) {}
  void* function;
  uint32_t static_lds_bytes;
  mutable std::atomic<uint32_t> granted_lds_bytes{kFreeLdsBytes};
};

class CudaModule final : public Module {
 public:
  CudaModule(CudaDevice& device, void* handle, std::map<std::string, uint32_t, std::less<>> lds)
      : device_(device), handle_(handle), static_lds_bytes_(std::move(lds)) {}
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;
  ~CudaModule() override {
    // A failure to unload has no one left to tell; the driver keeps what it could not give back.
    (void)device_.call([&] { return device_.api().module_unload(handle_); });
  }
  Result<const Kernel*> kernel(std::string_view symbol) override {
    const std::lock_guard lock(mutex_);
    const auto known = kernels_.find(symbol);
    if (known != kernels_.end()) return static_cast<const Kernel*>(known->second.get());
    const std::string name(symbol);
    void* function = nullptr;
    const Status status = device_.call(
        [&] { return device_.api().module_function(&function, handle_, name.c_str()); });
    if (status != kSuccess)
      return device_.fail(status, cat("the module has no kernel '", name.substr(0, 80), "'"));
    const auto lds = static_lds_bytes_.find(name);
    auto& slot = kernels_[name];
    slot = std::make_unique<CudaKernel>(&device_, function,
                                        lds == static_lds_bytes_.end() ? 0 : lds->second);
    return static_cast<const Kernel*>(slot.get());
  }

 private:
  CudaDevice& device_;
  void* handle_;
  std::map<std::string, uint32_t, std::less<>> static_lds_bytes_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<CudaKernel>, std::less<>> kernels_;
};

/// The figures that the driver knows better than a target file.
void take_facts(const Facts& facts, target::Description& to) {
  const auto take = [](auto& member, auto value) {
    if (value != 0) member = value;
  };
  take(to.compute_units, facts.compute_units);
  take(to.max_workgroup_size, facts.max_workgroup_size);
  take(to.lds_bytes_per_workgroup, facts.lds_bytes_per_workgroup);
  take(to.last_level_cache_bytes, facts.last_level_cache_bytes);
  to.arch = facts.arch;
  to.name = facts.name;
  to.memory_bytes = facts.memory_bytes;
}

}  // namespace

CudaDevice::~CudaDevice() {
  if (gate_words_ != nullptr) (void)call([&] { return api().host_release(gate_words_); });
  (void)api().context_release(device_);
}

Result<Address> CudaDevice::allocate(uint64_t bytes) {
  DeviceAddress address = 0;
  const Status status =
      call([&] { return api().allocate(&address, std::max<uint64_t>(bytes, 1)); });
  if (status == kSuccess) return Address{address};
  auto error = fail(status, cat("cannot allocate ", bytes, " bytes"));
  size_t free_bytes = 0, total = 0;
  if (call([&] { return api().memory_info(&free_bytes, &total); }) == kSuccess)
    error.expected = cat("at most ", free_bytes, " of ", total, " bytes, which are free");
  return error;
}

Result<std::unique_ptr<Module>> CudaDevice::load(ByteView code_object,
                                                 const codeobject::CodeObject& parsed) {
  // The driver trusts what it is given; what is no code for this device never gets there.
  if (!target::code_loads_on(parsed.arch, description_.arch))
    return Error{.code = Code::unusable,
                 .reason = "driver-load",
                 .where = name(),
                 .what = "the code object is for another architecture",
                 .expected = description_.arch.text(),
                 .found = parsed.arch.text()};
  std::map<std::string, uint32_t, std::less<>> lds;
  for (const auto& kernel : parsed.kernels) lds[kernel.name] = kernel.group_segment_fixed_size;
  // PTX is text that ends with a zero byte.
  std::string text;
  if (parsed.arch.is_generic()) text = as_text(code_object);
  const void* image = text.empty() ? static_cast<const void*>(code_object.data()) : text.c_str();
  std::array<char, kLogBytes> log{};
  JitOption names[] = {JitOption::error_log, JitOption::error_log_bytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  void* handle = nullptr;
  const Status status =
      call([&] { return api().module_load(&handle, image, text.empty() ? 0 : 2, names, values); });
  if (status != kSuccess) {
    auto error = fail(status, "the driver refuses the code object");
    if (log.front() != '\0') error.found += cat("; ", log.data());
    return error;
  }
  return std::unique_ptr<Module>(new CudaModule(*this, handle, std::move(lds)));
}

Result<void*> CudaDevice::function_of(const Kernel& kernel, uint32_t lds_bytes) const {
  const auto* known = dynamic_cast<const CudaKernel*>(&kernel);
  if (known == nullptr)
    return Error{.code = Code::internal,
                 .reason = "foreign-kernel",
                 .where = name(),
                 .what = "the kernel belongs to another device"};
  const uint64_t all = uint64_t{known->static_lds_bytes} + lds_bytes;
  if (lds_bytes != 0 && all > known->granted_lds_bytes) {
    HIPPLAN_TRY(check(
        [&] {
          return api().function_set_attribute(known->function,
                                              FunctionAttribute::max_dynamic_lds_bytes,
                                              static_cast<int>(lds_bytes));
        },
        "the driver grants no more LDS"));
    known->granted_lds_bytes = static_cast<uint32_t>(all);
  }
  return known->function;
}

Result<void> CudaDevice::launch(const Kernel& kernel, const Launch& launch) {
  HIPPLAN_TRY_ASSIGN(void* const function, function_of(kernel, launch.dynamic_lds_bytes));
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
  HIPPLAN_TRY_ASSIGN(const Facts facts, runtime->facts(index));
  if (facts.arch.base != description.arch.base)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = cat("cuda:", index),
                 .what = "the device is of another architecture than its description",
                 .expected = description.arch.base,
                 .found = facts.arch.text()};
  take_facts(facts, description);
  const Api& api = runtime->api();
  int device = 0;
  void* context = nullptr;
  Status status = api.device_get(&device, index);
  if (status == kSuccess) status = api.context_retain(&context, device);
  if (status != kSuccess)
    return status_error(api, status, cat("cuda:", index), "the driver gives no context");
  return std::unique_ptr<Device>(
      new CudaDevice(std::move(runtime), index, device, context, std::move(description)));
}

}  // namespace hipplan::device::cuda
