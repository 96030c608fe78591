// What generated programs are made of, for GPUs (HIP) and for the host.
#pragma once

#if defined(__HIP__)
#define FN static inline __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;
#else
#include <cstdint>

#include "base/float_types.h"
#define FN static inline
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;
#endif

/// Items of a workgroup, and what one of them holds between barriers.
constexpr u32 kItems = 128;
struct Item {
  u32 v[6];
  u64 w[2];
  float f[4];
};

FN u32 rotate(u32 x, u32 by) {
  return x << (by & 31) | x >> ((32 - by) & 31);
}
FN u32 high_product(u32 a, u32 b) {
  return (u32)(((u64)a * b) >> 32);
}
FN u32 leading(u32 x) {
  return x == 0 ? 32u : (u32)__builtin_clz(x);
}
FN u32 ones(u32 x) {
  return (u32)__builtin_popcount(x);
}
FN u32 narrow(u32 x) {
  return (u32)(i32)(signed char)x + (u32)(i32)(short)(x >> 8);
}
/// Floats stay within 2^40, so that sums and products stay finite; NaN becomes 1.
FN float tame(float x) {
  return x > -0x1p40f && x < 0x1p40f ? x : 1.0f;
}
FN float from_bits(u32 x) {
  return __builtin_bit_cast(float, (x & 0x807fffffu) | (((x >> 23 & 31u) + 112u) << 23));
}
FN u32 to_bits(float x) {
  return __builtin_bit_cast(u32, x);
}
FN i32 to_int(float x) {
  return x > -1e9f && x < 1e9f ? (i32)x : 7;
}
FN float half_round(float x) {
  const float y = x > -60000.0f && x < 60000.0f ? x : 3.0f;
#if defined(__HIP__)
  return (float)(_Float16)y;
#else
  return hipplan::half_to_float(hipplan::float_to_half(y));
#endif
}
FN double wide(float x) {
  return (double)x * 1.25 + 3.0;
}
FN void init(Item& s, const u32* in, u32 index) {
  for (u32 i = 0; i < 6; ++i) s.v[i] = in[(index * 7 + i * 13) & 1023u] + i;
  for (u32 i = 0; i < 2; ++i) s.w[i] = (u64)in[(index + i * 31) & 1023u] << 29 ^ s.v[i];
  for (u32 i = 0; i < 4; ++i) s.f[i] = from_bits(in[(index * 3 + i * 17) & 1023u]);
}
FN void finish(const Item& s, u32* out, u32 index) {
  u32* to = out + index * 14;
  for (u32 i = 0; i < 6; ++i) to[i] = s.v[i];
  for (u32 i = 0; i < 2; ++i) to[6 + 2 * i] = (u32)s.w[i], to[7 + 2 * i] = (u32)(s.w[i] >> 32);
  for (u32 i = 0; i < 4; ++i) to[10 + i] = to_bits(s.f[i]);
}

#if defined(__HIP__)
#define KERNEL \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(128, 128))) void
FN u32 item() {
  return __builtin_amdgcn_workitem_id_x();
}
FN u32 index() {
  return __builtin_amdgcn_workgroup_id_x() * kItems + item();
}
FN void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
/// The value of the item whose number differs in `bits` (below 32).
FN u32 shuffle(u32 x, u32 bits) {
  const u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  return (u32)__builtin_amdgcn_ds_bpermute((i32)((lane ^ bits) * 4), (i32)x);
}
FN void add(u32* to, u32 x) {
  __hip_atomic_fetch_add(to, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
#endif
