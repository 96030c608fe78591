// The list of what the emulator understands.
#include "device/instructions.h"

#include <new>

#include "device/emulator/entry.h"
#include "device/emulator/semantics.h"

/// See entry.h.
extern "C" __attribute__((visibility("default"))) int hipplan_emulator_instructions(
    const hipplan::emulator::AbiTag* tag, std::vector<hipplan::device::EmulatedInstruction>* out) {
  if (!(*tag == hipplan::emulator::AbiTag{})) return 2;
  try {
    for (const auto& defined : hipplan::emulator::all_semantics())
      out->push_back({std::string(defined.mnemonic),
                      {defined.aliases.begin(), defined.aliases.end()},
                      {std::string(defined.cited.cdna), std::string(defined.cited.rdna3),
                       std::string(defined.cited.rdna4)},
                      std::string(defined.cited.note)});
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}
