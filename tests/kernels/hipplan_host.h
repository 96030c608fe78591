// The kernels' device header for a host compiler: work-items are fibers of host_device.cpp.
#pragma once

#include <stdint.h>

#include "base/float_types.h"

#define __global__
#define __device__
#define __shared__ static
#define __constant__

namespace hipplan_host {

using hipplan::float_to_half;
using hipplan::half_to_float;

struct Indices {
  uint32_t thread = 0, block_x = 0, block_y = 0, block_z = 0;
};
/// Of the work-item that runs now.
const Indices& indices();
/// Lets the other work-items of the workgroup come here before this one goes on.
void barrier();

}  // namespace hipplan_host

namespace hipplan_device {

inline u32 thread_x() {
  return hipplan_host::indices().thread;
}
inline u32 block_x() {
  return hipplan_host::indices().block_x;
}
inline u32 block_y() {
  return hipplan_host::indices().block_y;
}
inline u32 block_z() {
  return hipplan_host::indices().block_z;
}
inline void barrier() {
  hipplan_host::barrier();
}
inline u32 uniform(u32 value) {
  return value;
}
inline u32 mul_high(u32 a, u32 b) {
  return static_cast<u32>((static_cast<u64>(a) * b) >> 32);
}

}  // namespace hipplan_device
