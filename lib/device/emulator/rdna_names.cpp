// RDNA's names of instructions that mean the same as an older one, and the table they make.
// RDNA3 and RDNA4 ISA, instruction tables.
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

/// Names beyond those in aliases().
constexpr Alias kNames[] = {
    {"v_fma_dx9_zero_f32", "v_fma_legacy_f32"},
    {"v_fmac_dx9_zero_f32", "v_fmac_legacy_f32"},
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
    {"ds_min_num_f32", "ds_min_f32"},
    {"ds_max_num_f32", "ds_max_f32"},
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
    for (const Alias& alias : kNames) rename(alias);
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
    for (const auto family : {float_semantics(), double_semantics(), half_semantics(),
                              lds_semantics(), rdna_vector_semantics()}) {
      for (const Semantics& entry : family) older_.emplace(entry.mnemonic, &entry);
    }
  }
  std::string_view keep(std::string name) { return names_.emplace_back(std::move(name)); }
  void rename(const Alias& alias) {
    const auto found = older_.find(alias.of);
    if (found == older_.end()) return;
    Semantics entry = *found->second;
    entry.mnemonic = alias.name;
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
