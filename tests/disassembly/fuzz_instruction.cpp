#include <cstddef>
#include <cstdint>
#include <string_view>

#include "codeobject/disassembly/instruction.h"

// Any text must give an instruction or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto result = hipplan::disassembly::parse_instruction(text, 0, 4);
  if (result.ok()) (void)result->branch_target();
  return 0;
}
