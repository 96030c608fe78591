// Scalar arithmetic: SOP1, SOP2, SOPC and SOPK. ISA documents, "SOP2 Instructions" and following.
#include "device/emulator/arithmetic.h"
#include "device/emulator/scalars.h"

namespace hipplan::emulator {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr i32 extend(u32 immediate) {
  return static_cast<int16_t>(immediate);
}

constexpr u32 first_one(u64 value) {
  return value == 0 ? ~0u : static_cast<u32>(std::countr_zero(value));
}
constexpr u32 sign_run(u64 value, int width) {
  const u64 top = value >> (width - 1);
  const u64 flipped = (top != 0 ? ~value : value) << (64 - width);
  return flipped == 0 ? ~0u : static_cast<u32>(std::countl_zero(flipped));
}
/// Field of `value` that BFE's second operand names: offset in its low bits, width at bit 16.
constexpr u64 field(u64 value, u32 control, unsigned width, bool is_signed) {
  const unsigned offset = control & (width - 1), want = (control >> 16) & 0x7fu;
  const unsigned count = want < width - offset ? want : width - offset;
  if (count == 0) return 0;
  const u64 top = value << (64 - offset - count);
  return is_signed ? static_cast<u64>(static_cast<i64>(top) >> (64 - count)) : top >> (64 - count);
}
constexpr u64 quads(u64 value, bool whole) {
  u64 result = 0;
  for (unsigned i = 0; i < 64; i += 4)
    if (((value >> i) & 15u) != 0) result |= whole ? u64{15} << i : u64{1} << (i / 4);
  return result;
}
constexpr u32 shift_add(u32 a, u32 b, unsigned by, bool& scc) {
  const u64 sum = (static_cast<u64>(a) << by) + b;
  scc = (sum >> 32) != 0;
  return static_cast<u32>(sum);
}
constexpr u32 add_signed(u32 a, u32 b, bool& scc) {
  i32 sum = 0;
  scc = __builtin_add_overflow(static_cast<i32>(a), static_cast<i32>(b), &sum);
  return static_cast<u32>(sum);
}
constexpr u32 sub_signed(u32 a, u32 b, bool& scc) {
  i32 difference = 0;
  scc = __builtin_sub_overflow(static_cast<i32>(a), static_cast<i32>(b), &difference);
  return static_cast<u32>(difference);
}

// clang-format off
constexpr Semantics kScalarTable[] = {
    isa::all("SOP2"),
    // Sums and products.
    scalars<[](u32 a, u32 b, bool& scc) { const u32 r = a + b; scc = r < a; return r; }>("s_add_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = (b > a); return a - b; }>("s_sub_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { return add_signed(a, b, scc); }>("s_add_i32"),
    scalars<[](u32 a, u32 b, bool& scc) { return sub_signed(a, b, scc); }>("s_sub_i32"),
    scalars<[](u32 a, u32 b, bool& scc) { const u64 r = u64{a} + b + scc; scc = (r > 0xffffffffu); return static_cast<u32>(r); }>("s_addc_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { const u64 s = u64{b} + scc; scc = (s > a); return static_cast<u32>(a - s); }>("s_subb_u32"),
    scalars<[](u32 a, u32 b) { return a * b; }>("s_mul_i32"),
    scalars<[](u32 a, u32 b) { return static_cast<u32>((u64{a} * b) / 0x100000000ull); }>("s_mul_hi_u32"),
    scalars<[](i32 a, i32 b) { return static_cast<u32>(static_cast<u64>(i64{a} * b) / 0x100000000ull); }>("s_mul_hi_i32"),
    scalars<[](u32 a, u32 b, bool& scc) { return shift_add(a, b, 1, scc); }>("s_lshl1_add_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { return shift_add(a, b, 2, scc); }>("s_lshl2_add_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { return shift_add(a, b, 3, scc); }>("s_lshl3_add_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { return shift_add(a, b, 4, scc); }>("s_lshl4_add_u32"),
    scalars_nonzero<[](u32 a, u32 b) { const i32 d = static_cast<i32>(a - b); return static_cast<u32>(d < 0 ? 0u - static_cast<u32>(d) : static_cast<u32>(d)); }>("s_absdiff_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a < b; return a < b ? a : b; }>("s_min_i32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a < b; return a < b ? a : b; }>("s_min_u32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a >= b; return a >= b ? a : b; }>("s_max_i32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a >= b; return a >= b ? a : b; }>("s_max_u32"),
    // Moves and choices.
    scalars<[](u32 a, u32 b, bool& scc) { return scc ? a : b; }>("s_cselect_b32"),
    scalars<[](u64 a, u64 b, bool& scc) { return scc ? a : b; }>("s_cselect_b64"),
    // Bits.
    scalars_nonzero<[](u32 a, u32 b) { return a & b; }>("s_and_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return a & b; }>("s_and_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return a | b; }>("s_or_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return a | b; }>("s_or_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return a ^ b; }>("s_xor_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return a ^ b; }>("s_xor_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return a & ~b; }>("s_andn2_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return a & ~b; }>("s_andn2_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return a | ~b; }>("s_orn2_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return a | ~b; }>("s_orn2_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return ~(a & b); }>("s_nand_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return ~(a & b); }>("s_nand_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return ~(a | b); }>("s_nor_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return ~(a | b); }>("s_nor_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return ~(a ^ b); }>("s_xnor_b32"),
    scalars_nonzero<[](u64 a, u64 b) { return ~(a ^ b); }>("s_xnor_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return a << (b & 31u); }>("s_lshl_b32"),
    scalars_nonzero<[](u64 a, u32 b) { return a << (b & 63u); }>("s_lshl_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return (a >> (b & 31u)); }>("s_lshr_b32"),
    scalars_nonzero<[](u64 a, u32 b) { return (a >> (b & 63u)); }>("s_lshr_b64"),
    scalars_nonzero<[](i32 a, u32 b) { return (a >> (b & 31u)); }>("s_ashr_i32"),
    scalars_nonzero<[](i64 a, u32 b) { return (a >> (b & 63u)); }>("s_ashr_i64"),
    scalars<[](u32 a, u32 b) { return ((1u << (a & 31u)) - 1u) << (b & 31u); }>("s_bfm_b32"),
    scalars<[](u32 a, u32 b) { return ((u64{1} << (a & 63u)) - 1u) << (b & 63u); }>("s_bfm_b64"),
    scalars_nonzero<[](u32 a, u32 b) { return static_cast<u32>(field(a, b, 32, false)); }>("s_bfe_u32"),
    scalars_nonzero<[](u32 a, u32 b) { return static_cast<u32>(field(a, b, 32, true)); }>("s_bfe_i32"),
    scalars_nonzero<[](u64 a, u32 b) { return field(a, b, 64, false); }>("s_bfe_u64"),
    scalars_nonzero<[](u64 a, u32 b) { return field(a, b, 64, true); }>("s_bfe_i64"),
    scalars<[](u32 a, u32 b) { return (a & 0xffffu) | b << 16; }>("s_pack_ll_b32_b16"),
    scalars<[](u32 a, u32 b) { return (a & 0xffffu) | (b & 0xffff0000u); }>("s_pack_lh_b32_b16"),
    scalars<[](u32 a, u32 b) { return a / 0x10000u | (b & 0xffff0000u); }>("s_pack_hh_b32_b16"),

    isa::rdna("SOP2"),
    scalars<[](u32 a, u32 b) { return a / 0x10000u | b << 16; }>("s_pack_hl_b32_b16"),

    isa::rdna4("SOP2"),
    scalars<[](u64 a, u64 b) { return a + b; }>("s_add_u64"),
    scalars<[](u64 a, u64 b) { return a - b; }>("s_sub_u64"),
    scalars<[](u64 a, u64 b) { return a * b; }>("s_mul_u64"),

    isa::all("SOP1"),
    // Sums and products.
    scalars_nonzero<[](u32 a) { return static_cast<i32>(a) < 0 ? 0u - a : a; }>("s_abs_i32"),
    // Moves and choices.
    scalars<[](u32 a) { return a; }>("s_mov_b32"),
    scalars<[](u64 a) { return a; }>("s_mov_b64"),
    scalars<[](u32 a, u32 old, bool& scc) { return scc ? a : old; }>("s_cmov_b32"),
    scalars<[](u64 a, u64 old, bool& scc) { return scc ? a : old; }>("s_cmov_b64"),
    // Bits.
    scalars_nonzero<[](u32 a) { return ~a; }>("s_not_b32"),
    scalars_nonzero<[](u64 a) { return ~a; }>("s_not_b64"),
    scalars<[](u32 a) { return reverse_bits(a); }>("s_brev_b32"),
    scalars<[](u64 a) { return u64{reverse_bits(static_cast<u32>(a))} * 0x100000000ull + reverse_bits(static_cast<u32>(a / 0x100000000ull)); }>("s_brev_b64"),
    scalars_nonzero<[](u32 a) { return static_cast<u32>(std::popcount(~a)); }>("s_bcnt0_i32_b32"),
    scalars_nonzero<[](u64 a) { return static_cast<u32>(std::popcount(~a)); }>("s_bcnt0_i32_b64"),
    scalars_nonzero<[](u32 a) { return static_cast<u32>(std::popcount(a)); }>("s_bcnt1_i32_b32"),
    scalars_nonzero<[](u64 a) { return static_cast<u32>(std::popcount(a)); }>("s_bcnt1_i32_b64"),
    scalars<[](u32 a) { return first_one(a); }>("s_ff1_i32_b32"),
    scalars<[](u64 a) { return first_one(a); }>("s_ff1_i32_b64"),
    scalars<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>("s_flbit_i32_b32"),
    scalars<[](u64 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>("s_flbit_i32_b64"),
    scalars<[](u32 a) { return sign_run(a, 32); }>("s_flbit_i32"),
    scalars<[](u64 a) { return sign_run(a, 64); }>("s_flbit_i32_i64"),
    scalars<[](u32 a) { return static_cast<i32>(static_cast<int8_t>(a)); }>("s_sext_i32_i8"),
    scalars<[](u32 a) { return static_cast<i32>(static_cast<int16_t>(a)); }>("s_sext_i32_i16"),
    scalars<[](u32 bit, u32 old) { return old & ~(1u << (bit & 31u)); }>("s_bitset0_b32"),
    scalars<[](u32 bit, u64 old) { return old & ~(u64{1} << (bit & 63u)); }>("s_bitset0_b64"),
    scalars<[](u32 bit, u32 old) { return old | (1u << (bit & 31u)); }>("s_bitset1_b32"),
    scalars<[](u32 bit, u64 old) { return old | (u64{1} << (bit & 63u)); }>("s_bitset1_b64"),
    scalars_nonzero<[](u32 a) { return static_cast<u32>(quads(a, true)); }>("s_wqm_b32"),
    scalars_nonzero<[](u64 a) { return quads(a, true); }>("s_wqm_b64"),
    scalars_nonzero<[](u32 a) { return static_cast<u32>(quads(a, false)); }>("s_quadmask_b32"),
    scalars_nonzero<[](u64 a) { return quads(a, false); }>("s_quadmask_b64"),
    scalars<[](u32 a) { u64 r = 0; for (unsigned i = 0; i < 32; ++i) r |= u64{3} * (a / (1u << i) % 2u) << (2 * i); return r; }>("s_bitreplicate_b64_b32"),

    isa::cdna("SOP1"),
    scalars<[](u32 a) { return first_one(u64{static_cast<u32>(~a)}); }>("s_ff0_i32_b32"),
    scalars<[](u64 a) { return first_one(~a); }>("s_ff0_i32_b64"),

    isa::all("SOPK"),
    scalars<[](u32 k, u32 old, bool& scc) { return add_signed(old, static_cast<u32>(extend(k)), scc); }>("s_addk_i32"),
    scalars<[](u32 k, u32 old) { return old * static_cast<u32>(extend(k)); }>("s_mulk_i32"),
    scalars<[](u32 k) { return extend(k); }>("s_movk_i32"),
    scalars<[](u32 k, u32 old, bool& scc) { return scc ? static_cast<u32>(extend(k)) : old; }>("s_cmovk_i32"),

    isa::each("SOPK", "SOPK", ""),
    scalars<[](i32 a, u32 k, bool& scc) { scc = a == extend(k); }>("s_cmpk_eq_i32"),
    scalars<[](i32 a, u32 k, bool& scc) { scc = a != extend(k); }>("s_cmpk_lg_i32"),
    scalars<[](i32 a, u32 k, bool& scc) { scc = (a > extend(k)); }>("s_cmpk_gt_i32"),
    scalars<[](i32 a, u32 k, bool& scc) { scc = a >= extend(k); }>("s_cmpk_ge_i32"),
    scalars<[](i32 a, u32 k, bool& scc) { scc = a < extend(k); }>("s_cmpk_lt_i32"),
    scalars<[](i32 a, u32 k, bool& scc) { scc = a <= extend(k); }>("s_cmpk_le_i32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = a == (k & 0xffffu); }>("s_cmpk_eq_u32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = a != (k & 0xffffu); }>("s_cmpk_lg_u32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = (a > (k & 0xffffu)); }>("s_cmpk_gt_u32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = a >= (k & 0xffffu); }>("s_cmpk_ge_u32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = a < (k & 0xffffu); }>("s_cmpk_lt_u32"),
    scalars<[](u32 a, u32 k, bool& scc) { scc = a <= (k & 0xffffu); }>("s_cmpk_le_u32"),

    isa::all("SOPC"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a == b; }>("s_cmp_eq_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a != b; }>("s_cmp_lg_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = (a > b); }>("s_cmp_gt_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a >= b; }>("s_cmp_ge_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a < b; }>("s_cmp_lt_u32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = a <= b; }>("s_cmp_le_u32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a == b; }>("s_cmp_eq_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a != b; }>("s_cmp_lg_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = (a > b); }>("s_cmp_gt_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a >= b; }>("s_cmp_ge_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a < b; }>("s_cmp_lt_i32"),
    scalars<[](i32 a, i32 b, bool& scc) { scc = a <= b; }>("s_cmp_le_i32"),
    scalars<[](u64 a, u64 b, bool& scc) { scc = a == b; }>("s_cmp_eq_u64"),
    scalars<[](u64 a, u64 b, bool& scc) { scc = a != b; }>("s_cmp_lg_u64"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = ((a >> (b & 31u)) & 1u) == 0; }>("s_bitcmp0_b32"),
    scalars<[](u32 a, u32 b, bool& scc) { scc = ((a >> (b & 31u)) & 1u) != 0; }>("s_bitcmp1_b32"),
    scalars<[](u64 a, u32 b, bool& scc) { scc = ((a >> (b & 63u)) & 1u) == 0; }>("s_bitcmp0_b64"),
    scalars<[](u64 a, u32 b, bool& scc) { scc = ((a >> (b & 63u)) & 1u) != 0; }>("s_bitcmp1_b64"),
};
// clang-format on

}  // namespace

std::span<const Semantics> scalar_semantics() {
  return kScalarTable;
}

}  // namespace hipplan::emulator
