// A device behind a vendor's driver: what the HIP and the CUDA device have in common. Their tables
// of entry points have the same members for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <type_traits>

#include "codeobject/codeobject.h"
#include "device/driver_api.h"
#include "device/driver_gate.h"
#include "device/driver_runtime.h"
#include "device/errors.h"
#include "device/live_memory.h"
#include "target/code_object_target.h"

namespace hipplan::device {

/// A kernel with the driver's handle for it.
struct DriverKernel final : Kernel {
  DriverKernel(const Device* device, void* handle, std::string symbol, KernelLimits of_code)
      : Kernel(device), function(handle), name(std::move(symbol)), limits(of_code) {}
  void* function;
  std::string name;
  KernelLimits limits;
  /// LDS in all, fixed and dynamic, that the driver has been asked to allow; 0 before the first
  /// time. It only rises, under the mutex.
  mutable std::atomic<uint64_t> granted_lds_bytes{0};
  mutable std::mutex grant_mutex;
};

/// The list in which drivers take a kernel's arguments in one piece.
template <class Api>
struct ArgumentList {
  explicit ArgumentList(ByteView arguments)
      : bytes(arguments.size()),
        extra{kArgumentBuffer, const_cast<std::byte*>(arguments.data()), kArgumentSize, &bytes,
              Api::argument_end()} {}
  ArgumentList(const ArgumentList&) = delete;
  ArgumentList& operator=(const ArgumentList&) = delete;
  /// Null for a kernel without arguments.
  [[nodiscard]] void** list() { return bytes == 0 ? nullptr : extra; }

  size_t bytes;
  void* extra[5];
};

/// A loaded module; D is the device.
template <class D>
class DriverModule final : public Module {
 public:
  using Limits = std::map<std::string, KernelLimits, std::less<>>;
  DriverModule(const D& device, void* handle, Limits limits)
      : device_(device), handle_(handle), limits_(std::move(limits)) {}
  DriverModule(const DriverModule&) = delete;
  DriverModule& operator=(const DriverModule&) = delete;
  ~DriverModule() override {
    // A failure to unload has no one left to tell; the driver keeps what it could not give back.
    (void)device_.call([&] { return device_.api().module_unload(handle_); });
  }
  Result<const Kernel*> kernel(std::string_view symbol) override {
    const std::lock_guard lock(mutex_);
    if (const auto known = kernels_.find(symbol); known != kernels_.end())
      return static_cast<const Kernel*>(known->second.get());
    const auto limits = limits_.find(symbol);
    if (limits == limits_.end()) return no_kernel(device_.name(), symbol);
    const std::string& name = limits->first;
    void* function = nullptr;
    const Status status = device_.call(
        [&] { return device_.api().module_function(&function, handle_, name.c_str()); });
    if (status != kSuccess)
      return device_.fail(status, cat("the driver gives no kernel '", name.substr(0, 80), "'"));
    auto& slot = kernels_[name];
    slot = std::make_unique<DriverKernel>(&device_, function, name, limits->second);
    return static_cast<const Kernel*>(slot.get());
  }

 private:
  const D& device_;
  void* handle_;
  Limits limits_;  ///< of all kernels of the code object
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<DriverKernel>, std::less<>> kernels_;
};

/// D derives from it and brings load_image(), allow_lds(), and the timing members.
template <class D, class Api>
class DriverDevice : public Device {
 public:
  using Runtime = DriverRuntime<Api>;
  using Current = typename Api::Current;
  /// `ours` is what must be current on a thread that calls the driver for this device. D's
  /// destructor begins with release_memory().
  DriverDevice(std::shared_ptr<Runtime> runtime, int index, Current ours,
               target::Description description, std::chrono::milliseconds longest_hold)
      : runtime_(std::move(runtime)),
        index_(index),
        ours_(ours),
        description_(std::move(description)),
        longest_hold_(longest_hold) {}
  DriverDevice(const DriverDevice&) = delete;
  DriverDevice& operator=(const DriverDevice&) = delete;

  [[nodiscard]] std::string name() const override { return cat(Api::kBackend, ":", index_); }
  [[nodiscard]] const target::Description& description() const override { return description_; }

  Result<Address> allocate(uint64_t bytes) override {
    Pointer pointer{};
    const Status status =
        call([&] { return api().allocate(&pointer, std::max<uint64_t>(bytes, 1)); });
    if (status != kSuccess) return no_memory_left(status, bytes);
    const auto address = to_address(pointer);
    live_.add(address);
    return address;
  }
  Result<void> release(Address address) override {
    if (!live_.remove(address)) return not_allocated(name(), address);
    auto done = check([&] { return api().release(to_pointer(address)); }, "cannot release memory");
    if (!done) live_.add(address);
    return done;
  }
  Result<void> copy_in(Address to, ByteView from) override {
    if (from.empty()) return {};
    return check([&] { return api().copy_in(to_pointer(to), from.data(), from.size()); },
                 "cannot copy to the device");
  }
  Result<void> copy_out(std::span<std::byte> to, Address from) override {
    if (to.empty()) return {};
    return check([&] { return api().copy_out(to.data(), to_pointer(from), to.size()); },
                 "cannot copy from the device");
  }
  Result<void> fill(Address to, std::byte value, uint64_t bytes) override {
    if (bytes == 0) return {};
    const auto byte = static_cast<unsigned char>(value);
    return check([&] { return api().fill(to_pointer(to), byte, bytes); }, "cannot fill memory");
  }

  using Device::load;
  Result<std::unique_ptr<Module>> load(ByteView code_object,
                                       const codeobject::CodeObject& parsed) override {
    // A driver trusts what it is given; what is no code for this device never gets there.
    if (!target::code_loads_on(parsed.arch, description_.arch))
      return other_architecture(name(), description_.arch, parsed.arch);
    typename DriverModule<D>::Limits limits;
    for (const auto& kernel : parsed.kernels)
      limits[kernel.name] = {kernel.max_flat_workgroup_size, kernel.group_segment_fixed_size};
    HIPPLAN_TRY_ASSIGN(void* const handle, self().load_image(code_object, parsed));
    return std::unique_ptr<Module>(new DriverModule<D>(self(), handle, std::move(limits)));
  }
  Result<void> launch(const Kernel& kernel, const Launch& launch) override {
    HIPPLAN_TRY_ASSIGN(const DriverKernel* const ready, ready_kernel(kernel, launch));
    ArgumentList<Api> arguments(launch.arguments);
    const Status status = call([&] {
      return api().launch(ready->function, launch.grid.x, launch.grid.y, launch.grid.z,
                          launch.block.x, launch.block.y, launch.block.z, launch.dynamic_lds_bytes,
                          nullptr, nullptr, arguments.list());
    });
    if (status != kSuccess)
      return fail(status, cat("the driver refuses the ", launch_text(ready->name, launch)));
    count_launches(1);
    return {};
  }
  Result<void> synchronize() override {
    return check([&] { return api().synchronize(); }, "the device's work failed");
  }
  [[nodiscard]] Counters counters() const override { return {.launches = launches_}; }
  [[nodiscard]] Result<Facts> facts() const override {
    HIPPLAN_TRY_ASSIGN(Facts known, runtime_->facts(index_));
    size_t total = 0, free_bytes = 0;
    HIPPLAN_TRY(check([&] { return api().memory_info(&free_bytes, &total); },
                      "cannot read how much memory is free"));
    known.free_memory_bytes = free_bytes;
    return known;
  }

  [[nodiscard]] const Api& api() const { return runtime_->api(); }
  [[nodiscard]] Error fail(Status status, const std::string& what) const {
    return status_error(api(), status, name(), what);
  }
  /// Calls the driver for this device. What was current on the thread is so again afterwards; where
  /// that is this device already, asking is all that it costs.
  template <class F>
  Status call(F&& function) const {
    Current before{};
    Status status = api().get_current(&before);
    if (status != kSuccess) return status;
    if (before == ours_) return function();
    status = api().set_current(ours_);
    if (status != kSuccess) return status;
    status = function();
    const Status back = api().set_current(before);
    return status != kSuccess ? status : back;
  }
  template <class F>
  Result<void> check(F&& function, const char* what) const {
    const Status status = call(function);
    if (status == kSuccess) return {};
    return fail(status, what);
  }
  void count_launches(uint64_t launches) { launches_ += launches; }
  /// The driver's kernel, for a launch that keeps to its limits and has the LDS that it needs.
  [[nodiscard]] Result<const DriverKernel*> ready_kernel(const Kernel& kernel,
                                                         const Launch& launch) const {
    if (kernel.owner() != this) return foreign_kernel(name());
    const auto& known = static_cast<const DriverKernel&>(kernel);
    if (auto sound = check_launch(launch, known.name, known.limits, description_); !sound)
      return sound.error().within(name());
    HIPPLAN_TRY(self().allow_lds(known, launch.dynamic_lds_bytes));
    return &known;
  }

 protected:
  using Pointer = typename Api::Pointer;
  [[nodiscard]] std::chrono::milliseconds longest_hold() const { return longest_hold_; }
  /// Frees what nobody has released. A driver that refuses has no one left to tell.
  void release_memory() {
    for (const Address address : live_.take_all())
      (void)call([&] { return api().release(to_pointer(address)); });
  }

 private:
  [[nodiscard]] const D& self() const { return static_cast<const D&>(*this); }
  static Pointer to_pointer(Address address) {
    if constexpr (std::is_pointer_v<Pointer>)
      return reinterpret_cast<Pointer>(address);
    else
      return address;
  }
  static Address to_address(Pointer pointer) {
    if constexpr (std::is_pointer_v<Pointer>)
      return reinterpret_cast<Address>(pointer);
    else
      return pointer;
  }
  [[nodiscard]] Error no_memory_left(Status status, uint64_t bytes) const {
    Error told = fail(status, cat("cannot allocate ", bytes, " bytes"));
    size_t free_bytes = 0, total = 0;
    const bool known = status == kOutOfMemory &&
                       call([&] { return api().memory_info(&free_bytes, &total); }) == kSuccess;
    if (!known) return told;
    Error error = no_memory(name(), bytes, free_bytes, total);
    error.found = std::move(told.found);
    return error;
  }

  std::shared_ptr<Runtime> runtime_;
  int index_;
  Current ours_;
  target::Description description_;
  std::chrono::milliseconds longest_hold_;
  LiveMemory live_;
  std::atomic<uint64_t> launches_{0};
};

/// The device's description when its driver agrees with it about the architecture.
template <class Api>
Result<target::Description> described_by_driver(const DriverRuntime<Api>& runtime, int index,
                                                target::Description description) {
  HIPPLAN_TRY_ASSIGN(const Facts facts, runtime.facts(index));
  if (facts.arch.base == description.arch.base) return with_facts(std::move(description), facts);
  return Error{.code = Code::unusable,
               .reason = "device-arch",
               .where = cat(Api::kBackend, ":", index),
               .what = "the device is of another architecture than its description",
               .expected = description.arch.base,
               .found = facts.arch.text()};
}

}  // namespace hipplan::device
