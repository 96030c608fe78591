// Single instructions with modifiers that compilers seldom write. packed(out, in) stores the result
// of case k of lane i in out[64 * k + i]; sources are in[i], in[64 + i], in[128 + i].
#define KERNEL \
  extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 64))) void

typedef unsigned u32;
typedef u32 pair __attribute__((ext_vector_type(2)));

// "+v": results that keep a part of their register start from c.
#define CASE(k, text)                                      \
  {                                                        \
    u32 d = c;                                             \
    asm volatile(text : "+v"(d) : "v"(a), "v"(b), "v"(c)); \
    out[64 * (k) + lane] = d;                              \
  }

KERNEL packed(u32* out, const u32* in) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  const u32 a = in[lane], b = in[64 + lane], c = in[128 + lane];
  CASE(0, "v_pk_add_f16 %0, %1, %2")
  CASE(1, "v_pk_add_f16 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1]")
  CASE(2, "v_pk_mul_f16 %0, %1, %2 neg_lo:[1,0] neg_hi:[0,1]")
  CASE(3, "v_pk_fma_f16 %0, %1, %2, %3 clamp")
  CASE(4, "v_pk_add_u16 %0, %1, %2 clamp")
  CASE(5, "v_pk_sub_i16 %0, %1, %2 clamp")
  CASE(6, "v_pk_mad_i16 %0, %1, %2, %3")
  CASE(7, "v_pk_mul_lo_u16 %0, %1, %2 op_sel:[0,1] op_sel_hi:[1,0]")
  CASE(8, "v_pk_lshlrev_b16 %0, %1, %2")
  CASE(9, "v_pk_ashrrev_i16 %0, %1, %2")
  CASE(10, "v_fma_mix_f32 %0, %1, %2, %3 op_sel:[0,1,0] op_sel_hi:[1,1,0]")
  CASE(11, "v_fma_mixlo_f16 %0, %1, -%2, |%3| op_sel_hi:[1,1,0]")
  CASE(12, "v_fma_mixhi_f16 %0, %1, %2, 1.0 op_sel:[1,0,0] op_sel_hi:[1,1,0]")
  CASE(13, "v_dot2_f32_f16 %0, %1, %2, %3 neg_lo:[1,0,0]")
#if defined(__GFX9__)
  CASE(14, "v_dot4_i32_i8 %0, %1, %2, %3")
  CASE(15, "v_dot8_i32_i4 %0, %1, %2, %3")
#else
  CASE(14, "v_dot4_i32_iu8 %0, %1, %2, %3 neg_lo:[1,1,0]")
  CASE(15, "v_dot8_i32_iu4 %0, %1, %2, %3 neg_lo:[1,1,0]")
#endif
  CASE(16, "v_dot4_u32_u8 %0, %1, %2, %3 clamp")
  CASE(17, "v_pk_mul_f16 %0, %1, 2.0 op_sel_hi:[1,0]")
  CASE(18, "v_pk_add_u16 %0, %1, 5 op_sel_hi:[1,0]")
}

#if defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__)
#define PAIR_CASE(k, text)                                 \
  {                                                        \
    pair d = c;                                            \
    asm volatile(text : "+v"(d) : "v"(a), "v"(b), "v"(c)); \
    out[64 * (k) + lane] = d;                              \
  }
KERNEL pairs(pair* out, const pair* in) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  const pair a = in[lane], b = in[64 + lane], c = in[128 + lane];
  PAIR_CASE(0, "v_pk_fma_f32 %0, %1, %2, %3")
  PAIR_CASE(1, "v_pk_mul_f32 %0, %1, %2 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[1,0]")
  PAIR_CASE(2, "v_pk_add_f32 %0, %1, %2 neg_hi:[0,1]")
  PAIR_CASE(3, "v_pk_mov_b32 %0, %1, %2 op_sel:[1,0]")
  PAIR_CASE(4, "v_pk_mul_f32 %0, %1, 4.0 op_sel_hi:[1,0]")
}
#endif

#if defined(__GFX11__) || defined(__GFX12__)
/// VOPD pairs whose halves read what the other writes. Results go to out[64 * k + lane].
KERNEL dual(u32* out, const u32* in) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  const u32 a = in[lane], b = in[64 + lane], c = in[128 + lane];
#define DUAL_CASE(k, text)                                                          \
  {                                                                                 \
    u32 x, y;                                                                       \
    asm volatile("v_mov_b32 v40, %2\n v_mov_b32 v41, %3\n v_mov_b32 v42, %4\n" text \
                 "\n v_mov_b32 %0, v40\n v_mov_b32 %1, v41"                         \
                 : "=&v"(x), "=&v"(y)                                               \
                 : "v"(a), "v"(b), "v"(c)                                           \
                 : "v40", "v41", "v42", "vcc");                                     \
    out[64 * (k) + lane] = x;                                                       \
    out[64 * ((k) + 1) + lane] = y;                                                 \
  }
  DUAL_CASE(0, "v_dual_mov_b32 v40, v41 :: v_dual_mov_b32 v41, v40")
  DUAL_CASE(2, "v_dual_mov_b32 v41, v40 :: v_dual_add_nc_u32 v40, v41, v42")
  DUAL_CASE(4, "v_dual_mov_b32 v40, v41 :: v_dual_lshlrev_b32 v41, 3, v42")
  DUAL_CASE(6,
            "v_cmp_lt_u32 vcc_lo, v40, v41\n"
            "v_dual_cndmask_b32 v40, v40, v41 :: v_dual_and_b32 v41, 0xff00ff, v42")
}

/// Row permutes with half of the lanes off. Lanes that are off keep 7.
KERNEL permute(u32* out, const u32* in) {
  const u32 lane = __builtin_amdgcn_workitem_id_x();
  u32 keep = 7, zero = 7, inactive = 7, from = in[lane];
  u32 low = 0x89abcdefu, high = 0x01234567u;  // lane j reads lane 15 - j of its row
  asm volatile("" : "+v"(keep), "+v"(zero), "+v"(inactive), "+v"(from), "+s"(low), "+s"(high));
  if ((in[64 + lane] & 1) == 0) {
    asm volatile(
        "v_permlane16_b32 %0, %3, %4, %5\n"
        "v_permlanex16_b32 %1, %3, %4, %5 op_sel:[0,1]\n"
        "v_permlane16_b32 %2, %3, %4, %5 op_sel:[1,0]"
        : "+v"(keep), "+v"(zero), "+v"(inactive)
        : "v"(from), "s"(low), "s"(high));
  }
  out[lane] = keep;
  out[64 + lane] = zero;
  out[128 + lane] = inactive;
}
#endif

#if defined(__gfx1151__) || defined(__GFX12__)
/// Scalar floating point on in[0] and in[1].
KERNEL scalar(u32* out, const u32* in) {
  const u32 a = in[0], b = in[1], c = in[2];
#define SCALAR_CASE(k, text)                               \
  {                                                        \
    u32 d = c;                                             \
    asm volatile(text : "+s"(d) : "s"(a), "s"(b) : "scc"); \
    out[k] = d;                                            \
  }
  SCALAR_CASE(0, "s_add_f32 %0, %1, %2")
  SCALAR_CASE(1, "s_fmac_f32 %0, %1, %2")
  SCALAR_CASE(2, "s_mul_f16 %0, %1, %2")
  SCALAR_CASE(3, "s_add_f16 %0, %1, 0.5")
  SCALAR_CASE(4, "s_cvt_i32_f32 %0, %1")
  SCALAR_CASE(5, "s_cmp_lt_f32 %1, %2\n s_cselect_b32 %0, 11, 22")
  SCALAR_CASE(6, "s_cmp_nge_f32 %1, %2\n s_cselect_b32 %0, 11, 22")
  SCALAR_CASE(7, "s_rndne_f32 %0, %1")
  SCALAR_CASE(8, "s_cvt_pk_rtz_f16_f32 %0, %1, %2")
}
#endif
