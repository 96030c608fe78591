// The HIP device, for the files that implement it.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>

#include "device/hip/api.h"
#include "device/hip/hip.h"

namespace hipplan::device::hip {

inline void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

struct HipKernel final : Kernel {
  HipKernel(const Device* owner, void* handle) : Kernel(owner), function(handle) {}
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
  using Device::load;
  Result<std::unique_ptr<Module>> load(ByteView code_object,
                                       const codeobject::CodeObject& parsed) override;
  Result<void> launch(const Kernel& kernel, const Launch& launch) override;
  Result<void> synchronize() override {
    return check([&] { return api().synchronize(); }, "the device's work failed");
  }
  [[nodiscard]] Counters counters() const override {
    const std::lock_guard lock(mutex_);
    return {.launches = launches_};
  }

  // Timing.
  Result<std::unique_ptr<Event>> make_event() override;
  Result<std::unique_ptr<Gate>> close_gate() override;
  Result<std::unique_ptr<Replay>> make_replay(std::span<const KernelLaunch> launches) override;
  [[nodiscard]] Result<Facts> facts() const override;

  [[nodiscard]] const Api& api() const { return runtime_->api(); }
  /// Fails with internal for another device's kernel.
  [[nodiscard]] Result<void*> function_of(const Kernel& kernel) const;
  void count_launches(uint64_t launches) {
    const std::lock_guard lock(mutex_);
    launches_ += launches;
  }
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

}  // namespace hipplan::device::hip
