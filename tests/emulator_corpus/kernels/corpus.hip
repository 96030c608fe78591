// The corpus: kernels of the kinds that libraries ship, one code object for all of them. Arrays end
// where the launch ends unless a kernel says otherwise; groups have 256 items unless it says so.
#define KERNEL \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void
#define DEVICE static inline __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
typedef _Float16 half;
typedef half half2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));

DEVICE u32 item() {
  return __builtin_amdgcn_workitem_id_x();
}
DEVICE u32 group() {
  return __builtin_amdgcn_workgroup_id_x();
}
DEVICE u32 items() {
  return __builtin_amdgcn_workgroup_size_x();
}
DEVICE u32 index() {
  return group() * items() + item();
}
DEVICE u32 wave_size() {
  return __builtin_amdgcn_wavefrontsize();
}
DEVICE u32 lane() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
DEVICE u32 bits(float x) {
  return __builtin_bit_cast(u32, x);
}
DEVICE float as_float(u32 x) {
  return __builtin_bit_cast(float, x);
}
/// The value of another lane of the wavefront.
DEVICE float from_lane(float x, u32 other) {
  return as_float((u32)__builtin_amdgcn_ds_bpermute((i32)(other * 4), (i32)bits(x)));
}
DEVICE u32 from_lane(u32 x, u32 other) {
  return (u32)__builtin_amdgcn_ds_bpermute((i32)(other * 4), (i32)x);
}

#include "elementwise.h"
#include "integers.h"
#include "matrices.h"
#include "private_memory.h"
#include "reductions.h"
#include "sorting.h"
