// One result a work-item: arithmetic, conversions, tables.

KERNEL saxpy(float* y, const float* x, float a, u32 n) {
  if (index() < n) y[index()] = a * x[index()] + y[index()];
}
// Work-items stride through the array.
KERNEL grid_stride(float* y, const float* x, u32 n) {
  for (u32 i = index(); i < n; i += 512) y[i] = x[i] * x[i];
}
KERNEL vectorized(float4* y, const float4* x) {
  y[index()] = x[index()] * 2.0f + 1.0f;
}
// x * sigmoid(x) and the tanh form of GELU.
KERNEL activations(float* silu, float* gelu, const float* x) {
  const float v = x[index()];
  silu[index()] = v / (1.0f + __builtin_exp2f(v * -1.44269504f));
  const float t = 0.7978845608f * (v + 0.044715f * v * v * v);
  const float e = __builtin_exp2f(t * 2.885390082f);
  gelu[index()] = 0.5f * v * (1.0f + (1.0f - 2.0f / (e + 1.0f)));
}
// Pairs (2i, 2i+1) of a row of 64 turned by an angle that depends on row and pair.
KERNEL rope(float* out, const float* x) {
  const u32 row = index() / 32, pair = index() % 32;
  const float turns = (float)row * __builtin_exp2f((float)pair * -0.25f) * 0.1591549431f;
  const float s = __builtin_amdgcn_sinf(turns), c = __builtin_amdgcn_cosf(turns);
  const float a = x[row * 64 + 2 * pair], b = x[row * 64 + 2 * pair + 1];
  out[row * 64 + 2 * pair] = a * c - b * s;
  out[row * 64 + 2 * pair + 1] = a * s + b * c;
}
KERNEL quantize_int8(i8* out, const float* x, float inverse_scale) {
  float v = __builtin_rintf(x[index()] * inverse_scale);
  v = v < -128.0f ? -128.0f : v > 127.0f ? 127.0f : v;
  out[index()] = (i8)v;
}
KERNEL dequantize_int8(float* out, const i8* x, float scale) {
  out[index()] = (float)x[index()] * scale;
}
// OCP E4M3, to nearest even, saturating; x is finite.
KERNEL quantize_fp8(u8* out, const float* x) {
  const u32 b = bits(x[index()]), sign = (b >> 24) & 0x80u;
  const float magnitude = as_float(b & 0x7fffffffu);
  u32 code;
  if (magnitude >= 448.0f)
    code = 0x7e;
  else if (magnitude < 0x1p-6f)
    code = (u32)__builtin_rintf(magnitude * 512.0f);
  else
    code = (((bits(magnitude) + 0x7ffffu + ((bits(magnitude) >> 20) & 1u)) >> 20) - (120u << 3));
  out[index()] = (u8)(sign | code);
}
KERNEL dequantize_fp8(float* out, const u8* x) {
  const u32 code = x[index()], exponent = (code >> 3) & 15u, fraction = code & 7u;
  const float magnitude = exponent == 0 ? (float)fraction * 0x1p-9f
                                        : as_float((exponent + 120u) << 23 | fraction << 20);
  out[index()] = (code & 0x80u) != 0 ? -magnitude : magnitude;
}
KERNEL half2_math(half2* out, const half2* a, const half2* b) {
  const half2 x = a[index()], y = b[index()];
  half2 r = x * y + x;
  r = __builtin_elementwise_max(r, y) - __builtin_elementwise_min(x, y);
  out[index()] = r;
}
KERNEL half_scalar(half* out, const half* a, const half* b) {
  const half x = a[index()], y = b[index()];
  out[index()] = x > y ? (half)(x - y) : (half)(x * y);
}
KERNEL conversions(i32* i, u32* u, half* h, u16* w, const float* x) {
  const float v = x[index()];
  i[index()] = (i32)v;
  u[index()] = (u32)__builtin_fabsf(v);
  h[index()] = (half)v;
  w[index()] = (u16)(i16)v;
}
KERNEL double_math(double* out, const double* a, const double* b) {
  const double x = a[index()], y = b[index()];
  out[index()] = __builtin_sqrt(x * x + y * y) / (1.0 + __builtin_fabs(y)) + __builtin_floor(x);
}
KERNEL double_conversions(double* d, float* f, i32* i, const double* x, const u32* u) {
  d[index()] = (double)u[index()] * 0.5;
  f[index()] = (float)x[index()];
  i[index()] = (i32)x[index()];
}
KERNEL float_division(float* out, const float* a, const float* b) {
  out[index()] = a[index()] / b[index()];
}
KERNEL roots(float* out, const float* x) {
  out[index()] = __builtin_sqrtf(x[index()]);
}
KERNEL logarithms(float* two, float* natural, const float* x) {
  two[index()] = __builtin_log2f(x[index()]);
  natural[index()] = __builtin_logf(x[index()]);
}
KERNEL rounding(float* out, const float* x) {
  const float v = x[index()];
  out[4 * index()] = __builtin_floorf(v);
  out[4 * index() + 1] = __builtin_ceilf(v);
  out[4 * index() + 2] = __builtin_truncf(v);
  out[4 * index() + 3] = __builtin_roundf(v);
}
KERNEL gather(float* out, const float* table, const u32* at) {
  out[index()] = table[at[index()]];
}
KERNEL scatter(float* out, const float* x, const u32* at) {
  out[at[index()]] = x[index()];
}
// Sum of four rows of 64 per bag; a group of 64 items serves one bag.
KERNEL embedding_bag(float* out, const float* table, const u32* rows) {
  float sum = 0;
  for (u32 i = 0; i < 4; ++i) sum += table[rows[group() * 4 + i] * 64 + item()];
  out[group() * 64 + item()] = sum;
}
// Five points in a 64 x 32 field; the border is copied.
KERNEL stencil(float* out, const float* x) {
  const u32 col = index() % 64, row = index() / 64;
  float v = x[index()];
  if (col != 0 && col != 63 && row != 0 && row != 31)
    v = 0.25f * (x[index() - 1] + x[index() + 1] + x[index() - 64] + x[index() + 64]) - v;
  out[index()] = v;
}
// 3 x 3 maximum, stride 2, of a 64 x 64 field into 31 x 31.
KERNEL max_pool(float* out, const float* x) {
  if (index() >= 31 * 31) return;
  const u32 col = index() % 31 * 2, row = index() / 31 * 2;
  float most = x[row * 64 + col];
  for (u32 i = 0; i < 3; ++i)
    for (u32 j = 0; j < 3; ++j) most = __builtin_fmaxf(most, x[(row + i) * 64 + col + j]);
  out[index()] = most;
}
// Iterations until |z| > 2, at most 64: neighbours leave at different times.
KERNEL mandelbrot(u32* out) {
  const float cr = (float)(index() % 64) * 0.046875f - 2.0f,
              ci = (float)(index() / 64) * 0.0625f - 1.0f;
  float r = 0, i = 0;
  u32 n = 0;
  while (n < 64 && r * r + i * i <= 4.0f) {
    const float t = r * r - i * i + cr;
    i = 2.0f * r * i + ci;
    r = t;
    ++n;
  }
  out[index()] = n;
}
// One channel of a 1-D convolution with 5 taps, borders zero.
KERNEL convolution(float* out, const float* x, const float* taps, u32 n) {
  float sum = 0;
  for (i32 k = -2; k <= 2; ++k) {
    const i32 at = (i32)index() + k;
    if (at >= 0 && at < (i32)n) sum += taps[k + 2] * x[at];
  }
  out[index()] = sum;
}
