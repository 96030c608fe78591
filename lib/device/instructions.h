// What the emulator understands, and where AMD's ISA documents define it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hipplan::device {

/// Families of AMD's ISA documents that share names and formats of instructions.
enum class IsaFamily : uint8_t { cdna, rdna3, rdna4 };
inline constexpr std::array kIsaFamilies = {IsaFamily::cdna, IsaFamily::rdna3, IsaFamily::rdna4};

/// An instruction, or several that later generations named differently, with one meaning.
struct EmulatedInstruction {
  std::string mnemonic;  ///< "v_add_f32", without _e32, _e64, _dpp, _sdwa
  std::vector<std::string> aliases;
  /// By IsaFamily the format that the family's documents list it under, "VOP2"; empty: not there.
  std::array<std::string, kIsaFamilies.size()> formats;
  std::string note;  ///< where no document is cited: why
};

/// Every instruction that the emulator module has semantics for, in the order of its tables. Fails
/// with machine when the module does not open.
Result<std::vector<EmulatedInstruction>> emulated_instructions(const std::string& module_folder);

/// The family of "gfx942". Empty for architectures that none of the documents is about.
std::optional<IsaFamily> isa_family(std::string_view arch);
/// "CDNA ISA": stands for the documents of CDNA2, CDNA3 and CDNA4, as "RDNA3 ISA" does for those of
/// RDNA3 and RDNA3.5.
std::string_view isa_document(IsaFamily family);
/// Title of the section of the chapter "Instructions" that lists a format, "VOP2 Instructions".
std::string isa_section(IsaFamily family, std::string_view format);

}  // namespace hipplan::device
