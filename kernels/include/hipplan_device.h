// What kernels need of a device: qualifiers, indices, barriers, small floats and vector accesses.
// Four compilers take the kernels: clang for AMD GPUs and clang for NVIDIA GPUs (no device library,
// no headers), nvcc, and a host compiler that runs a workgroup as fibers (HIPPLAN_HOST,
// tests/kernels). Everything that differs stands in this file and in the first part of
// hipplan_math.h.
#pragma once

#include "hipplan_arguments.h"

namespace hipplan_device {

using hipplan_args::i32;
using hipplan_args::i64;
using hipplan_args::u32;
using hipplan_args::u64;
typedef unsigned short u16;

}  // namespace hipplan_device

#if defined(HIPPLAN_HOST)
#include "hipplan_host.h"
#else
#if defined(__CUDACC__) || defined(__CUDA__)
#define HIPPLAN_CUDA 1
#else
#define HIPPLAN_AMD 1
#endif
#if !defined(__NVCC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#endif
#endif

#define HP_DEVICE __device__ inline __attribute__((always_inline))
/// HP_KERNEL(least, most) name(…): a kernel for workgroups of `least` to `most` work-items.
#if defined(HIPPLAN_AMD)
#define HP_KERNEL(least, most) \
  extern "C" __global__ __attribute__((amdgpu_flat_work_group_size(least, most))) void
#elif defined(HIPPLAN_CUDA)
#define HP_KERNEL(least, most) extern "C" __global__ __attribute__((launch_bounds(most))) void
#else
#define HP_KERNEL(least, most) static void
#endif

namespace hipplan_device {

// ---- indices and synchronisation
// ----------------------------------------------------------------- Grid extents are never asked
// for: kernels get what they need as arguments, so no hidden argument appears in the code object.

#if defined(HIPPLAN_AMD)
HP_DEVICE u32 thread_x() {
  return __builtin_amdgcn_workitem_id_x();
}
HP_DEVICE u32 block_x() {
  return __builtin_amdgcn_workgroup_id_x();
}
HP_DEVICE u32 block_y() {
  return __builtin_amdgcn_workgroup_id_y();
}
HP_DEVICE u32 block_z() {
  return __builtin_amdgcn_workgroup_id_z();
}
/// All work-items of the workgroup arrive; LDS and global writes before it are seen after it.
HP_DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/// A value that is the same in all lanes of a wavefront; lets the compiler use scalar registers.
HP_DEVICE u32 uniform(u32 value) {
  return __builtin_amdgcn_readfirstlane(value);
}
#elif defined(HIPPLAN_CUDA)
#if defined(__NVCC__)
HP_DEVICE u32 thread_x() {
  return threadIdx.x;
}
HP_DEVICE u32 block_x() {
  return blockIdx.x;
}
HP_DEVICE u32 block_y() {
  return blockIdx.y;
}
HP_DEVICE u32 block_z() {
  return blockIdx.z;
}
HP_DEVICE void barrier() {
  __syncthreads();
}
#else
HP_DEVICE u32 thread_x() {
  return __nvvm_read_ptx_sreg_tid_x();
}
HP_DEVICE u32 block_x() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
HP_DEVICE u32 block_y() {
  return __nvvm_read_ptx_sreg_ctaid_y();
}
HP_DEVICE u32 block_z() {
  return __nvvm_read_ptx_sreg_ctaid_z();
}
HP_DEVICE void barrier() {
  __syncthreads();
}
#endif
HP_DEVICE u32 uniform(u32 value) {
  return value;
}
#endif

#if !defined(HIPPLAN_HOST)
HP_DEVICE u32 mul_high(u32 a, u32 b) {
  return static_cast<u32>((static_cast<u64>(a) * b) >> 32);
}
#endif

HP_DEVICE u32 divide(u32 n, const hipplan_args::Divisor& by) {
  return (mul_high(n, by.multiplier) + n) >> by.shift;
}

/// `value` seen as To; both have one size.
template <class To, class From>
HP_DEVICE To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To out;
  __builtin_memcpy(&out, &value, sizeof(To));
  return out;
}

// ---- element types
// -------------------------------------------------------------------------------

/// IEEE binary16 in memory.
struct half {
  u16 bits;
};
/// bfloat16 in memory: the upper half of a binary32.
struct bfloat16 {
  u16 bits;
};

HP_DEVICE float to_float(float value) {
  return value;
}
HP_DEVICE float to_float(bfloat16 value) {
  return bits_as<float>(static_cast<u32>(value.bits) << 16);
}

template <class T>
struct Convert;
template <>
struct Convert<float> {
  static HP_DEVICE float from(float value) { return value; }
};
template <>
struct Convert<bfloat16> {
  // Round to nearest even; NaN stays NaN and becomes quiet.
  static HP_DEVICE bfloat16 from(float value) {
    const u32 word = bits_as<u32>(value);
    const u32 rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
    const u32 nan = (word >> 16) | 0x40u;
    return {static_cast<u16>(value != value ? nan : rounded)};
  }
};

#if defined(HIPPLAN_HOST)
inline float to_float(half value) {
  return hipplan_host::half_to_float(value.bits);
}
template <>
struct Convert<half> {
  static half from(float value) { return {hipplan_host::float_to_half(value)}; }
};
#elif defined(HIPPLAN_CUDA)
HP_DEVICE float to_float(half value) {
  float out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(value.bits));
  return out;
}
template <>
struct Convert<half> {
  static HP_DEVICE half from(float value) {
    u16 out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(value));
    return {out};
  }
};
#else
HP_DEVICE float to_float(half value) {
  return static_cast<float>(bits_as<_Float16>(value.bits));
}
template <>
struct Convert<half> {
  static HP_DEVICE half from(float value) { return {bits_as<u16>(static_cast<_Float16>(value))}; }
};
#endif

/// N elements that move in one access; aligned to their size.
template <class T, int N>
struct alignas(sizeof(T) * N) Pack {
  T item[N];
};
template <int N, class T>
HP_DEVICE Pack<T, N> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<T, N>*>(from);
}

#if defined(HIPPLAN_DTYPE_HALF)
typedef half Element;
#elif defined(HIPPLAN_DTYPE_BFLOAT16)
typedef bfloat16 Element;
#else
typedef float Element;
#endif

HP_DEVICE u32 smaller(u32 a, u32 b) {
  return a < b ? a : b;
}
HP_DEVICE i32 smaller(i32 a, i32 b) {
  return a < b ? a : b;
}
HP_DEVICE i32 larger(i32 a, i32 b) {
  return a > b ? a : b;
}

}  // namespace hipplan_device
