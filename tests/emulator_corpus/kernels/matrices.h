// Matrix products, attention and transposition.

// 32 x 32 tiles through LDS with a padded row.
KERNEL transpose(float* out, const float* x) {
  SHARED float tile[32][33];
  const u32 tx = item() % 32, ty = item() / 32, bx = group() % 2, by = group() / 2;
  for (u32 i = ty; i < 32; i += 8) tile[i][tx] = x[(by * 32 + i) * 64 + bx * 32 + tx];
  barrier();
  for (u32 i = ty; i < 32; i += 8) out[(bx * 32 + i) * 64 + by * 32 + tx] = tile[tx][i];
}
// 64 x 64 x 64; a group makes a 32 x 32 tile, two LDS buffers take turns.
KERNEL gemm_double_buffer(float* c, const float* a, const float* b) {
  SHARED float as[2][32][17], bs[2][16][32];
  const u32 row0 = group() / 2 * 32, col0 = group() % 2 * 32, tx = item() % 16, ty = item() / 16;
  float sum[2][2] = {};
  for (u32 i = item(); i < 512; i += 256) {
    as[0][i / 16][i % 16] = a[(row0 + i / 16) * 64 + i % 16];
    bs[0][i / 32][i % 32] = b[i / 32 * 64 + col0 + i % 32];
  }
  barrier();
  for (u32 step = 0; step < 4; ++step) {
    const u32 now = step % 2, next = 1 - now, k0 = (step + 1) * 16;
    if (step < 3)
      for (u32 i = item(); i < 512; i += 256) {
        as[next][i / 16][i % 16] = a[(row0 + i / 16) * 64 + k0 + i % 16];
        bs[next][i / 32][i % 32] = b[(k0 + i / 32) * 64 + col0 + i % 32];
      }
    for (u32 k = 0; k < 16; ++k)
      for (u32 i = 0; i < 2; ++i)
        for (u32 j = 0; j < 2; ++j) sum[i][j] += as[now][ty * 2 + i][k] * bs[now][k][tx * 2 + j];
    barrier();
  }
  for (u32 i = 0; i < 2; ++i)
    for (u32 j = 0; j < 2; ++j) c[(row0 + ty * 2 + i) * 64 + col0 + tx * 2 + j] = sum[i][j];
}
// Each group adds a quarter of k to the whole 16 x 16 result; inputs are small whole numbers.
KERNEL gemm_split_k(float* c, const float* a, const float* b) {
  const u32 row = item() / 16, col = item() % 16;
  float sum = 0;
  for (u32 k = group() * 16; k < group() * 16 + 16; ++k) sum += a[row * 64 + k] * b[k * 16 + col];
  __hip_atomic_fetch_add(c + item(), sum, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// 16 x 16 x 16 of halves with the matrix instruction of the architecture, one wavefront a group;
// b is stored by columns.
typedef half half4 __attribute__((ext_vector_type(4)));
typedef half half8 __attribute__((ext_vector_type(8)));
typedef half half16 __attribute__((ext_vector_type(16)));
typedef float float8 __attribute__((ext_vector_type(8)));
KERNEL gemm_matrix(float* c, const half* a, const half* b) {
  const u32 l = lane();
  a += group() * 256, b += group() * 256, c += group() * 256;
#if defined(__gfx1100__) || defined(__gfx1151__)
  const half16 x = *(const half16*)(a + l % 16 * 16), y = *(const half16*)(b + l % 16 * 16);
  const float8 r = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, float8{});
  for (u32 i = 0; i < 8; ++i) c[(i * 2 + l / 16) * 16 + l % 16] = r[i];
#elif defined(__gfx1201__)
  const half8 x = *(const half8*)(a + l % 16 * 16 + l / 16 * 8),
              y = *(const half8*)(b + l % 16 * 16 + l / 16 * 8);
  const float8 r = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(x, y, float8{});
  for (u32 i = 0; i < 8; ++i) c[(i + l / 16 * 8) * 16 + l % 16] = r[i];
#else
  const half4 x = *(const half4*)(a + l % 16 * 16 + l / 16 * 4),
              y = *(const half4*)(b + l % 16 * 16 + l / 16 * 4);
  const float4 r = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, float4{0, 0, 0, 0}, 0, 0, 0);
  for (u32 i = 0; i < 4; ++i) c[(l / 16 * 4 + i) * 16 + l % 16] = r[i];
#endif
}
// 4 x 4 matrices, one a work-item: a * b, and the determinant of the product.
KERNEL batched_4x4(float* c, float* determinant, const float* a, const float* b) {
  float x[16], y[16], r[16];
  for (u32 i = 0; i < 16; ++i) x[i] = a[index() * 16 + i], y[i] = b[index() * 16 + i];
  for (u32 i = 0; i < 4; ++i)
    for (u32 j = 0; j < 4; ++j) {
      float sum = 0;
      for (u32 k = 0; k < 4; ++k) sum += x[i * 4 + k] * y[k * 4 + j];
      r[i * 4 + j] = sum;
    }
  for (u32 i = 0; i < 16; ++i) c[index() * 16 + i] = r[i];
  const float m01 = r[0] * r[5] - r[1] * r[4], m02 = r[0] * r[6] - r[2] * r[4],
              m03 = r[0] * r[7] - r[3] * r[4];
  const float m12 = r[1] * r[6] - r[2] * r[5], m13 = r[1] * r[7] - r[3] * r[5],
              m23 = r[2] * r[7] - r[3] * r[6];
  const float n01 = r[8] * r[13] - r[9] * r[12], n02 = r[8] * r[14] - r[10] * r[12],
              n03 = r[8] * r[15] - r[11] * r[12];
  const float n12 = r[9] * r[14] - r[10] * r[13], n13 = r[9] * r[15] - r[11] * r[13],
              n23 = r[10] * r[15] - r[11] * r[14];
  determinant[index()] = m01 * n23 - m02 * n13 + m03 * n12 + m12 * n03 - m13 * n02 + m23 * n01;
}
// Attention of 16 queries over 32 keys of 16 features, a query a work-item of a group of 64: the
// running maximum and sum of flash attention.
KERNEL attention(float* out, const float* q, const float* k, const float* v) {
  SHARED float ks[8][16], vs[8][16];
  float acc[16] = {}, most = -1e30f, sum = 0;
  for (u32 block = 0; block < 4; ++block) {
    for (u32 i = item(); i < 128; i += 64) {
      ks[i / 16][i % 16] = k[block * 128 + i];
      vs[i / 16][i % 16] = v[block * 128 + i];
    }
    barrier();
    if (item() < 16)
      for (u32 j = 0; j < 8; ++j) {
        float s = 0;
        for (u32 d = 0; d < 16; ++d) s += q[item() * 16 + d] * ks[j][d];
        s *= 0.25f;
        const float higher = __builtin_fmaxf(most, s);
        const float keep = __builtin_exp2f((most - higher) * 1.44269504f),
                    p = __builtin_exp2f((s - higher) * 1.44269504f);
        sum = sum * keep + p;
        for (u32 d = 0; d < 16; ++d) acc[d] = acc[d] * keep + p * vs[j][d];
        most = higher;
      }
    barrier();
  }
  if (item() < 16)
    for (u32 d = 0; d < 16; ++d) out[item() * 16 + d] = acc[d] / sum;
}
// Sparse rows: values and columns between start[row] and start[row + 1].
KERNEL sparse_product(float* y, const u32* start, const u32* column, const float* value,
                      const float* x) {
  float sum = 0;
  for (u32 i = start[index()]; i < start[index() + 1]; ++i) sum += value[i] * x[column[i]];
  y[index()] = sum;
}
