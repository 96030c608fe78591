#include "device/null.h"

#include <algorithm>
#include <cstring>

#include "codeobject/codeobject.h"
#include "device/errors.h"
#include "target/code_object_target.h"

namespace hipplan::device {
namespace {

class NullKernel final : public Kernel {
 public:
  NullKernel(const NullDevice& device, codeobject::Kernel info)
      : Kernel(&device), info_(std::move(info)) {}
  [[nodiscard]] const codeobject::Kernel& info() const { return info_; }

 private:
  codeobject::Kernel info_;
};

class NullModule final : public Module {
 public:
  NullModule(NullDevice& device, const codeobject::CodeObject& code) : device_(device) {
    for (const auto& kernel : code.kernels) kernels_.emplace_back(device, kernel);
  }
  ~NullModule() override { device_.module_gone(); }
  Result<const Kernel*> kernel(std::string_view symbol) override {
    for (const auto& kernel : kernels_)
      if (kernel.info().name == symbol) return static_cast<const Kernel*>(&kernel);
    return no_kernel(device_.name(), symbol);
  }

 private:
  NullDevice& device_;
  std::vector<NullKernel> kernels_;
};

Error bad_address(const std::string& device, Address address, uint64_t bytes) {
  return {.code = Code::machine,
          .reason = "bad-address",
          .where = device,
          .what = cat("address ", address, " with ", bytes, " bytes is not inside one allocation")};
}

}  // namespace

Result<std::byte*> NullDevice::reach(Address address, uint64_t bytes) {
  auto found = memory_.upper_bound(address);
  if (found == memory_.begin()) return bad_address(name(), address, bytes);
  --found;
  const uint64_t offset = address - found->first;
  if (offset > found->second.size() || bytes > found->second.size() - offset)
    return bad_address(name(), address, bytes);
  return found->second.data() + offset;
}

Result<Address> NullDevice::allocate(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const uint64_t total = description_.memory_bytes;
  if (bytes > total - used_) return no_memory(name(), bytes, total - used_, total);
  const Address address = next_;
  memory_[address] = Bytes(static_cast<size_t>(bytes));
  used_ += bytes;
  next_ += (bytes / 256 + 2) * 256;
  return address;
}

Result<void> NullDevice::release(Address address) {
  const std::lock_guard lock(mutex_);
  const auto found = memory_.find(address);
  if (found == memory_.end()) return not_allocated(name(), address);
  used_ -= found->second.size();
  memory_.erase(found);
  return {};
}

Result<void> NullDevice::copy_in(Address to, ByteView from) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(std::byte * place, reach(to, from.size()));
  if (!from.empty()) std::memcpy(place, from.data(), from.size());
  return {};
}

Result<void> NullDevice::copy_out(std::span<std::byte> to, Address from) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(const std::byte* place, reach(from, to.size()));
  if (!to.empty()) std::memcpy(to.data(), place, to.size());
  return {};
}

Result<void> NullDevice::fill(Address to, std::byte value, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  HIPPLAN_TRY_ASSIGN(std::byte * place, reach(to, bytes));
  std::fill_n(place, bytes, value);
  return {};
}

Result<std::unique_ptr<Module>> NullDevice::load(ByteView, const codeobject::CodeObject& code) {
  if (!target::code_loads_on(code.arch, description_.arch))
    return other_architecture(name(), description_.arch, code.arch);
  const std::lock_guard lock(mutex_);
  ++modules_;
  return std::unique_ptr<Module>(new NullModule(*this, code));
}

Result<void> NullDevice::launch(const Kernel& kernel, const Launch& launch) {
  if (kernel.owner() != this) return foreign_kernel(name());
  const codeobject::Kernel& info = static_cast<const NullKernel&>(kernel).info();
  const KernelLimits limits = {info.max_flat_workgroup_size, info.group_segment_fixed_size};
  if (auto sound = check_launch(launch, info.name, limits, description_); !sound)
    return sound.error().within(name());
  const std::lock_guard lock(mutex_);
  launches_.push_back({info.name, launch.grid, launch.block, launch.dynamic_lds_bytes,
                       Bytes(launch.arguments.begin(), launch.arguments.end())});
  return {};
}

Counters NullDevice::counters() const {
  const std::lock_guard lock(mutex_);
  Counters out;
  out.launches = launches_.size();
  return out;
}

std::vector<RecordedLaunch> NullDevice::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}
size_t NullDevice::live_allocations() const {
  const std::lock_guard lock(mutex_);
  return memory_.size();
}
size_t NullDevice::loaded_modules() const {
  const std::lock_guard lock(mutex_);
  return modules_;
}
void NullDevice::module_gone() {
  const std::lock_guard lock(mutex_);
  --modules_;
}

Result<std::unique_ptr<Device>> open_null(const target::Description& description) {
  return std::unique_ptr<Device>(new NullDevice(description));
}

}  // namespace hipplan::device
