// The HIP entry points that the hip device uses, taken from libamdhip64 at run time. Their types
// are written out here, so that building needs no HIP header; the meaning is that of the HIP
// runtime's documentation.
#pragma once

#include "device/driver_api.h"
#include "device/driver_runtime.h"

namespace hipplan::device::hip {

/// dim3, and hipKernelNodeParams of all HIP versions.
struct ApiDim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct KernelNode {
  ApiDim3 block{};
  void** extra = nullptr;
  void* function = nullptr;
  ApiDim3 grid{};
  void** parameters = nullptr;
  unsigned lds_bytes = 0;
};

/// hipDeviceAttribute_t, the values that HIP 5 to 7 agree on.
enum class Attribute : int {
  clock_khz = 5,
  l2_cache_bytes = 19,
  max_workgroup_size = 56,
  memory_bus_bits = 59,
  memory_clock_khz = 60,
  compute_units = 63,
  registers_per_workgroup = 71,
  lds_bytes_per_workgroup = 74,
  wavefront_size = 87
};

/// One loaded library. Every pointer is set but those named optional.
struct Api {
  static constexpr const char* kBackend = "hip";
  static constexpr const char* kDriver = "HIP runtime";
  using Attribute = hip::Attribute;
  using Pointer = void*;  ///< an address of device memory
  using Current = int;    ///< what belongs to a thread: the number of its device
  /// Ends the list of extra arguments of a launch.
  static void* argument_end() { return reinterpret_cast<void*>(3); }

  /// Opens `library`, or the newest libamdhip64 (7, 6, 5) that the loader finds when it is empty.
  /// Fails with machine and the reason hip-library (none opens) or hip-symbol (names what is
  /// missing).
  static Result<Api> open(const std::string& library);

  SharedLibrary library;
  std::string path;  ///< as it was opened

  Status (*init)(unsigned flags);
  Status (*device_count)(int* count);
  Status (*get_current)(int* index);
  Status (*set_current)(int index);
  Status (*device_get_name)(char* name, int bytes, int index);
  Status (*device_total_memory)(size_t* bytes, int index);
  Status (*driver_version)(int* version);
  Status (*runtime_version)(int* version);
  Status (*allocate)(void** address, size_t bytes);
  Status (*release)(void* address);
  Status (*copy_in)(void* to, const void* from, size_t bytes);
  Status (*copy_out)(void* to, const void* from, size_t bytes);
  Status (*fill)(void* to, unsigned char value, size_t bytes);
  Status (*memory_info)(size_t* free_bytes, size_t* total_bytes);
  Status (*module_load)(void** module, const void* image);
  Status (*module_unload)(void* module);
  Status (*module_function)(void** function, void* module, const char* name);
  Status (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned lds_bytes,
                   void* stream, void** arguments, void** extra);
  Status (*synchronize)();
  const char* (*error_name)(Status status);
  const char* (*error_text)(Status status);
  /// Optional, at least one: the device properties in the layout from HIP 6 on, and before it.
  Status (*properties_6)(void* properties, int index);
  Status (*properties)(void* properties, int index);
  /// Optional: facts and timing.
  Status (*device_attribute)(int* value, Attribute attribute, int index);
  Status (*device_bus_id)(char* text, int bytes, int index);
  Status (*event_create)(void** event);
  Status (*event_destroy)(void* event);
  Status (*event_record)(void* event, void* stream);
  Status (*event_synchronize)(void* event);
  Status (*event_elapsed)(float* milliseconds, void* from, void* to);
  Status (*launch_host_function)(void* stream, void (*function)(void*), void* data);
  Status (*graph_create)(void** graph, unsigned flags);
  Status (*graph_destroy)(void* graph);
  Status (*graph_add_kernel)(void** node, void* graph, void* const* after, size_t after_count,
                             const KernelNode* kernel);
  Status (*graph_instantiate)(void** executable, void* graph, void** error_node, char* log,
                              size_t log_bytes);
  Status (*graph_launch)(void* executable, void* stream);
  Status (*graph_executable_destroy)(void* executable);
};

/// A HIP status as an error: out of memory, no device, and refused images keep their meaning.
[[nodiscard]] Error status_error(const Api& api, Status status, const std::string& where,
                                 const std::string& what);

// What driver_runtime_members.h asks of a device.
Result<Identity> ask_identity(const Api& api, int index, const std::string& where);
/// Zero where this runtime does not tell.
[[nodiscard]] uint32_t ask_attribute(const Api& api, Attribute attribute, int index);
[[nodiscard]] std::string ask_bus_id(const Api& api, int index);
[[nodiscard]] std::string version_text(const Api& api, int version);

}  // namespace hipplan::device::hip
