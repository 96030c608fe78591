// GPUs behind the CUDA driver.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace hipplan::device::cuda {

/// What the driver says about one of its devices.
struct Identity {
  target::Arch arch;  ///< "sm_90": the device's compute capability
  std::string name;   ///< marketing name
  uint64_t memory_bytes = 0;
  int driver_version = 0;  ///< 13000 is CUDA 13.0
};

struct Api;

/// An opened and started driver library. Thread-safe; devices keep it alive.
class Runtime {
 public:
  /// `library` names the file, empty is libcuda.so.1. Fails with machine when it does not open,
  /// when an entry point is missing, and when the driver does not start.
  static Result<std::shared_ptr<Runtime>> open(const std::string& library);
  explicit Runtime(std::unique_ptr<Api> api);
  ~Runtime();

  /// Zero where the library works and the machine has no GPU.
  [[nodiscard]] Result<int> count() const;
  [[nodiscard]] Result<Identity> identify(int index) const;
  /// All that the driver tells of a device, but the free memory.
  [[nodiscard]] Result<Facts> facts(int index) const;
  [[nodiscard]] const Api& api() const { return *api_; }

 private:
  std::unique_ptr<Api> api_;
  bool has_gpu_ = true;
};

/// Device `index` of `runtime`. `description` supplies the figures that the driver does not tell;
/// its architecture must be the device's. Out of range is machine, reason no-device. The device's
/// primary context is held as long as the device is.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description);

}  // namespace hipplan::device::cuda
