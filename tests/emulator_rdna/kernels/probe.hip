// Kernels that make the compiler use most of an architecture's everyday instructions. The wave size
// is 32 on gfx11 and gfx12, 64 elsewhere.
#include "bodies.h"

#define KERNEL \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 256))) void
#define SHARED __attribute__((shared))
#define DEVICE __attribute__((device)) inline

typedef _Float16 half2 __attribute__((ext_vector_type(2)));
typedef short short2 __attribute__((ext_vector_type(2)));

DEVICE int index() {
  return static_cast<int>(__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                          __builtin_amdgcn_workitem_id_x());
}
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

KERNEL float_kernel(float* out, const float* in, int n) {
  out[index()] = float_work(in, index(), n);
}
KERNEL rounding_kernel(float* out, const float* in) {
  out[index()] = rounding_work(in, index());
}
KERNEL integer_kernel(long* out, const int* in) {
  out[index()] = integer_work(in, index());
}
KERNEL double_kernel(double* out, const float* in) {
  out[index()] = double_work(in, index());
}
KERNEL branching_kernel(int* out, const int* in) {
  out[index()] = branching_work(in, index());
}
KERNEL short_kernel(short* out, const short* in) {
  out[index()] = short_work(in, index());
}
KERNEL array_kernel(int* out, const int* in) {
  out[index()] = array_work(in, index());
}

/// out[8i + k]: halves of single and packed operations. in[2i], in[2i+1] are x; in[2i+2] … is y.
KERNEL half_kernel(_Float16* out, const _Float16* in) {
  const int i = index();
  const _Float16 x = in[2 * i], y = in[2 * i + 2];
  out[8 * i] = x + y;
  out[8 * i + 1] = x * y;
  out[8 * i + 2] = __builtin_fmaf16(x, y, in[2 * i + 1]);
  out[8 * i + 3] = x > y ? x - y : -x;
  const half2 p = *reinterpret_cast<const half2*>(in + 2 * i);
  const half2 q = *reinterpret_cast<const half2*>(in + 2 * i + 2);
  const half2 crossed = {q.y, -q.x};
  half2* to = reinterpret_cast<half2*>(out + 8 * i + 4);
  to[0] = p * q + crossed;
  to[1] = __builtin_elementwise_max(p, crossed);
}

/// Float sums of half products: v_fma_mix and v_dot2.
KERNEL mixed_kernel(float* out, const _Float16* in) {
  const int i = index();
  const float x = in[2 * i], y = in[2 * i + 1], z = in[2 * i + 2];
  out[4 * i] = __builtin_fmaf(x, y, z);
  out[4 * i + 1] = __builtin_fmaf(-x, y, 2.0f);
  const half2 p = *reinterpret_cast<const half2*>(in + 2 * i);
  const half2 q = *reinterpret_cast<const half2*>(in + 2 * i + 2);
#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__) || defined(__GFX11__) || \
    defined(__GFX12__)
  out[4 * i + 2] = __builtin_amdgcn_fdot2(p, q, 1.0f, false);
#else
  out[4 * i + 2] = static_cast<float>(p.x) * q.x + static_cast<float>(p.y) * q.y + 1.0f;
#endif
  out[4 * i + 3] = static_cast<float>(static_cast<_Float16>(__builtin_fmaf(x, z, y)));
}

/// bfloat16 through float.
KERNEL bfloat_kernel(__bf16* out, const __bf16* in, float scale) {
  const int i = index();
  out[i] = static_cast<__bf16>(static_cast<float>(in[i]) * scale + static_cast<float>(in[i + 1]));
}

/// Sum of a workgroup through LDS, then one atomic per workgroup.
KERNEL reduce_kernel(int* total, const int* in) {
  SHARED int part[256];
  const int t = static_cast<int>(__builtin_amdgcn_workitem_id_x());
  part[t] = in[index()];
  barrier();
  for (int step = 128; step > 0; step >>= 1) {
    if (t < step) part[t] += part[t + step];
    barrier();
  }
  if (t == 0) __atomic_fetch_add(total, part[0], __ATOMIC_RELAXED);
}

/// Lane movement. out[8i + k], see the test for what each value is.
KERNEL lanes_kernel(int* out, const int* in) {
  const int i = index(), lane = i % 32;
  const int v = in[i];
  out[8 * i] = __builtin_amdgcn_update_dpp(-1, v, 0xB1, 0xf, 0xf, false);  // quad_perm:[1,0,3,2]
  out[8 * i + 1] = __builtin_amdgcn_update_dpp(-1, v, 0x111, 0xf, 0xf, false);  // row_shr:1
  out[8 * i + 2] = __builtin_amdgcn_update_dpp(-1, v, 0x104, 0xf, 0xf, true);   // row_shl:4
  out[8 * i + 3] = __builtin_amdgcn_update_dpp(-1, v, 0x140, 0xf, 0xf, false);  // row_mirror
  out[8 * i + 4] = __builtin_amdgcn_ds_swizzle(v, 0x401f);                      // lane ^ 16
  out[8 * i + 5] = __builtin_amdgcn_ds_bpermute(4 * ((lane + 5) % 32), v);
  out[8 * i + 6] = __builtin_amdgcn_readlane(v, 7) + __builtin_amdgcn_readfirstlane(v);
#if defined(__GFX11__) || defined(__GFX12__)
  const int rotated = __builtin_amdgcn_permlane16(-1, v, 0x87654321u, 0x0fedcba9u, false, false);
  const int crossed = __builtin_amdgcn_permlanex16(-1, v, 0x76543210u, 0xfedcba98u, false, false);
  const int shared_lane =
      __builtin_amdgcn_update_dpp(-1, v, 0x153, 0xf, 0xf, false);                 // row_share:3
  const int masked = __builtin_amdgcn_update_dpp(-1, v, 0x165, 0xf, 0xf, false);  // row_xmask:5
  const int eight = __builtin_amdgcn_mov_dpp8(
      v, 07 | 06 << 3 | 05 << 6 | 04 << 9 | 03 << 12 | 02 << 15 | 01 << 18);  // reversed in eights
  out[8 * i + 7] = rotated + 3 * crossed + 7 * shared_lane + 11 * masked + 13 * eight;
#else
  out[8 * i + 7] = 0;
#endif
}
