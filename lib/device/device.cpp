#include "device/device.h"

#include "codeobject/codeobject.h"

namespace hipplan::device {

Result<std::unique_ptr<Module>> Device::load(ByteView code_object) {
  HIPPLAN_TRY_ASSIGN(const auto parsed, codeobject::parse(code_object, "code object"));
  return load(code_object, parsed);
}

}  // namespace hipplan::device
