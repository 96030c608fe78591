// AMD machine code to text, through the optional module libhipplan-llvm.so.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::disassembly {

/// One instruction, or one 32-bit word (fewer bytes at the very end) that is no instruction.
struct Line {
  uint64_t address = 0;
  uint32_t size = 0;  ///< bytes
  ByteView encoding;  ///< points into the code given to disassemble()
  std::string text;   ///< "v_add_f32_e32 v0, v1, v2"; ".long 0x…" when not decoded
  bool decoded = false;
};

/// A decoder for one architecture. disassemble() may not be called from two threads at once on the
/// same object; different objects are independent.
class Disassembler {
 public:
  /// `arch` is a base name such as "gfx942". `module_folder` holds libhipplan-llvm.so; empty means
  /// the folder this code lies in. Fails with unusable/"no-disassembler" when the module is not
  /// there, unusable/"disassembler-version" when it belongs to another hipplan,
  /// bad_input/"unknown-arch" when the module does not know the architecture.
  /// `wavefront_size` 64 on gfx10 and later decodes code for wave64 kernels; 0 is the default mode.
  static Result<Disassembler> open(std::string_view arch, const std::string& module_folder,
                                   unsigned wavefront_size = 0);

  /// Decodes all of `code`. Bytes that are no instruction come back as lines with decoded == false,
  /// so the lines always cover the code without a gap. `base_address` is the address of code[0].
  /// Branch operands are printed as the signed 16-bit word offset; instruction.h resolves them.
  Result<std::vector<Line>> disassemble(ByteView code, uint64_t base_address) const;

  /// LLVM's version as the module was built, "22.1.8".
  [[nodiscard]] const std::string& llvm_version() const { return version_; }

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::string version_;
};

}  // namespace hipplan::disassembly
