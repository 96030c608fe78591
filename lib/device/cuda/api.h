// The CUDA driver's entry points as hipplan calls them: a table filled from an opened library. No
// CUDA header is needed; where one is found, api_check.cpp compares.
#pragma once

#include "device/driver_api.h"
#include "device/driver_runtime.h"

namespace hipplan::device::cuda {

/// CUdeviceptr.
using DeviceAddress = unsigned long long;

/// CUdevice_attribute.
enum class Attribute : int {
  max_workgroup_size = 1,
  wavefront_size = 10,
  registers_per_workgroup = 12,
  clock_khz = 13,
  compute_units = 16,
  memory_clock_khz = 36,
  memory_bus_bits = 37,
  l2_cache_bytes = 38,
  major = 75,
  minor = 76,
  lds_bytes_per_workgroup = 97
};

/// CUfunction_attribute.
enum class FunctionAttribute : int { max_dynamic_lds_bytes = 8 };

/// CUjit_option.
enum class JitOption : int { error_log = 5, error_log_bytes = 6 };

/// CUDA_KERNEL_NODE_PARAMS_v1, which cuGraphAddKernelNode takes in every CUDA version.
struct KernelNode {
  void* function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned lds_bytes = 0;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// One loaded library. Every pointer is set but those named optional.
struct Api {
  static constexpr const char* kBackend = "cuda";
  static constexpr const char* kDriver = "CUDA driver";
  using Attribute = cuda::Attribute;
  using Pointer = DeviceAddress;  ///< an address of device memory
  using Current = void*;          ///< what belongs to a thread: its context
  /// Ends the list of extra arguments of a launch.
  static void* argument_end() { return nullptr; }

  /// Opens `library`, or libcuda.so.1 when it is empty. Fails with machine and the reason
  /// cuda-library (it does not open) or cuda-symbol (names what is missing).
  static Result<Api> open(const std::string& library);

  SharedLibrary library;
  std::string path;

  Status (*init)(unsigned flags);
  Status (*driver_version)(int* version);
  Status (*device_count)(int* count);
  Status (*device_get)(int* device, int index);
  Status (*device_name)(char* name, int bytes, int device);
  Status (*device_memory)(size_t* bytes, int device);
  Status (*device_attribute)(int* value, Attribute attribute, int device);
  Status (*context_retain)(void** context, int device);
  Status (*context_release)(int device);
  Status (*get_current)(void** context);
  Status (*set_current)(void* context);
  Status (*synchronize)();
  Status (*allocate)(DeviceAddress* address, size_t bytes);
  Status (*release)(DeviceAddress address);
  Status (*copy_in)(DeviceAddress to, const void* from, size_t bytes);
  Status (*copy_out)(void* to, DeviceAddress from, size_t bytes);
  Status (*fill)(DeviceAddress to, unsigned char value, size_t bytes);
  Status (*memory_info)(size_t* free_bytes, size_t* total_bytes);
  Status (*module_load)(void** module, const void* image, unsigned options, JitOption* names,
                        void** values);
  Status (*module_unload)(void* module);
  Status (*module_function)(void** function, void* module, const char* name);
  Status (*function_set_attribute)(void* function, FunctionAttribute attribute, int value);
  Status (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                   void* stream, void** arguments, void** extra);
  Status (*error_name)(Status status, const char** name);
  Status (*error_text)(Status status, const char** text);
  /// Optional: facts and timing.
  Status (*device_bus_id)(char* text, int bytes, int device);
  Status (*event_create)(void** event, unsigned flags);
  Status (*event_destroy)(void* event);
  Status (*event_record)(void* event, void* stream);
  Status (*event_synchronize)(void* event);
  Status (*event_elapsed)(float* milliseconds, void* from, void* to);
  Status (*host_allocate)(void** memory, size_t bytes, unsigned flags);
  Status (*host_release)(void* memory);
  Status (*stream_wait_value)(void* stream, DeviceAddress address, uint32_t value, unsigned flags);
  Status (*graph_create)(void** graph, unsigned flags);
  Status (*graph_destroy)(void* graph);
  Status (*graph_add_kernel)(void** node, void* graph, void* const* after, size_t after_count,
                             const KernelNode* kernel);
  Status (*graph_instantiate)(void** executable, void* graph, unsigned long long flags);
  Status (*graph_launch)(void* executable, void* stream);
  Status (*graph_executable_destroy)(void* executable);
};

/// A CUDA status as an error: out of memory, no device, and refused code keep their meaning.
[[nodiscard]] Error status_error(const Api& api, Status status, const std::string& where,
                                 const std::string& what);

// What driver_runtime_members.h asks of a device.
Result<Identity> ask_identity(const Api& api, int index, const std::string& where);
/// Zero where the driver does not know the attribute.
[[nodiscard]] uint32_t ask_attribute(const Api& api, Attribute attribute, int index);
[[nodiscard]] std::string ask_bus_id(const Api& api, int index);
[[nodiscard]] std::string version_text(const Api& api, int version);

}  // namespace hipplan::device::cuda
