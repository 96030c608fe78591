// The functions that libhipplan-emulator.so exports, and the tag that keeps builds apart.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "device/instructions.h"

namespace hipplan::emulator {

/// Changes whenever the interface or a type that crosses it changes.
struct AbiTag {
  uint32_t version = 5;
  uint32_t description_bytes = sizeof(target::Description);
  uint32_t options_bytes = sizeof(device::OpenOptions);
  uint32_t counters_bytes = sizeof(device::Counters);
  uint32_t profile_bytes = sizeof(device::Profile);
  uint32_t error_bytes = sizeof(Error);
  uint32_t instruction_bytes = sizeof(device::EmulatedInstruction);
  friend bool operator==(const AbiTag&, const AbiTag&) = default;
};

inline constexpr const char* kOpenSymbol = "hipplan_emulator_open";

/// Opens a device. On success `*device` is a new Device that the caller owns, else `*error` is set.
/// Returns 0, 1 for an error, 2 when the tags differ (nothing else is touched then).
using OpenFunction = int(const AbiTag* tag, const target::Description* description,
                         const device::OpenOptions* options, device::Device** device, Error* error);

inline constexpr const char* kInstructionsSymbol = "hipplan_emulator_instructions";

/// Appends what the emulator understands. Returns 0, 1 when memory ran out, 2 when the tags differ.
using InstructionsFunction = int(const AbiTag* tag, std::vector<device::EmulatedInstruction>* out);

}  // namespace hipplan::emulator
