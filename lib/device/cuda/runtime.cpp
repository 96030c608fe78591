#include <algorithm>
#include <array>

#include "device/cuda/api.h"
#include "device/cuda/cuda.h"

namespace hipplan::device::cuda {
namespace {

std::string place_of(int index) {
  return "cuda:" + std::to_string(index);
}

std::string version_text(int version) {
  return cat("CUDA ", version / 1000, ".", version % 1000 / 10);
}

/// Asks about one device and remembers the first failure.
class Questions {
 public:
  Questions(const Api& api, int index) : api_(api), index_(index) {
    take(api.device_get(&device_, index), "the device");
  }
  void take(Status status, const char* what) {
    if (status != kSuccess && done_)
      done_ = status_error(api_, status, place_of(index_), std::string("cannot read ") + what);
  }
  int number(Attribute attribute, const char* what) {
    int value = 0;
    take(api_.device_attribute(&value, attribute, device_), what);
    return value;
  }
  /// Zero where the driver does not know the attribute.
  uint32_t optional(Attribute attribute) {
    int value = 0;
    const Status status = api_.device_attribute(&value, attribute, device_);
    return status == kSuccess && value > 0 ? static_cast<uint32_t>(value) : 0;
  }
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] const Result<void>& done() const { return done_; }

 private:
  const Api& api_;
  int index_, device_ = 0;
  Result<void> done_;
};

}  // namespace

Runtime::Runtime(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Runtime::~Runtime() = default;

Result<std::shared_ptr<Runtime>> Runtime::open(const std::string& library) {
  HIPPLAN_TRY_ASSIGN(auto api, open_api(library));
  auto runtime = std::make_shared<Runtime>(std::make_unique<Api>(std::move(api)));
  // A driver without a GPU says so already here.
  const Status status = runtime->api().init(0);
  runtime->has_gpu_ = status != kNoDevice;
  if (status != kSuccess && status != kNoDevice)
    return status_error(runtime->api(), status, runtime->api().path,
                        "the CUDA driver does not start");
  return runtime;
}

Result<int> Runtime::count() const {
  if (!has_gpu_) return 0;
  int count = 0;
  const Status status = api_->device_count(&count);
  if (status == kNoDevice) return 0;
  if (status != kSuccess)
    return status_error(*api_, status, api_->path, "the CUDA driver does not count its devices");
  return std::max(count, 0);
}

Result<Identity> Runtime::identify(int index) const {
  HIPPLAN_TRY_ASSIGN(const int devices, count());
  if (index < 0 || index >= devices)
    return Error{.code = Code::machine,
                 .reason = "no-device",
                 .where = place_of(index),
                 .what = "there is no such device",
                 .expected = devices == 0 ? "a GPU; the CUDA driver sees none"
                                          : cat("an index below ", devices)};
  Questions ask(*api_, index);
  Identity out;
  std::array<char, 256> name{};
  size_t memory = 0;
  const int major = ask.number(Attribute::major, "its compute capability");
  const int minor = ask.number(Attribute::minor, "its compute capability");
  ask.take(api_->device_name(name.data(), static_cast<int>(name.size() - 1), ask.device()),
           "the device's name");
  ask.take(api_->device_memory(&memory, ask.device()), "the size of its memory");
  ask.take(api_->driver_version(&out.driver_version), "the driver version");
  HIPPLAN_TRY(ask.done());
  auto arch = target::Arch::parse(cat("sm_", major * 10 + minor));
  if (!arch)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = place_of(index),
                 .what = "the CUDA driver names no architecture known here for the device",
                 .found = cat("compute capability ", major, ".", minor)};
  out.arch = std::move(arch).value();
  out.name = name.data();
  out.memory_bytes = memory;
  return out;
}

Result<Facts> Runtime::facts(int index) const {
  HIPPLAN_TRY_ASSIGN(Identity identity, identify(index));
  Questions ask(*api_, index);
  Facts out;
  out.name = std::move(identity.name);
  out.arch = std::move(identity.arch);
  out.driver_version = out.runtime_version = version_text(identity.driver_version);
  out.memory_bytes = identity.memory_bytes;
  std::array<char, 32> bus_id{};
  if (api_->device_bus_id != nullptr &&
      api_->device_bus_id(bus_id.data(), static_cast<int>(bus_id.size() - 1), ask.device()) ==
          kSuccess)
    out.bus_id = bus_id.data();
  out.last_level_cache_bytes = ask.optional(Attribute::l2_cache_bytes);
  out.wavefront_size = ask.optional(Attribute::wavefront_size);
  out.compute_units = ask.optional(Attribute::compute_units);
  out.max_workgroup_size = ask.optional(Attribute::max_workgroup_size);
  out.lds_bytes_per_workgroup = ask.optional(Attribute::lds_bytes_per_workgroup);
  out.registers_per_workgroup = ask.optional(Attribute::registers_per_workgroup);
  out.clock_khz = ask.optional(Attribute::clock_khz);
  out.memory_clock_khz = ask.optional(Attribute::memory_clock_khz);
  out.memory_bus_bits = ask.optional(Attribute::memory_bus_bits);
  HIPPLAN_TRY(ask.done());
  return out;
}

}  // namespace hipplan::device::cuda
