// RDNA's names of instructions that mean the same as an older one, and the table they make.
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

constexpr Alias kNames[] = {
    // Scalar.
    {"s_and_not1_b32", "s_andn2_b32"},
    {"s_and_not1_b64", "s_andn2_b64"},
    {"s_or_not1_b32", "s_orn2_b32"},
    {"s_or_not1_b64", "s_orn2_b64"},
    {"s_and_not1_saveexec_b32", "s_andn2_saveexec_b32"},
    {"s_and_not1_saveexec_b64", "s_andn2_saveexec_b64"},
    {"s_or_not1_saveexec_b32", "s_orn2_saveexec_b32"},
    {"s_or_not1_saveexec_b64", "s_orn2_saveexec_b64"},
    {"s_and_not0_saveexec_b32", "s_andn1_saveexec_b32"},
    {"s_and_not0_saveexec_b64", "s_andn1_saveexec_b64"},
    {"s_or_not0_saveexec_b32", "s_orn1_saveexec_b32"},
    {"s_or_not0_saveexec_b64", "s_orn1_saveexec_b64"},
    {"s_and_not0_wrexec_b32", "s_andn1_wrexec_b32"},
    {"s_and_not0_wrexec_b64", "s_andn1_wrexec_b64"},
    {"s_and_not1_wrexec_b32", "s_andn2_wrexec_b32"},
    {"s_and_not1_wrexec_b64", "s_andn2_wrexec_b64"},
    {"s_ctz_i32_b32", "s_ff1_i32_b32"},
    {"s_ctz_i32_b64", "s_ff1_i32_b64"},
    {"s_clz_i32_u32", "s_flbit_i32_b32"},
    {"s_clz_i32_u64", "s_flbit_i32_b64"},
    {"s_cls_i32", "s_flbit_i32"},
    {"s_cls_i32_i64", "s_flbit_i32_i64"},
    {"s_add_co_u32", "s_add_u32"},
    {"s_sub_co_u32", "s_sub_u32"},
    {"s_add_co_i32", "s_add_i32"},
    {"s_sub_co_i32", "s_sub_i32"},
    {"s_add_co_ci_u32", "s_addc_u32"},
    {"s_sub_co_ci_u32", "s_subb_u32"},
    {"s_addk_co_i32", "s_addk_i32"},
    {"s_add_nc_u64", "s_add_u64"},
    {"s_sub_nc_u64", "s_sub_u64"},
    {"s_load_b32", "s_load_dword"},
    {"s_load_b64", "s_load_dwordx2"},
    {"s_load_b96", "s_load_dwordx3"},
    {"s_load_b128", "s_load_dwordx4"},
    {"s_load_b256", "s_load_dwordx8"},
    {"s_load_b512", "s_load_dwordx16"},
    {"s_buffer_load_b32", "s_buffer_load_dword"},
    {"s_buffer_load_b64", "s_buffer_load_dwordx2"},
    {"s_buffer_load_b96", "s_buffer_load_dwordx3"},
    {"s_buffer_load_b128", "s_buffer_load_dwordx4"},
    {"s_buffer_load_b256", "s_buffer_load_dwordx8"},
    {"s_buffer_load_b512", "s_buffer_load_dwordx16"},
    // Vector.
    {"v_add_nc_u32", "v_add_u32"},
    {"v_sub_nc_u32", "v_sub_u32"},
    {"v_subrev_nc_u32", "v_subrev_u32"},
    {"v_add_nc_i32", "v_add_i32"},
    {"v_sub_nc_i32", "v_sub_i32"},
    {"v_add_nc_u16", "v_add_u16"},
    {"v_sub_nc_u16", "v_sub_u16"},
    {"v_add_nc_i16", "v_add_i16"},
    {"v_sub_nc_i16", "v_sub_i16"},
    {"v_add_co_ci_u32", "v_addc_co_u32"},
    {"v_sub_co_ci_u32", "v_subb_co_u32"},
    {"v_subrev_co_ci_u32", "v_subbrev_co_u32"},
    {"v_clz_i32_u32", "v_ffbh_u32"},
    {"v_ctz_i32_b32", "v_ffbl_b32"},
    {"v_cls_i32", "v_ffbh_i32"},
    {"v_cvt_pk_rtz_f16_f32", "v_cvt_pkrtz_f16_f32"},
    {"v_cvt_pk_norm_i16_f32", "v_cvt_pknorm_i16_f32"},
    {"v_cvt_pk_norm_u16_f32", "v_cvt_pknorm_u16_f32"},
    {"v_cvt_pk_norm_i16_f16", "v_cvt_pknorm_i16_f16"},
    {"v_cvt_pk_norm_u16_f16", "v_cvt_pknorm_u16_f16"},
    {"v_cvt_floor_i32_f32", "v_cvt_flr_i32_f32"},
    {"v_cvt_nearest_i32_f32", "v_cvt_rpi_i32_f32"},
    {"v_mul_dx9_zero_f32", "v_mul_legacy_f32"},
    {"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
    {"v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"},
    {"v_mad_co_u64_u32", "v_mad_u64_u32"},
    {"v_mad_co_i64_i32", "v_mad_i64_i32"},
    {"v_min_num_f32", "v_min_f32"},
    {"v_max_num_f32", "v_max_f32"},
    {"v_min_num_f64", "v_min_f64"},
    {"v_max_num_f64", "v_max_f64"},
    {"v_min_num_f16", "v_min_f16"},
    {"v_max_num_f16", "v_max_f16"},
    {"v_min3_num_f32", "v_min3_f32"},
    {"v_max3_num_f32", "v_max3_f32"},
    {"v_med3_num_f32", "v_med3_f32"},
    {"v_min3_num_f16", "v_min3_f16"},
    {"v_max3_num_f16", "v_max3_f16"},
    {"v_med3_num_f16", "v_med3_f16"},
    {"v_minmax_num_f32", "v_minmax_f32"},
    {"v_maxmin_num_f32", "v_maxmin_f32"},
    {"v_minmax_num_f16", "v_minmax_f16"},
    {"v_maxmin_num_f16", "v_maxmin_f16"},
    // LDS.
    {"ds_load_b32", "ds_read_b32"},
    {"ds_load_b64", "ds_read_b64"},
    {"ds_load_b96", "ds_read_b96"},
    {"ds_load_b128", "ds_read_b128"},
    {"ds_load_u8", "ds_read_u8"},
    {"ds_load_i8", "ds_read_i8"},
    {"ds_load_u16", "ds_read_u16"},
    {"ds_load_i16", "ds_read_i16"},
    {"ds_load_u8_d16", "ds_read_u8_d16"},
    {"ds_load_u8_d16_hi", "ds_read_u8_d16_hi"},
    {"ds_load_i8_d16", "ds_read_i8_d16"},
    {"ds_load_i8_d16_hi", "ds_read_i8_d16_hi"},
    {"ds_load_u16_d16", "ds_read_u16_d16"},
    {"ds_load_u16_d16_hi", "ds_read_u16_d16_hi"},
    {"ds_load_2addr_b32", "ds_read2_b32"},
    {"ds_load_2addr_b64", "ds_read2_b64"},
    {"ds_load_2addr_stride64_b32", "ds_read2st64_b32"},
    {"ds_load_2addr_stride64_b64", "ds_read2st64_b64"},
    {"ds_load_addtid_b32", "ds_read_addtid_b32"},
    {"ds_store_b8", "ds_write_b8"},
    {"ds_store_b16", "ds_write_b16"},
    {"ds_store_b32", "ds_write_b32"},
    {"ds_store_b64", "ds_write_b64"},
    {"ds_store_b96", "ds_write_b96"},
    {"ds_store_b128", "ds_write_b128"},
    {"ds_store_b8_d16_hi", "ds_write_b8_d16_hi"},
    {"ds_store_b16_d16_hi", "ds_write_b16_d16_hi"},
    {"ds_store_2addr_b32", "ds_write2_b32"},
    {"ds_store_2addr_b64", "ds_write2_b64"},
    {"ds_store_2addr_stride64_b32", "ds_write2st64_b32"},
    {"ds_store_2addr_stride64_b64", "ds_write2st64_b64"},
    {"ds_store_addtid_b32", "ds_write_addtid_b32"},
    {"ds_storexchg_rtn_b32", "ds_wrxchg_rtn_b32"},
    {"ds_storexchg_rtn_b64", "ds_wrxchg_rtn_b64"},
    {"ds_min_num_f32", "ds_min_f32"},
    {"ds_max_num_f32", "ds_max_f32"},
};

/// Memory instructions after their prefix (global_, flat_, scratch_, buffer_).
constexpr Alias kMemoryNames[] = {
    {"load_u8", "load_ubyte"},
    {"load_i8", "load_sbyte"},
    {"load_u16", "load_ushort"},
    {"load_i16", "load_sshort"},
    {"load_b32", "load_dword"},
    {"load_b64", "load_dwordx2"},
    {"load_b96", "load_dwordx3"},
    {"load_b128", "load_dwordx4"},
    {"load_d16_u8", "load_ubyte_d16"},
    {"load_d16_hi_u8", "load_ubyte_d16_hi"},
    {"load_d16_i8", "load_sbyte_d16"},
    {"load_d16_hi_i8", "load_sbyte_d16_hi"},
    {"load_d16_b16", "load_short_d16"},
    {"load_d16_hi_b16", "load_short_d16_hi"},
    {"store_b8", "store_byte"},
    {"store_b16", "store_short"},
    {"store_b32", "store_dword"},
    {"store_b64", "store_dwordx2"},
    {"store_b96", "store_dwordx3"},
    {"store_b128", "store_dwordx4"},
    {"store_d16_hi_b8", "store_byte_d16_hi"},
    {"store_d16_hi_b16", "store_short_d16_hi"},
    {"atomic_add_u32", "atomic_add"},
    {"atomic_sub_u32", "atomic_sub"},
    {"atomic_min_i32", "atomic_smin"},
    {"atomic_max_i32", "atomic_smax"},
    {"atomic_min_u32", "atomic_umin"},
    {"atomic_max_u32", "atomic_umax"},
    {"atomic_and_b32", "atomic_and"},
    {"atomic_or_b32", "atomic_or"},
    {"atomic_xor_b32", "atomic_xor"},
    {"atomic_inc_u32", "atomic_inc"},
    {"atomic_dec_u32", "atomic_dec"},
    {"atomic_swap_b32", "atomic_swap"},
    {"atomic_cmpswap_b32", "atomic_cmpswap"},
    {"atomic_add_u64", "atomic_add_x2"},
    {"atomic_sub_u64", "atomic_sub_x2"},
    {"atomic_min_i64", "atomic_smin_x2"},
    {"atomic_max_i64", "atomic_smax_x2"},
    {"atomic_min_u64", "atomic_umin_x2"},
    {"atomic_max_u64", "atomic_umax_x2"},
    {"atomic_and_b64", "atomic_and_x2"},
    {"atomic_or_b64", "atomic_or_x2"},
    {"atomic_xor_b64", "atomic_xor_x2"},
    {"atomic_inc_u64", "atomic_inc_x2"},
    {"atomic_dec_u64", "atomic_dec_x2"},
    {"atomic_swap_b64", "atomic_swap_x2"},
    {"atomic_cmpswap_b64", "atomic_cmpswap_x2"},
    {"atomic_min_f32", "atomic_fmin"},
    {"atomic_max_f32", "atomic_fmax"},
    {"atomic_min_num_f32", "atomic_fmin"},
    {"atomic_max_num_f32", "atomic_fmax"},
};

/// Instructions that only order or hint: one wave's accesses happen in program order here.
constexpr std::string_view kIgnored[] = {
    "s_delay_alu",
    "s_clause",
    "s_set_inst_prefetch_distance",
    "s_wait_alu",
    "s_wait_loadcnt",
    "s_wait_storecnt",
    "s_wait_dscnt",
    "s_wait_kmcnt",
    "s_wait_expcnt",
    "s_wait_samplecnt",
    "s_wait_bvhcnt",
    "s_wait_loadcnt_dscnt",
    "s_wait_storecnt_dscnt",
    "s_wait_idle",
    "s_wait_event",
    "s_singleuse_vdst",
    "s_prefetch_inst",
    "s_prefetch_inst_pc_rel",
    "s_prefetch_data",
    "s_prefetch_data_pc_rel",
    "s_buffer_prefetch_data",
    "s_ttracedata_imm",
    "s_gl1_inv",
    "global_inv",
    "global_wb",
    "global_wbinv",
    "s_barrier_leave",
};

constexpr std::string_view kDual[] = {
    "fmac_f32",         "fmaak_f32",  "fmamk_f32",        "mul_f32",     "add_f32",
    "sub_f32",          "subrev_f32", "mul_dx9_zero_f32", "mov_b32",     "cndmask_b32",
    "max_f32",          "min_f32",    "max_num_f32",      "min_num_f32", "dot2acc_f32_f16",
    "dot2acc_f32_bf16", "add_nc_u32", "lshlrev_b32",      "and_b32",
};

class Names {
 public:
  Names() {
    index_older();
    for (const Alias& alias : kNames) rename(std::string(alias.name), std::string(alias.of));
    for (const char* prefix : {"global_", "flat_", "scratch_", "buffer_"}) {
      for (const Alias& alias : kMemoryNames) {
        rename(cat(prefix, alias.name), cat(prefix, alias.of));
      }
    }
    for (const std::string_view name : kIgnored) {
      table_.push_back({.mnemonic = name, .run = nothing, .shape = {}, .lower = accept});
    }
    for (const std::string_view name : kDual) {
      table_.push_back({.mnemonic = keep(cat("v_dual_", name)), .shape = {}, .lower = lower_vopd});
    }
    for (const auto family :
         {rdna_scalar_float_semantics(), rdna_permute_semantics(), rdna_vector_semantics()}) {
      table_.insert(table_.end(), family.begin(), family.end());
    }
  }
  [[nodiscard]] std::span<const Semantics> table() const { return table_; }

 private:
  static void nothing(Wave&, const Op&) {}
  static Result<void> accept(const Instruction&, Lowering&, Op&) { return {}; }

  void index_older() {
    for (const auto family :
         {scalar_semantics(), scalar_memory_semantics(), control_semantics(), integer_semantics(),
          float_semantics(), double_semantics(), half_semantics(), convert_semantics(),
          lds_semantics(), memory_semantics(), atomic_semantics(), rdna_vector_semantics()}) {
      for (const Semantics& entry : family) older_.emplace(entry.mnemonic, &entry);
    }
  }
  std::string_view keep(std::string name) { return names_.emplace_back(std::move(name)); }
  void rename(std::string name, const std::string& of) {
    const auto found = older_.find(of);
    if (found == older_.end()) return;
    Semantics entry = *found->second;
    entry.mnemonic = keep(std::move(name));
    table_.push_back(entry);
  }

  std::unordered_map<std::string_view, const Semantics*> older_;
  std::deque<std::string> names_;  // mnemonics point into these
  std::vector<Semantics> table_;
};

}  // namespace

std::span<const Semantics> rdna_semantics() {
  static const Names names;
  return names.table();
}

}  // namespace hipplan::emulator
