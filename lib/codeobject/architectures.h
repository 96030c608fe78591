// The machine numbers and feature bits in the ELF flags of AMD code objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "target/target.h"

namespace hipplan::codeobject {

/// What to do about code of whatever maker that is newer than this reader.
inline constexpr const char* kNewerReader = "use a newer hipplan";

/// Architecture name of the low byte of e_flags, or empty when the number is not assigned.
[[nodiscard]] std::string_view machine_name(uint32_t e_flags);
/// The inverse: the machine number of "gfx942" or "gfx11-generic".
[[nodiscard]] std::optional<uint32_t> machine_number(std::string_view name);

/// Architecture of e_flags as code object versions 4 to 6 define them. A feature is named only
/// where the flags fix it ("any" and "unsupported" name nothing). Fails with damaged; a
/// machine number that is not known here is unusable.
Result<target::Arch> arch_of_flags(uint32_t e_flags, uint32_t version, const std::string& where);

}  // namespace hipplan::codeobject
