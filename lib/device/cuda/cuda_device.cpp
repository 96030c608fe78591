#include "device/cuda/cuda_device.h"

#include <array>

namespace hipplan::device::cuda {
namespace {

/// What every kernel may have of LDS in all without asking the driver for more.
constexpr uint64_t kFreeLdsBytes = 48u << 10;
constexpr size_t kLogBytes = 4096;

}  // namespace

CudaDevice::~CudaDevice() {
  release_memory();
  if (gate_words_ != nullptr) (void)call([&] { return api().host_release(gate_words_); });
  (void)api().context_release(device_);
}

Result<void*> CudaDevice::load_image(ByteView code_object,
                                     const codeobject::CodeObject& parsed) const {
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
  if (status == kSuccess) return handle;
  auto error = fail(status, "the driver refuses the code object");
  if (log.front() != '\0') error.found += cat("; ", log.data());
  return error;
}

Result<void> CudaDevice::allow_lds(const DriverKernel& kernel, uint32_t dynamic_bytes) const {
  const uint64_t all = uint64_t{kernel.limits.lds_bytes} + dynamic_bytes;
  if (dynamic_bytes == 0 || all <= kFreeLdsBytes || all <= kernel.granted_lds_bytes) return {};
  const std::lock_guard lock(kernel.grant_mutex);
  if (all <= kernel.granted_lds_bytes) return {};
  HIPPLAN_TRY(check(
      [&] {
        return api().function_set_attribute(kernel.function,
                                            FunctionAttribute::max_dynamic_lds_bytes,
                                            static_cast<int>(dynamic_bytes));
      },
      "the driver grants no more LDS"));
  kernel.granted_lds_bytes = all;
  return {};
}

Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description,
                                            std::chrono::milliseconds longest_hold) {
  HIPPLAN_TRY_ASSIGN(description, described_by_driver(*runtime, index, std::move(description)));
  const Api& api = runtime->api();
  int device = 0;
  void* context = nullptr;
  Status status = api.device_get(&device, index);
  if (status == kSuccess) status = api.context_retain(&context, device);
  if (status != kSuccess)
    return status_error(api, status, cat("cuda:", index), "the driver gives no context");
  return std::unique_ptr<Device>(new CudaDevice(std::move(runtime), index, device, context,
                                                std::move(description), longest_hold));
}

}  // namespace hipplan::device::cuda
