#include <algorithm>
#include <array>
#include <cstring>

#include "device/driver_runtime_members.h"
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

}  // namespace

Result<Identity> ask_identity(const Api& api, int index, const std::string& where) {
  const auto ask = [&](Status status, const char* what) -> Result<void> {
    if (status == kSuccess) return {};
    return status_error(api, status, where, std::string("cannot read ") + what);
  };
  Identity out;
  std::array<char, kPropertyBytes> properties{};
  HIPPLAN_TRY(ask(api.properties_6 != nullptr ? api.properties_6(properties.data(), index)
                                              : api.properties(properties.data(), index),
                  "the device properties"));
  const auto arch = find_arch(properties);
  if (!arch)
    return Error{.code = Code::unusable,
                 .reason = "device-arch",
                 .where = where,
                 .what = "the HIP runtime names no architecture known here for the device"};
  out.arch = *arch;
  std::array<char, kNameBytes> name{};
  HIPPLAN_TRY(ask(api.device_get_name(name.data(), static_cast<int>(name.size() - 1), index),
                  "the device's name"));
  out.name = name.data();
  size_t memory = 0;
  HIPPLAN_TRY(ask(api.device_total_memory(&memory, index), "the size of its memory"));
  out.memory_bytes = memory;
  HIPPLAN_TRY(ask(api.driver_version(&out.driver_version), "the driver version"));
  HIPPLAN_TRY(ask(api.runtime_version(&out.runtime_version), "the runtime version"));
  return out;
}

uint32_t ask_attribute(const Api& api, Attribute attribute, int index) {
  int value = 0;
  const bool told = api.device_attribute != nullptr &&
                    api.device_attribute(&value, attribute, index) == kSuccess && value > 0;
  return told ? static_cast<uint32_t>(value) : 0;
}

std::string ask_bus_id(const Api& api, int index) {
  std::array<char, 64> text{};
  const bool told =
      api.device_bus_id != nullptr &&
      api.device_bus_id(text.data(), static_cast<int>(text.size() - 1), index) == kSuccess;
  return told ? text.data() : "";
}

std::string version_text(const Api&, int version) {
  return cat("HIP ", version);
}

}  // namespace hipplan::device::hip

template class hipplan::device::DriverRuntime<hipplan::device::hip::Api>;
