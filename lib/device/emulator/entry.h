// The one function that libhipplan-emulator.so exports, and the tag that keeps builds apart.
#pragma once

#include <cstdint>

#include "device/device.h"

namespace hipplan::emulator {

/// Changes whenever the interface or a type that crosses it changes.
struct AbiTag {
  uint32_t version = 4;
  uint32_t description_bytes = sizeof(target::Description);
  uint32_t options_bytes = sizeof(device::OpenOptions);
  uint32_t counters_bytes = sizeof(device::Counters);
  uint32_t profile_bytes = sizeof(device::Profile);
  uint32_t error_bytes = sizeof(Error);
  friend bool operator==(const AbiTag&, const AbiTag&) = default;
};

inline constexpr const char* kOpenSymbol = "hipplan_emulator_open";

/// Opens a device. On success `*device` is a new Device that the caller owns, else `*error` is set.
/// Returns 0, 1 for an error, 2 when the tags differ (nothing else is touched then).
using OpenFunction = int(const AbiTag* tag, const target::Description* description,
                         const device::OpenOptions* options, device::Device** device, Error* error);

}  // namespace hipplan::emulator
