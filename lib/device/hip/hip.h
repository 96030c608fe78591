// GPUs behind a HIP runtime.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace hipplan::device::hip {

/// What a runtime says about one of its devices.
struct Identity {
  target::Arch arch;  ///< with its features, "gfx942:sramecc+:xnack-"
  std::string name;   ///< marketing name
  uint64_t memory_bytes = 0;
  int driver_version = 0, runtime_version = 0;
};

struct Api;

/// An opened HIP library. Thread-safe; devices keep it alive.
class Runtime {
 public:
  /// `library` names the file, empty finds the newest installed. Fails with machine when none
  /// opens, when an entry point is missing, and when the driver does not start.
  static Result<std::shared_ptr<Runtime>> open(const std::string& library);
  explicit Runtime(std::unique_ptr<Api> api);
  ~Runtime();

  /// Zero where the library works and the machine has no GPU.
  [[nodiscard]] Result<int> count() const;
  [[nodiscard]] Result<Identity> identify(int index) const;
  /// All that the runtime tells of a device, but the free memory.
  [[nodiscard]] Result<Facts> facts(int index) const;
  [[nodiscard]] const Api& api() const { return *api_; }

 private:
  std::unique_ptr<Api> api_;
};

/// Device `index` of `runtime`. `description` supplies the figures that the runtime does not tell;
/// its architecture must be the device's. Out of range is machine, reason no-device.
Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description);

}  // namespace hipplan::device::hip
