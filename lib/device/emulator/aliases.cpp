// Names that later generations gave to instructions with the same meaning.
#include "device/emulator/semantics.h"

namespace hipplan::emulator {
namespace {

// clang-format off
#define MEMORY(P)                                                                                  \
  {P "load_b32", P "load_dword"}, {P "load_b64", P "load_dwordx2"}, {P "load_b96", P "load_dwordx3"}, \
  {P "load_b128", P "load_dwordx4"}, {P "load_u8", P "load_ubyte"}, {P "load_i8", P "load_sbyte"},  \
  {P "load_u16", P "load_ushort"}, {P "load_i16", P "load_sshort"},                                 \
  {P "load_d16_b16", P "load_short_d16"}, {P "load_d16_hi_b16", P "load_short_d16_hi"},             \
  {P "load_d16_u8", P "load_ubyte_d16"}, {P "load_d16_hi_u8", P "load_ubyte_d16_hi"},               \
  {P "load_d16_i8", P "load_sbyte_d16"}, {P "load_d16_hi_i8", P "load_sbyte_d16_hi"},               \
  {P "store_b32", P "store_dword"}, {P "store_b64", P "store_dwordx2"}, {P "store_b96", P "store_dwordx3"}, \
  {P "store_b128", P "store_dwordx4"}, {P "store_b8", P "store_byte"}, {P "store_b16", P "store_short"}, \
  {P "store_d16_hi_b8", P "store_byte_d16_hi"}, {P "store_d16_hi_b16", P "store_short_d16_hi"}
#define HALF_FORMATS(P)                                                                            \
  {P "load_d16_format_x", P "load_format_d16_x"}, {P "load_d16_format_xy", P "load_format_d16_xy"}, \
  {P "load_d16_format_xyz", P "load_format_d16_xyz"}, {P "load_d16_format_xyzw", P "load_format_d16_xyzw"}, \
  {P "store_d16_format_x", P "store_format_d16_x"}, {P "store_d16_format_xy", P "store_format_d16_xy"}, \
  {P "store_d16_format_xyz", P "store_format_d16_xyz"}, {P "store_d16_format_xyzw", P "store_format_d16_xyzw"}
#define ATOMICS(P)                                                                                 \
  {P "swap_b32", P "swap"}, {P "swap_b64", P "swap_x2"}, {P "cmpswap_b32", P "cmpswap"}, {P "cmpswap_b64", P "cmpswap_x2"}, \
  {P "add_u32", P "add"}, {P "add_u64", P "add_x2"}, {P "sub_u32", P "sub"}, {P "sub_u64", P "sub_x2"}, \
  {P "min_i32", P "smin"}, {P "min_i64", P "smin_x2"}, {P "min_u32", P "umin"}, {P "min_u64", P "umin_x2"}, \
  {P "max_i32", P "smax"}, {P "max_i64", P "smax_x2"}, {P "max_u32", P "umax"}, {P "max_u64", P "umax_x2"}, \
  {P "and_b32", P "and"}, {P "and_b64", P "and_x2"}, {P "or_b32", P "or"}, {P "or_b64", P "or_x2"}, \
  {P "xor_b32", P "xor"}, {P "xor_b64", P "xor_x2"}, {P "inc_u32", P "inc"}, {P "inc_u64", P "inc_x2"}, \
  {P "dec_u32", P "dec"}, {P "dec_u64", P "dec_x2"},                                               \
  {P "min_num_f32", P "min_f32"}, {P "max_num_f32", P "max_f32"}, {P "min_num_f64", P "min_f64"}, {P "max_num_f64", P "max_f64"}

constexpr Alias kAliases[] = {
    MEMORY("global_"), MEMORY("flat_"), MEMORY("scratch_"), MEMORY("buffer_"),
    HALF_FORMATS("buffer_"), HALF_FORMATS("tbuffer_"),
    {"buffer_load_d16_hi_format_x", "buffer_load_format_d16_hi_x"}, {"buffer_store_d16_hi_format_x", "buffer_store_format_d16_hi_x"},
    ATOMICS("global_atomic_"), ATOMICS("flat_atomic_"), ATOMICS("buffer_atomic_"),

    {"s_load_b32", "s_load_dword"}, {"s_load_b64", "s_load_dwordx2"}, {"s_load_b96", "s_load_dwordx3"},
    {"s_load_b128", "s_load_dwordx4"}, {"s_load_b256", "s_load_dwordx8"}, {"s_load_b512", "s_load_dwordx16"},
    {"s_buffer_load_b32", "s_buffer_load_dword"}, {"s_buffer_load_b64", "s_buffer_load_dwordx2"}, {"s_buffer_load_b96", "s_buffer_load_dwordx3"},
    {"s_buffer_load_b128", "s_buffer_load_dwordx4"}, {"s_buffer_load_b256", "s_buffer_load_dwordx8"}, {"s_buffer_load_b512", "s_buffer_load_dwordx16"},

    {"ds_load_b32", "ds_read_b32"}, {"ds_load_b64", "ds_read_b64"}, {"ds_load_b96", "ds_read_b96"}, {"ds_load_b128", "ds_read_b128"},
    {"ds_load_u8", "ds_read_u8"}, {"ds_load_i8", "ds_read_i8"}, {"ds_load_u16", "ds_read_u16"}, {"ds_load_i16", "ds_read_i16"},
    {"ds_load_u8_d16", "ds_read_u8_d16"}, {"ds_load_u8_d16_hi", "ds_read_u8_d16_hi"}, {"ds_load_i8_d16", "ds_read_i8_d16"},
    {"ds_load_i8_d16_hi", "ds_read_i8_d16_hi"}, {"ds_load_u16_d16", "ds_read_u16_d16"}, {"ds_load_u16_d16_hi", "ds_read_u16_d16_hi"},
    {"ds_load_2addr_b32", "ds_read2_b32"}, {"ds_load_2addr_b64", "ds_read2_b64"},
    {"ds_load_2addr_stride64_b32", "ds_read2st64_b32"}, {"ds_load_2addr_stride64_b64", "ds_read2st64_b64"},
    {"ds_store_b32", "ds_write_b32"}, {"ds_store_b64", "ds_write_b64"}, {"ds_store_b96", "ds_write_b96"}, {"ds_store_b128", "ds_write_b128"},
    {"ds_store_b8", "ds_write_b8"}, {"ds_store_b16", "ds_write_b16"}, {"ds_store_b8_d16_hi", "ds_write_b8_d16_hi"}, {"ds_store_b16_d16_hi", "ds_write_b16_d16_hi"},
    {"ds_store_2addr_b32", "ds_write2_b32"}, {"ds_store_2addr_b64", "ds_write2_b64"},
    {"ds_store_2addr_stride64_b32", "ds_write2st64_b32"}, {"ds_store_2addr_stride64_b64", "ds_write2st64_b64"},
    {"ds_direct_load", "lds_direct_load"}, {"ds_load_addtid_b32", "ds_read_addtid_b32"}, {"ds_store_addtid_b32", "ds_write_addtid_b32"},
    {"ds_storexchg_2addr_rtn_b32", "ds_wrxchg2_rtn_b32"}, {"ds_storexchg_2addr_rtn_b64", "ds_wrxchg2_rtn_b64"},
    {"ds_storexchg_2addr_stride64_rtn_b32", "ds_wrxchg2st64_rtn_b32"}, {"ds_storexchg_2addr_stride64_rtn_b64", "ds_wrxchg2st64_rtn_b64"},
    {"ds_storexchg_rtn_b32", "ds_wrxchg_rtn_b32"}, {"ds_storexchg_rtn_b64", "ds_wrxchg_rtn_b64"},

    {"s_and_not1_b32", "s_andn2_b32"}, {"s_and_not1_b64", "s_andn2_b64"}, {"s_or_not1_b32", "s_orn2_b32"}, {"s_or_not1_b64", "s_orn2_b64"},
    {"s_and_not1_saveexec_b32", "s_andn2_saveexec_b32"}, {"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
    {"s_or_not1_saveexec_b32", "s_orn2_saveexec_b32"}, {"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
    {"s_and_not0_saveexec_b32", "s_andn1_saveexec_b32"}, {"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
    {"s_or_not0_saveexec_b32", "s_orn1_saveexec_b32"}, {"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
    {"s_and_not0_wrexec_b32", "s_andn1_wrexec_b32"}, {"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
    {"s_and_not1_wrexec_b32", "s_andn2_wrexec_b32"}, {"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
    {"s_ctz_i32_b32", "s_ff1_i32_b32"}, {"s_ctz_i32_b64", "s_ff1_i32_b64"},
    {"s_clz_i32_u32", "s_flbit_i32_b32"}, {"s_clz_i32_u64", "s_flbit_i32_b64"}, {"s_cls_i32", "s_flbit_i32"}, {"s_cls_i32_i64", "s_flbit_i32_i64"},
    {"s_add_co_u32", "s_add_u32"}, {"s_sub_co_u32", "s_sub_u32"}, {"s_add_co_i32", "s_add_i32"}, {"s_sub_co_i32", "s_sub_i32"},
    {"s_add_co_ci_u32", "s_addc_u32"}, {"s_sub_co_ci_u32", "s_subb_u32"}, {"s_addk_co_i32", "s_addk_i32"},
    {"s_add_nc_u64", "s_add_u64"}, {"s_sub_nc_u64", "s_sub_u64"},

    {"v_add_nc_u32", "v_add_u32"}, {"v_sub_nc_u32", "v_sub_u32"}, {"v_subrev_nc_u32", "v_subrev_u32"},
    {"v_add_nc_i32", "v_add_i32"}, {"v_sub_nc_i32", "v_sub_i32"},
    {"v_add_nc_u16", "v_add_u16"}, {"v_sub_nc_u16", "v_sub_u16"}, {"v_add_nc_i16", "v_add_i16"}, {"v_sub_nc_i16", "v_sub_i16"},
    {"v_add_co_ci_u32", "v_addc_co_u32"}, {"v_sub_co_ci_u32", "v_subb_co_u32"}, {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
    {"v_mad_co_u64_u32", "v_mad_u64_u32"}, {"v_mad_co_i64_i32", "v_mad_i64_i32"},
    {"v_ctz_i32_b32", "v_ffbl_b32"}, {"v_clz_i32_u32", "v_ffbh_u32"}, {"v_cls_i32", "v_ffbh_i32"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"}, {"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"}, {"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
    {"v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_i16_f16"}, {"v_cvt_pk_norm_u16_f16", "v_cvt_pknorm_u16_f16"},
    {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"}, {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
};
// clang-format on

}  // namespace

std::span<const Alias> aliases() {
  return kAliases;
}

}  // namespace hipplan::emulator
