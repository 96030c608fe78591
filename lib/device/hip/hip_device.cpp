#include "device/hip/hip_device.h"

namespace hipplan::device::hip {

Result<void*> HipDevice::load_image(ByteView code_object, const codeobject::CodeObject&) const {
  void* handle = nullptr;
  HIPPLAN_TRY(check([&] { return api().module_load(&handle, code_object.data()); },
                    "the driver refuses the code object"));
  return handle;
}

Result<std::unique_ptr<Device>> open_device(std::shared_ptr<Runtime> runtime, int index,
                                            target::Description description,
                                            std::chrono::milliseconds longest_hold) {
  HIPPLAN_TRY_ASSIGN(description, described_by_driver(*runtime, index, std::move(description)));
  return std::unique_ptr<Device>(
      new HipDevice(std::move(runtime), index, index, std::move(description), longest_hold));
}

}  // namespace hipplan::device::hip
