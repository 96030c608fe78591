// The HIP device, for the files that implement it.
#pragma once

#include "device/driver_device.h"
#include "device/hip/api.h"
#include "device/hip/hip.h"

namespace hipplan::device::hip {

class HipDevice final : public DriverDevice<HipDevice, Api> {
 public:
  using DriverDevice::DriverDevice;
  ~HipDevice() override { release_memory(); }

  Result<std::unique_ptr<Event>> make_event() override;
  Result<std::unique_ptr<Gate>> close_gate() override;
  Result<std::unique_ptr<Replay>> make_replay(std::span<const KernelLaunch> launches) override;

  // What DriverDevice asks for.
  Result<void*> load_image(ByteView code_object, const codeobject::CodeObject& parsed) const;
  /// Every kernel may have all of a workgroup's LDS.
  static Result<void> allow_lds(const DriverKernel&, uint32_t) { return {}; }
};

}  // namespace hipplan::device::hip
