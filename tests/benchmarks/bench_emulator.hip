// Kernels of the emulator benchmark: one kind of work each, long enough to be timed.
#define KERNEL extern "C" __attribute__((global)) void
#define SHARED __attribute__((shared))
typedef unsigned int u32;
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));

static inline __attribute__((device)) u32 item() {
  return __builtin_amdgcn_workitem_id_x();
}
static inline __attribute__((device)) u32 group() {
  return __builtin_amdgcn_workgroup_id_x();
}
static inline __attribute__((device)) void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// Eight independent chains of fused multiply-adds.
KERNEL vector_float(float* out, u32 n) {
  float v[8];
  for (int i = 0; i < 8; ++i) v[i] = (float)(item() + i);
  for (u32 k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = __builtin_fmaf(v[i], 0.999f, 0.5f);
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += v[i];
  out[group() * 256 + item()] = sum;
}

// Adds, shifts and exclusive ors.
KERNEL vector_integer(u32* out, u32 n) {
  u32 v[8];
  for (int i = 0; i < 8; ++i) v[i] = item() + i;
  for (u32 k = 0; k < n; ++k)
#pragma unroll
    for (int i = 0; i < 8; ++i) v[i] = (v[i] ^ (v[i] << 3)) + k;
  u32 sum = 0;
  for (int i = 0; i < 8; ++i) sum += v[i];
  out[group() * 256 + item()] = sum;
}

// One load and one store a lane.
KERNEL stream(float* out, const float* in, u32 n) {
  for (u32 k = 0; k < n; ++k) {
    const u32 at = (group() * n + k) * 256 + item();
    out[at] = in[at] * 2.0f;
  }
}

// LDS exchange with a barrier each turn.
KERNEL lds_exchange(u32* out, u32 n) {
  SHARED u32 s[256];
  u32 v = item();
  for (u32 k = 0; k < n; ++k) {
    s[item()] = v;
    barrier();
    v += s[(item() * 17 + k) & 255];
    barrier();
  }
  out[group() * 256 + item()] = v;
}

// 256 x 256 x 256, a 64 x 64 tile a group of 256 items, LDS tiles of 16.
KERNEL matmul_float(float* c, const float* a, const float* b) {
  SHARED float as[16][64], bs[16][64];
  const u32 row0 = group() / 4 * 64, col0 = group() % 4 * 64;
  const u32 tx = item() % 16, ty = item() / 16;
  float sum[4][4] = {};
  for (u32 k0 = 0; k0 < 256; k0 += 16) {
    for (u32 i = item(); i < 1024; i += 256) {
      as[i % 16][i / 16] = a[(row0 + i / 16) * 256 + k0 + i % 16];
      bs[i / 64][i % 64] = b[(k0 + i / 64) * 256 + col0 + i % 64];
    }
    barrier();
#pragma unroll
    for (u32 k = 0; k < 16; ++k)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += as[k][ty * 4 + i] * bs[k][tx * 4 + j];
    barrier();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) c[(row0 + ty * 4 + i) * 256 + col0 + tx * 4 + j] = sum[i][j];
}

#if defined(__gfx942__)
// 256 x 256 x 256 through 16 x 16 x 16 matrix instructions, one tile a wavefront.
KERNEL matmul_matrix(float* c, const _Float16* a, const _Float16* b) {
  const u32 lane = item() % 64, tile = group() * 4 + item() / 64;
  const u32 row0 = tile / 16 * 16, col0 = tile % 16 * 16;
  f32x4 sum = {0, 0, 0, 0};
  for (u32 k0 = 0; k0 < 256; k0 += 16) {
    f16x4 x, y;
    for (int i = 0; i < 4; ++i) {
      x[i] = a[(row0 + lane % 16) * 256 + k0 + lane / 16 * 4 + i];
      y[i] = b[(col0 + lane % 16) * 256 + k0 + lane / 16 * 4 + i];
    }
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sum, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) c[(row0 + lane / 16 * 4 + i) * 256 + col0 + lane % 16] = sum[i];
}
#elif defined(__gfx1100__)
typedef float f32x8 __attribute__((ext_vector_type(8)));
typedef _Float16 f16x16 __attribute__((ext_vector_type(16)));
KERNEL matmul_matrix(float* c, const _Float16* a, const _Float16* b) {
  const u32 lane = item() % 32, tile = group() * 4 + item() / 32;
  const u32 row0 = tile / 16 * 16, col0 = tile % 16 * 16;
  f32x8 sum = {};
  for (u32 k0 = 0; k0 < 256; k0 += 16) {
    const f16x16 x = *(const f16x16*)(a + (row0 + lane % 16) * 256 + k0);
    const f16x16 y = *(const f16x16*)(b + (col0 + lane % 16) * 256 + k0);
    sum = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, sum);
  }
  for (int i = 0; i < 8; ++i) c[(row0 + i * 2 + lane / 16) * 256 + col0 + lane % 16] = sum[i];
}
#endif
