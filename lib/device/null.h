// The null device: real host memory, launches recorded and not executed. For tests and as a model.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.h"

namespace hipplan::device {

/// A launch as the null device saw it.
struct RecordedLaunch {
  std::string kernel;
  Dim3 grid, block;
  uint32_t dynamic_lds_bytes = 0;
  Bytes arguments;
};

/// Thread-safe. Loading parses the code object and checks its architecture like a driver would.
class NullDevice final : public Device {
 public:
  explicit NullDevice(target::Description description) : description_(std::move(description)) {}

  [[nodiscard]] std::string name() const override { return "null:" + description_.arch.base; }
  [[nodiscard]] const target::Description& description() const override { return description_; }
  Result<Address> allocate(uint64_t bytes) override;
  Result<void> release(Address address) override;
  Result<void> copy_in(Address to, ByteView from) override;
  Result<void> copy_out(std::span<std::byte> to, Address from) override;
  Result<void> fill(Address to, std::byte value, uint64_t bytes) override;
  using Device::load;
  Result<std::unique_ptr<Module>> load(ByteView code_object,
                                       const codeobject::CodeObject& parsed) override;
  Result<void> launch(const Kernel& kernel, const Launch& launch) override;
  Result<void> synchronize() override { return {}; }
  [[nodiscard]] Counters counters() const override;

  [[nodiscard]] std::vector<RecordedLaunch> launches() const;
  [[nodiscard]] size_t live_allocations() const;
  [[nodiscard]] size_t loaded_modules() const;
  void module_gone();

 private:
  Result<std::byte*> reach(Address address, uint64_t bytes);

  target::Description description_;
  mutable std::mutex mutex_;
  std::map<Address, Bytes> memory_;
  Address next_ = 0x10000;
  uint64_t used_ = 0;
  size_t modules_ = 0;
  std::vector<RecordedLaunch> launches_;
};

}  // namespace hipplan::device
