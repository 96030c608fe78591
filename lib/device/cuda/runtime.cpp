#include <array>

#include "device/cuda/api.h"
#include "device/cuda/cuda.h"
#include "device/driver_runtime_members.h"

namespace hipplan::device::cuda {
namespace {

/// Asks about one device and remembers the first failure.
class Questions {
 public:
  Questions(const Api& api, int index, const std::string& where) : api_(api), where_(where) {
    take(api.device_get(&device_, index), "the device");
  }
  void take(Status status, const char* what) {
    if (status != kSuccess && done_)
      done_ = status_error(api_, status, where_, std::string("cannot read ") + what);
  }
  int number(Attribute attribute, const char* what) {
    int value = 0;
    take(api_.device_attribute(&value, attribute, device_), what);
    return value;
  }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const Result<void>& done() const { return done_; }

 private:
  const Api& api_;
  const std::string& where_;
  int device_ = 0;
  Result<void> done_;
};

}  // namespace

Result<Identity> ask_identity(const Api& api, int index, const std::string& where) {
  Questions ask(api, index, where);
  Identity out;
  std::array<char, 256> name{};
  size_t memory = 0;
  const int major = ask.number(Attribute::major, "its compute capability");
  const int minor = ask.number(Attribute::minor, "its compute capability");
  ask.take(api.device_name(name.data(), static_cast<int>(name.size() - 1), ask.device()),
           "the device's name");
  ask.take(api.device_memory(&memory, ask.device()), "the size of its memory");
  ask.take(api.driver_version(&out.driver_version), "the driver version");
  HIPPLAN_TRY(ask.done());
  auto arch = target::Arch::parse(cat("sm_", major * 10 + minor));
  if (!arch)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = where,
                 .what = "the CUDA driver names no architecture known here for the device",
                 .found = cat("compute capability ", major, ".", minor)};
  out.runtime_version = out.driver_version;
  out.arch = std::move(arch).value();
  out.name = name.data();
  out.memory_bytes = memory;
  return out;
}

uint32_t ask_attribute(const Api& api, Attribute attribute, int index) {
  int device = 0, value = 0;
  const bool told = api.device_get(&device, index) == kSuccess &&
                    api.device_attribute(&value, attribute, device) == kSuccess && value > 0;
  return told ? static_cast<uint32_t>(value) : 0;
}

std::string ask_bus_id(const Api& api, int index) {
  int device = 0;
  std::array<char, 32> text{};
  const bool told =
      api.device_bus_id != nullptr && api.device_get(&device, index) == kSuccess &&
      api.device_bus_id(text.data(), static_cast<int>(text.size() - 1), device) == kSuccess;
  return told ? text.data() : "";
}

std::string version_text(const Api&, int version) {
  return cat("CUDA ", version / 1000, ".", version % 1000 / 10);
}

}  // namespace hipplan::device::cuda

template class hipplan::device::DriverRuntime<hipplan::device::cuda::Api>;
