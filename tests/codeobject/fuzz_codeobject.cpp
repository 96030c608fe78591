// Any bytes: parse() answers, and what it accepts can be printed and used within bounds.
#include <cstdlib>

#include "codeobject/codeobject.h"
#include "codeobject/print.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hipplan::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto object = hipplan::codeobject::parse(bytes, "fuzz");
  if (!object) {
    const auto code = object.error().code;
    if ((code != hipplan::Code::damaged && code != hipplan::Code::unusable) ||
        object.error().what.empty())
      std::abort();
    return 0;
  }
  volatile unsigned sum = 0;
  for (const auto& segment : object->segments)
    if (!segment.content.empty()) sum = sum + std::to_integer<unsigned>(segment.content.back());
  if (hipplan::codeobject::print(*object).empty()) std::abort();
  if (hipplan::codeobject::kind_of(bytes) == hipplan::codeobject::CodeKind::ptx) return 0;
  for (const auto& kernel : object->kernels) {
    bool inside = false;
    for (const auto& segment : object->segments)
      inside |= segment.executable && kernel.entry_address >= segment.address &&
                kernel.entry_address + kernel.code_size <= segment.address + segment.content.size();
    if (!inside) std::abort();
  }
  return 0;
}
