// The device class, shared by the files of this folder.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "device/cuda/api.h"
#include "device/cuda/cuda.h"

namespace hipplan::device::cuda {

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<Runtime> runtime, int index, int device, void* context,
             target::Description description)
      : runtime_(std::move(runtime)),
        index_(index),
        device_(device),
        context_(context),
        description_(std::move(description)) {}
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] std::string name() const override { return "cuda:" + std::to_string(index_); }
  [[nodiscard]] const target::Description& description() const override { return description_; }

  Result<Address> allocate(uint64_t bytes) override;
  Result<void> release(Address address) override {
    return check([&] { return api().release(address); }, "cannot release memory");
  }
  Result<void> copy_in(Address to, ByteView from) override {
    if (from.empty()) return {};
    return check([&] { return api().copy_in(to, from.data(), from.size()); },
                 "cannot copy to the device");
  }
  Result<void> copy_out(std::span<std::byte> to, Address from) override {
    if (to.empty()) return {};
    return check([&] { return api().copy_out(to.data(), from, to.size()); },
                 "cannot copy from the device");
  }
  Result<void> fill(Address to, std::byte value, uint64_t bytes) override {
    if (bytes == 0) return {};
    return check([&] { return api().fill(to, static_cast<unsigned char>(value), bytes); },
                 "cannot fill memory");
  }
  using Device::load;
  Result<std::unique_ptr<Module>> load(ByteView code_object,
                                       const codeobject::CodeObject& parsed) override;
  Result<void> launch(const Kernel& kernel, const Launch& launch) override;
  Result<void> synchronize() override {
    return check([&] { return api().synchronize(); }, "the device's work failed");
  }
  [[nodiscard]] Counters counters() const override { return {.launches = launches_}; }
  Result<std::unique_ptr<Event>> make_event() override;
  Result<std::unique_ptr<Gate>> close_gate() override;
  Result<std::unique_ptr<Replay>> make_replay(std::span<const KernelLaunch> launches) override;
  [[nodiscard]] Result<Facts> facts() const override;

  [[nodiscard]] const Api& api() const { return runtime_->api(); }
  [[nodiscard]] Error fail(Status status, const std::string& what) const {
    return status_error(api(), status, name(), what);
  }
  /// The current context belongs to the calling thread.
  template <class F>
  Status call(F&& function) const {
    const Status chosen = api().context_set(context_);
    return chosen == kSuccess ? function() : chosen;
  }
  template <class F>
  Result<void> check(F&& function, const char* what) const {
    const Status status = call(function);
    if (status == kSuccess) return {};
    return fail(status, what);
  }
  void count_launches(uint64_t more) { launches_ += more; }
  /// The driver's handle of one of this backend's kernels, ready for `lds_bytes` of LDS.
  Result<void*> function_of(const Kernel& kernel, uint32_t lds_bytes) const;

 private:
  std::shared_ptr<Runtime> runtime_;
  int index_, device_;
  void* context_;
  target::Description description_;
  std::atomic<uint64_t> launches_{0};
  std::mutex gate_mutex_;
  void* gate_words_ = nullptr;  ///< host memory that closed gates wait on
  uint32_t gates_ = 0;
};

}  // namespace hipplan::device::cuda
