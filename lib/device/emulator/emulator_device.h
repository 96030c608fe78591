// The emulated GPU behind device::Device.
#pragma once

#include <mutex>

#include "device/emulator/scheduler.h"

namespace hipplan::emulator {

/// Launches run to their end before launch() returns; a mutex puts calls in order.
class EmulatorDevice final : public device::Device {
 public:
  static Result<std::unique_ptr<device::Device>> open(const target::Description& description,
                                                      const device::OpenOptions& options);

  [[nodiscard]] std::string name() const override { return "emulator:" + description_.arch.base; }
  [[nodiscard]] const target::Description& description() const override { return description_; }
  Result<device::Address> allocate(uint64_t bytes) override;
  Result<void> release(device::Address address) override;
  Result<void> copy_in(device::Address to, ByteView from) override;
  Result<void> copy_out(std::span<std::byte> to, device::Address from) override;
  Result<void> fill(device::Address to, std::byte value, uint64_t bytes) override;
  Result<void> mark_undefined(device::Address at, uint64_t bytes) override;
  using Device::load;
  Result<std::unique_ptr<device::Module>> load(ByteView code_object,
                                               const codeobject::CodeObject& object) override;
  Result<void> launch(const device::Kernel& kernel, const device::Launch& launch) override;
  Result<void> synchronize() override { return {}; }
  [[nodiscard]] device::Counters counters() const override;
  [[nodiscard]] std::vector<device::Profile> take_profiles() override;

  /// For modules that go away.
  void unload(const std::vector<uint64_t>& segments);

 private:
  Result<std::unique_ptr<device::Module>> load_inside(ByteView code_object,
                                                      const codeobject::CodeObject& object);
  Result<void> launch_inside(const device::Kernel& kernel, const device::Launch& launch);
  /// The decoder for a kernel's wavefront size.
  Result<const disassembly::Disassembler*> decoder(const codeobject::Kernel& kernel);
  EmulatorDevice(target::Description description, disassembly::Disassembler disassembler,
                 const device::OpenOptions& options);

  target::Description description_;
  std::string module_folder_;
  disassembly::Disassembler disassembler_;
  std::optional<disassembly::Disassembler> wide_disassembler_;  ///< wave64 code of gfx10 and later
  mutable std::mutex mutex_;
  AddressSpace memory_;
  Scheduler scheduler_;
  device::Counters counters_;
  bool profile_ = false;
  std::vector<device::Profile> profiles_;
};

}  // namespace hipplan::emulator
