// An opened vendor library and the devices that it sees, alike for HIP and CUDA.
#pragma once

#include <memory>
#include <string>

#include "device/device.h"

namespace hipplan::device {

/// What a driver says about one of its devices.
struct Identity {
  target::Arch arch;  ///< with its features, "gfx942:sramecc+:xnack-"; "sm_90"
  std::string name;   ///< marketing name
  uint64_t memory_bytes = 0;
  int driver_version = 0, runtime_version = 0;
};

/// An opened and started library. Thread-safe; devices keep it alive. Members are defined in
/// driver_runtime_members.h, for the files that know the table of entry points.
template <class Table>
class DriverRuntime {
 public:
  using Api = Table;
  /// `library` names the file, empty is the one that is installed. Fails with machine when none
  /// opens, when an entry point is missing, and when the driver does not start.
  static Result<std::shared_ptr<DriverRuntime>> open(const std::string& library);
  explicit DriverRuntime(std::unique_ptr<Api> api);
  ~DriverRuntime();

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

}  // namespace hipplan::device
