// One kernel for each matrix instruction: every lane loads its registers of A, B and C, and stores
// its registers of D. A kernel has the name of its instruction without "v_".
#define KERNEL extern "C" __attribute__((global)) void
#define VEC(T, n) T __attribute__((ext_vector_type(n)))

typedef VEC(float, 2) f2;
typedef VEC(float, 4) f4;
typedef VEC(float, 8) f8;
typedef VEC(float, 16) f16;
typedef VEC(float, 32) f32;
typedef VEC(double, 4) d4;
typedef VEC(int, 2) i2;
typedef VEC(int, 4) i4;
typedef VEC(int, 8) i8;
typedef VEC(int, 16) i16;
typedef VEC(int, 32) i32;
typedef VEC(short, 2) s2;
typedef VEC(short, 4) s4;
typedef VEC(short, 8) s8;
typedef VEC(short, 16) s16;
typedef VEC(_Float16, 4) h4;
typedef VEC(_Float16, 8) h8;
typedef VEC(_Float16, 16) h16;
typedef VEC(__bf16, 8) b8;

#define PROBE(name, A, B, C, ...)                             \
  KERNEL name(const A* pa, const B* pb, const C* pc, C* pd) { \
    const int lane = __builtin_amdgcn_workitem_id_x();        \
    const A a = pa[lane];                                     \
    const B b = pb[lane];                                     \
    const C c = pc[lane];                                     \
    pd[lane] = __VA_ARGS__;                                   \
  }
#define MFMA(name, A, C) PROBE(mfma_##name, A, A, C, __builtin_amdgcn_mfma_##name(a, b, c, 0, 0, 0))

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
MFMA(f32_32x32x1f32, float, f32)
MFMA(f32_16x16x1f32, float, f16)
MFMA(f32_4x4x1f32, float, f4)
MFMA(f32_32x32x2f32, float, f16)
MFMA(f32_16x16x4f32, float, f4)
MFMA(f32_32x32x4f16, h4, f32)
MFMA(f32_16x16x4f16, h4, f16)
MFMA(f32_4x4x4f16, h4, f4)
MFMA(f32_32x32x8f16, h4, f16)
MFMA(f32_16x16x16f16, h4, f4)
MFMA(f32_32x32x4bf16_1k, s4, f32)
MFMA(f32_16x16x4bf16_1k, s4, f16)
MFMA(f32_4x4x4bf16_1k, s4, f4)
MFMA(f32_32x32x8bf16_1k, s4, f16)
MFMA(f32_16x16x16bf16_1k, s4, f4)
MFMA(i32_32x32x4i8, int, i32)
MFMA(i32_16x16x4i8, int, i16)
MFMA(i32_4x4x4i8, int, i4)
MFMA(f64_16x16x4f64, double, d4)
MFMA(f64_4x4x4f64, double, double)
#endif

#if defined(__gfx90a__)
MFMA(f32_32x32x2bf16, s2, f32)
MFMA(f32_16x16x2bf16, s2, f16)
MFMA(f32_4x4x2bf16, s2, f4)
MFMA(f32_32x32x4bf16, s2, f16)
MFMA(f32_16x16x8bf16, s2, f4)
MFMA(i32_32x32x8i8, int, i16)
MFMA(i32_16x16x16i8, int, i4)
#endif

#if defined(__gfx942__) || defined(__gfx950__)
MFMA(i32_16x16x32_i8, long, i4)
MFMA(i32_32x32x16_i8, long, i16)
MFMA(f32_16x16x32_fp8_fp8, long, f4)
MFMA(f32_16x16x32_fp8_bf8, long, f4)
MFMA(f32_16x16x32_bf8_fp8, long, f4)
MFMA(f32_16x16x32_bf8_bf8, long, f4)
MFMA(f32_32x32x16_fp8_fp8, long, f16)
MFMA(f32_32x32x16_fp8_bf8, long, f16)
MFMA(f32_32x32x16_bf8_fp8, long, f16)
MFMA(f32_32x32x16_bf8_bf8, long, f16)
#endif

#if defined(__gfx942__)
MFMA(f32_16x16x8_xf32, f2, f4)
MFMA(f32_32x32x4_xf32, f2, f16)
#endif

#if defined(__gfx950__)
MFMA(f32_16x16x32_f16, h8, f4)
MFMA(f32_32x32x16_f16, h8, f16)
MFMA(f32_16x16x32_bf16, b8, f4)
MFMA(f32_32x32x16_bf16, b8, f16)
MFMA(i32_16x16x64_i8, i4, i4)
MFMA(i32_32x32x32_i8, i4, i16)
#endif

#if defined(__GFX11__)
#if defined(WAVE64)
#define WMMA(name) __builtin_amdgcn_wmma_##name##_w64
typedef f4 sum_f;
typedef i4 sum_i;
typedef h8 sum_h;
typedef s8 sum_b;
#else
#define WMMA(name) __builtin_amdgcn_wmma_##name##_w32
typedef f8 sum_f;
typedef i8 sum_i;
typedef h16 sum_h;
typedef s16 sum_b;
#endif
PROBE(wmma_f32_16x16x16_f16, h16, h16, sum_f, WMMA(f32_16x16x16_f16)(a, b, c))
PROBE(wmma_f32_16x16x16_bf16, s16, s16, sum_f, WMMA(f32_16x16x16_bf16)(a, b, c))
PROBE(wmma_f16_16x16x16_f16, h16, h16, sum_h, WMMA(f16_16x16x16_f16)(a, b, c, false))
PROBE(wmma_bf16_16x16x16_bf16, s16, s16, sum_b, WMMA(bf16_16x16x16_bf16)(a, b, c, false))
PROBE(wmma_i32_16x16x16_iu8, i4, i4, sum_i, WMMA(i32_16x16x16_iu8)(true, a, true, b, c, false))
PROBE(wmma_i32_16x16x16_iu4, i2, i2, sum_i, WMMA(i32_16x16x16_iu4)(true, a, true, b, c, false))
#endif

#if defined(__GFX12__)
#define WMMA(name) __builtin_amdgcn_wmma_##name##_w32_gfx12
PROBE(wmma_f32_16x16x16_f16, h8, h8, f8, WMMA(f32_16x16x16_f16)(a, b, c))
PROBE(wmma_f32_16x16x16_bf16, s8, s8, f8, WMMA(f32_16x16x16_bf16)(a, b, c))
PROBE(wmma_f16_16x16x16_f16, h8, h8, h8, WMMA(f16_16x16x16_f16)(a, b, c))
PROBE(wmma_bf16_16x16x16_bf16, s8, s8, s8, WMMA(bf16_16x16x16_bf16)(a, b, c))
PROBE(wmma_i32_16x16x16_iu8, i2, i2, i8, WMMA(i32_16x16x16_iu8)(true, a, true, b, c, false))
PROBE(wmma_i32_16x16x16_iu4, int, int, i8, WMMA(i32_16x16x16_iu4)(true, a, true, b, c, false))
PROBE(wmma_i32_16x16x32_iu4, i2, i2, i8, WMMA(i32_16x16x32_iu4)(true, a, true, b, c, false))
PROBE(wmma_f32_16x16x16_fp8_fp8, i2, i2, f8, WMMA(f32_16x16x16_fp8_fp8)(a, b, c))
PROBE(wmma_f32_16x16x16_fp8_bf8, i2, i2, f8, WMMA(f32_16x16x16_fp8_bf8)(a, b, c))
PROBE(wmma_f32_16x16x16_bf8_fp8, i2, i2, f8, WMMA(f32_16x16x16_bf8_fp8)(a, b, c))
PROBE(wmma_f32_16x16x16_bf8_bf8, i2, i2, f8, WMMA(f32_16x16x16_bf8_bf8)(a, b, c))
#endif
