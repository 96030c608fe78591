// The CUDA device, for the files that implement it.
#pragma once

#include "device/cuda/api.h"
#include "device/cuda/cuda.h"
#include "device/driver_device.h"

namespace hipplan::device::cuda {

class CudaDevice final : public DriverDevice<CudaDevice, Api> {
 public:
  CudaDevice(std::shared_ptr<Runtime> runtime, int index, int device, void* context,
             target::Description description, std::chrono::milliseconds longest_hold)
      : DriverDevice(std::move(runtime), index, context, std::move(description), longest_hold),
        device_(device) {}
  ~CudaDevice() override;

  Result<std::unique_ptr<Event>> make_event() override;
  Result<std::unique_ptr<Gate>> close_gate() override;
  Result<std::unique_ptr<Replay>> make_replay(std::span<const KernelLaunch> launches) override;

  // What DriverDevice asks for.
  Result<void*> load_image(ByteView code_object, const codeobject::CodeObject& parsed) const;
  /// Asks the driver for more LDS than every kernel has, once per kernel and size.
  Result<void> allow_lds(const DriverKernel& kernel, uint32_t dynamic_bytes) const;

 private:
  int device_;
  std::mutex gate_mutex_;
  void* gate_words_ = nullptr;  ///< host memory that closed gates wait on
  uint32_t gates_ = 0;
};

}  // namespace hipplan::device::cuda
