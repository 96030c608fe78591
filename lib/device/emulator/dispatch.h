// One launch: checked geometry, argument memory and the state that wavefronts start with.
#pragma once

#include "device/emulator/program.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

/// A checked launch, with its kernel arguments in emulated memory.
struct Dispatch {
  const Program* program = nullptr;
  device::Launch launch;
  uint64_t arguments = 0;         ///< address of the kernel argument segment
  uint64_t packet = 0;            ///< address of the dispatch packet
  uint32_t items = 0, waves = 0;  ///< of one workgroup
  uint64_t groups = 0;
  uint64_t lds_bytes = 0;
  std::vector<uint32_t> preloaded;  ///< argument dwords that start in SGPRs
};

/// Checks a launch against the device and the kernel. Fails with bad_input: "grid", "block", "lds",
/// "arguments".
Result<void> check_launch(const Program& program, const device::Launch& launch,
                          const target::Description& device);

/// Puts arguments and the dispatch packet into memory; `owned` gets the allocations.
Result<Dispatch> make_dispatch(const Program& program, const device::Launch& launch,
                               AddressSpace& memory, std::vector<uint64_t>& owned);

/// Registers of wavefront `index` of workgroup `group` as the hardware sets them up. Other vector
/// registers hold a pattern that is a NaN as a float and no sensible address.
void start_wave(const Dispatch& dispatch, const uint32_t (&group)[3], uint32_t index, Wave& wave);

}  // namespace hipplan::emulator
