#include <algorithm>
#include <array>
#include <cstring>

#include "device/hip/api.h"
#include "device/hip/hip.h"

namespace hipplan::device::hip {
namespace {

/// More than any version's hipDeviceProp_t.
constexpr size_t kPropertyBytes = 8192;
/// The marketing name comes first in every layout and is no architecture.
constexpr size_t kNameBytes = 256;

/// The architecture name stands in hipDeviceProp_t at a place that moved between HIP 5 and 6. It is
/// the one text in there that is an AMD architecture, so it is found by what it is.
std::optional<target::Arch> find_arch(const std::array<char, kPropertyBytes>& properties) {
  constexpr std::string_view kPrefix = "gfx";
  auto from = properties.begin() + kNameBytes;
  for (;;) {
    from = std::search(from, properties.end(), kPrefix.begin(), kPrefix.end());
    if (from == properties.end()) return {};
    const auto end = std::find(from, properties.end(), '\0');
    if (auto arch = target::Arch::parse(std::string_view(&*from, static_cast<size_t>(end - from))))
      return std::move(arch).value();
    ++from;
  }
}

std::string place(int index) {
  return "hip:" + std::to_string(index);
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Api> api) : api_(std::move(api)) {}
Runtime::~Runtime() = default;

Result<std::shared_ptr<Runtime>> Runtime::open(const std::string& library) {
  HIPPLAN_TRY_ASSIGN(auto api, open_api(library));
  auto runtime = std::make_shared<Runtime>(std::make_unique<Api>(std::move(api)));
  // Without a GPU the runtime may say so already here (5.2 says "invalid device"); count() gives
  // zero then.
  const Status status = runtime->api().init(0);
  if (status != kSuccess && status != kNoDevice && status != kInvalidDevice)
    return status_error(runtime->api(), status, runtime->api().path,
                        "the HIP runtime does not start");
  return runtime;
}

Result<int> Runtime::count() const {
  int count = 0;
  const Status status = api_->get_device_count(&count);
  if (status == kNoDevice) return 0;
  if (status != kSuccess)
    return status_error(*api_, status, api_->path, "the HIP runtime does not count its devices");
  return std::max(count, 0);
}

Result<Identity> Runtime::identify(int index) const {
  HIPPLAN_TRY_ASSIGN(const int devices, count());
  if (index < 0 || index >= devices)
    return Error{.code = Code::machine,
                 .reason = "no-device",
                 .where = place(index),
                 .what = "there is no such device",
                 .expected = devices == 0 ? "a GPU; the HIP runtime sees none"
                                          : cat("an index below ", devices)};
  const auto ask = [&](Status status, const char* what) -> Result<void> {
    if (status == kSuccess) return {};
    return status_error(*api_, status, place(index), std::string("cannot read ") + what);
  };
  Identity out;
  std::array<char, kPropertyBytes> properties{};
  HIPPLAN_TRY(ask(api_->properties_6 != nullptr ? api_->properties_6(properties.data(), index)
                                                : api_->properties(properties.data(), index),
                  "the device properties"));
  const auto arch = find_arch(properties);
  if (!arch)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = place(index),
                 .what = "the HIP runtime names no architecture known here for the device"};
  out.arch = *arch;
  std::array<char, kNameBytes> name{};
  HIPPLAN_TRY(ask(api_->device_get_name(name.data(), static_cast<int>(name.size() - 1), index),
                  "the device's name"));
  out.name = name.data();
  size_t memory = 0;
  HIPPLAN_TRY(ask(api_->device_total_memory(&memory, index), "the size of its memory"));
  out.memory_bytes = memory;
  HIPPLAN_TRY(ask(api_->driver_version(&out.driver_version), "the driver version"));
  HIPPLAN_TRY(ask(api_->runtime_version(&out.runtime_version), "the runtime version"));
  return out;
}

Result<Facts> Runtime::facts(int index) const {
  HIPPLAN_TRY_ASSIGN(const Identity identity, identify(index));
  Facts out;
  out.name = identity.name;
  out.arch = identity.arch;
  out.memory_bytes = identity.memory_bytes;
  out.driver_version = cat("HIP ", identity.driver_version);
  out.runtime_version = cat("HIP ", identity.runtime_version);
  std::array<char, 64> bus_id{};
  if (api_->device_bus_id != nullptr &&
      api_->device_bus_id(bus_id.data(), static_cast<int>(bus_id.size() - 1), index) == kSuccess)
    out.bus_id = bus_id.data();
  // What this runtime does not know of the device stays zero: "does not tell".
  const auto ask = [&](Attribute attribute) -> uint32_t {
    int value = 0;
    const bool told = api_->device_attribute != nullptr &&
                      api_->device_attribute(&value, attribute, index) == kSuccess && value > 0;
    return told ? static_cast<uint32_t>(value) : 0;
  };
  out.last_level_cache_bytes = ask(Attribute::l2_cache_bytes);
  out.wavefront_size = ask(Attribute::wavefront_size);
  out.compute_units = ask(Attribute::compute_units);
  out.max_workgroup_size = ask(Attribute::max_workgroup_size);
  out.lds_bytes_per_workgroup = ask(Attribute::lds_bytes_per_workgroup);
  out.registers_per_workgroup = ask(Attribute::registers_per_workgroup);
  out.clock_khz = ask(Attribute::clock_khz);
  out.memory_clock_khz = ask(Attribute::memory_clock_khz);
  out.memory_bus_bits = ask(Attribute::memory_bus_bits);
  return out;
}

}  // namespace hipplan::device::hip
