// RDNA's names of instructions that mean the same as an older one, and the table they make.
#include <string>
#include <unordered_map>
#include <vector>

#include "device/emulator/rdna.h"

namespace hipplan::emulator {
namespace {

/// Names beyond those in aliases(), of VOP2 and of VOP3 instructions of RDNA4.
constexpr Alias kVop2Names[] = {
    {"v_min_num_f32", "v_min_f32"}, {"v_max_num_f32", "v_max_f32"}, {"v_min_num_f64", "v_min_f64"},
    {"v_max_num_f64", "v_max_f64"}, {"v_min_num_f16", "v_min_f16"}, {"v_max_num_f16", "v_max_f16"},
};
constexpr Alias kVop3Names[] = {
    {"v_min3_num_f32", "v_min3_f32"},     {"v_max3_num_f32", "v_max3_f32"},
    {"v_med3_num_f32", "v_med3_f32"},     {"v_min3_num_f16", "v_min3_f16"},
    {"v_max3_num_f16", "v_max3_f16"},     {"v_med3_num_f16", "v_med3_f16"},
    {"v_minmax_num_f32", "v_minmax_f32"}, {"v_maxmin_num_f32", "v_maxmin_f32"},
    {"v_minmax_num_f16", "v_minmax_f16"}, {"v_maxmin_num_f16", "v_maxmin_f16"},
};

void no_effect(Wave&, const Op&) {}
Result<void> accept_hint(const Instruction&, Lowering&, Op&) {
  return {};
}
/// Only orders or hints: one wave's accesses happen in program order here.
constexpr Semantics ordering(std::string_view mnemonic) {
  return {.mnemonic = mnemonic, .run = no_effect, .shape = {}, .lower = accept_hint};
}

// clang-format off
constexpr Semantics kOrderingHints[] = {
    isa::rdna("SOPP"),
    ordering("s_delay_alu"), ordering("s_clause"), ordering("s_wait_idle"), ordering("s_wait_event"), ordering("s_ttracedata_imm"),

    isa::rdna3("SOPP"),
    ordering("s_set_inst_prefetch_distance"),

    isa::rdna4("SOPP"),
    ordering("s_wait_alu"), ordering("s_wait_loadcnt"), ordering("s_wait_storecnt"), ordering("s_wait_dscnt"), ordering("s_wait_kmcnt"),
    ordering("s_wait_expcnt"), ordering("s_wait_samplecnt"), ordering("s_wait_bvhcnt"), ordering("s_wait_loadcnt_dscnt"),
    ordering("s_wait_storecnt_dscnt"), ordering("s_barrier_leave"),

    isa::rdna3("SMEM"),
    ordering("s_gl1_inv"),

    isa::rdna4("SMEM"),
    ordering("s_prefetch_inst"), ordering("s_prefetch_inst_pc_rel"), ordering("s_prefetch_data"), ordering("s_prefetch_data_pc_rel"),
    ordering("s_buffer_prefetch_data"),

    isa::rdna4("VGLOBAL"),
    ordering("global_inv"), ordering("global_wb"), ordering("global_wbinv"),

    isa::none("a hint of gfx11.5 and gfx12 that LLVM names"),
    ordering("s_singleuse_vdst"),
};
// clang-format on

constexpr Semantics dual(std::string_view mnemonic) {
  return {.mnemonic = mnemonic, .shape = {}, .lower = lower_vopd};
}

// clang-format off
constexpr Semantics kDual[] = {
    isa::rdna("VOPD"),
    dual("v_dual_fmac_f32"), dual("v_dual_fmaak_f32"), dual("v_dual_fmamk_f32"), dual("v_dual_mul_f32"),
    dual("v_dual_add_f32"), dual("v_dual_sub_f32"), dual("v_dual_subrev_f32"), dual("v_dual_mul_dx9_zero_f32"),
    dual("v_dual_mov_b32"), dual("v_dual_cndmask_b32"), dual("v_dual_dot2acc_f32_f16"), dual("v_dual_dot2acc_f32_bf16"),
    dual("v_dual_add_nc_u32"), dual("v_dual_lshlrev_b32"), dual("v_dual_and_b32"),

    isa::rdna3("VOPD"),
    dual("v_dual_max_f32"), dual("v_dual_min_f32"),

    isa::rdna4("VOPD"),
    dual("v_dual_max_num_f32"), dual("v_dual_min_num_f32"),
};
// clang-format on

class Names {
 public:
  Names() {
    index_older();
    table_.push_back(isa::rdna4("VOP2"));
    for (const Alias& alias : kVop2Names) rename(alias);
    table_.push_back(isa::rdna4("VOP3"));
    for (const Alias& alias : kVop3Names) rename(alias);
    for (const std::span<const Semantics> family :
         {std::span<const Semantics>(kOrderingHints), std::span<const Semantics>(kDual),
          rdna_scalar_float_semantics(), rdna_permute_semantics(), rdna_vector_semantics()}) {
      table_.insert(table_.end(), family.begin(), family.end());
    }
  }
  [[nodiscard]] std::span<const Semantics> table() const { return table_; }

 private:
  void index_older() {
    for (const auto family :
         {float_semantics(), double_semantics(), half_semantics(), rdna_vector_semantics()}) {
      for (const Semantics& entry : family) older_.emplace(entry.mnemonic, &entry);
    }
  }
  void rename(const Alias& alias) {
    const auto found = older_.find(alias.of);
    if (found == older_.end()) return;
    Semantics entry = *found->second;
    entry.mnemonic = alias.name;
    table_.push_back(entry);
  }

  std::unordered_map<std::string_view, const Semantics*> older_;
  std::vector<Semantics> table_;
};

}  // namespace

std::span<const Semantics> rdna_semantics() {
  static const Names names;
  return names.table();
}

}  // namespace hipplan::emulator
