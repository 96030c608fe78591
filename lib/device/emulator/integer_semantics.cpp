// Vector integer and bit instructions. ISA documents, "VOP2/VOP3 Instructions".
#include <algorithm>

#include "device/emulator/arithmetic.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

constexpr u32 low24(u32 value) {
  return value & 0xffffffu;
}
constexpr i32 signed24(u32 value) {
  return static_cast<i32>(value << 8) >> 8;
}
constexpr u32 high(u64 value) {
  return static_cast<u32>(value >> 32);
}
constexpr u64 join(u32 upper, u32 lower) {
  return u64{upper} << 32 | lower;
}
constexpr u32 distance(u32 a, u32 b) {
  return a > b ? a - b : b - a;
}

constexpr u32 add_carry(u32 a, u32 b, bool in, bool& out) {
  const u64 sum = u64{a} + b + (in ? 1u : 0u);
  out = (sum >> 32) != 0;
  return static_cast<u32>(sum);
}
constexpr u32 sub_borrow(u32 a, u32 b, bool in, bool& out) {
  const u64 taken = u64{b} + (in ? 1u : 0u);
  out = taken > a;
  return static_cast<u32>(a - taken);
}
constexpr u64 mad_wide(u32 a, u32 b, u64 c, bool& out) {
  const u64 product = u64{a} * b;
  const u64 sum = product + c;
  out = sum < product;
  return sum;
}
/// The carry of the signed form is bit 64 of the sum of two sign-extended 64-bit numbers.
constexpr i64 mad_wide_signed(i32 a, i32 b, i64 c, bool& out) {
  i64 sum = 0;
  const bool overflows = __builtin_add_overflow(i64{a} * b, c, &sum);
  out = overflows != (sum < 0);
  return sum;
}
constexpr u32 extract(u32 value, u32 offset, u32 width) {
  const u32 moved = value >> (offset & 31u);
  return moved & ((1u << (width & 31u)) - 1u);
}
constexpr i32 extract_signed(u32 value, u32 offset, u32 width) {
  const u32 from = offset & 31u, count = width & 31u;
  if (count == 0) return 0;
  if (from + count >= 32) return static_cast<i32>(value) >> from;
  return static_cast<i32>(value << (32 - from - count)) >> (32 - count);
}
constexpr u32 leading_sign(u32 value) {
  const u32 flipped = static_cast<i32>(value) < 0 ? ~value : value;
  return flipped == 0 ? ~0u : static_cast<u32>(std::countl_zero(flipped));
}
constexpr u32 permute_byte(u64 data, u32 select) {
  select &= 0xffu;
  if (select >= 13) return 0xff;
  if (select == 12) return 0;
  if (select >= 8) return (data >> ((select - 8) * 16 + 15) & 1u) != 0 ? 0xffu : 0u;
  return static_cast<u32>(data >> (select * 8)) & 0xffu;
}
constexpr u32 permute(u64 data, u32 select) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; i += 8) result |= permute_byte(data, select >> i) << i;
  return result;
}
template <bool Masked>
constexpr u32 byte_distances(u32 a, u32 b, u32 sum) {
  for (unsigned i = 0; i < 32; i += 8)
    if (!Masked || (b >> i & 255u) != 0) sum += distance(a >> i & 255u, b >> i & 255u);
  return sum;
}
constexpr u32 byte_average(u32 a, u32 b, u32 round) {
  u32 result = 0;
  for (unsigned i = 0; i < 32; i += 8)
    result |= ((a >> i & 255u) + (b >> i & 255u) + (round >> i & 1u)) / 2 << i;
  return result;
}
template <class T>
constexpr T middle(T a, T b, T c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}
template <class T, class W>
constexpr T saturate(W value) {
  constexpr W kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  return static_cast<T>(value < kLow ? kLow : (value > kHigh ? kHigh : value));
}

/// An entry with a second function for the clamp modifier.
template <auto Wrap, auto Clamp>
void either(Wave& wave, const Op& op) {
  op.clamp ? lane_handler<Clamp>(wave, op) : lane_handler<Wrap>(wave, op);
}
template <auto Wrap, auto Clamp>
constexpr Semantics lanes_or_clamped(std::string_view mnemonic, uint32_t flags = 0) {
  Semantics entry = lanes<Wrap>(mnemonic, flags | kIntegerClamp);
  entry.run = either<Wrap, Clamp>;
  return entry;
}

constexpr auto kAdd32 = [](u32 a, u32 b) { return a + b; };
constexpr auto kAdd32Clamp = [](u32 a, u32 b) { return a + b < a ? ~0u : a + b; };
constexpr auto kSub32 = [](u32 a, u32 b) { return a - b; };
constexpr auto kSub32Clamp = [](u32 a, u32 b) { return a < b ? 0u : a - b; };
constexpr auto kRsb32 = [](u32 a, u32 b) { return b - a; };
constexpr auto kRsb32Clamp = [](u32 a, u32 b) { return b < a ? 0u : b - a; };
constexpr auto kAddI32Clamp = [](i32 a, i32 b) { return saturate<i32>(i64{a} + b); };
constexpr auto kSubI32Clamp = [](i32 a, i32 b) { return saturate<i32>(i64{a} - b); };
constexpr auto kAddI32 = [](i32 a, i32 b) {
  return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
};
constexpr auto kSubI32 = [](i32 a, i32 b) {
  return static_cast<i32>(static_cast<u32>(a) - static_cast<u32>(b));
};
constexpr auto kAdd16 = [](u16 a, u16 b) { return static_cast<u16>(a + b); };
constexpr auto kAdd16Clamp = [](u16 a, u16 b) { return saturate<u16>(i32{a} + b); };
constexpr auto kSub16 = [](u16 a, u16 b) { return static_cast<u16>(a - b); };
constexpr auto kSub16Clamp = [](u16 a, u16 b) { return saturate<u16>(i32{a} - b); };
constexpr auto kRsb16 = [](u16 a, u16 b) { return static_cast<u16>(b - a); };
constexpr auto kRsb16Clamp = [](u16 a, u16 b) { return saturate<u16>(i32{b} - a); };
constexpr auto kAddI16 = [](i16 a, i16 b) { return static_cast<i16>(a + b); };
constexpr auto kAddI16Clamp = [](i16 a, i16 b) { return saturate<i16>(i32{a} + b); };
constexpr auto kSubI16 = [](i16 a, i16 b) { return static_cast<i16>(a - b); };
constexpr auto kSubI16Clamp = [](i16 a, i16 b) { return saturate<i16>(i32{a} - b); };
constexpr auto kMad24 = [](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; };
constexpr auto kMad24Clamp = [](u32 a, u32 b, u32 c) {
  return saturate<u32>(static_cast<i64>(u64{low24(a)} * low24(b) + c));
};
constexpr auto kMadI24 = [](u32 a, u32 b, u32 c) {
  return static_cast<u32>(signed24(a)) * static_cast<u32>(signed24(b)) + c;
};
constexpr auto kMadI24Clamp = [](u32 a, u32 b, u32 c) {
  return static_cast<u32>(saturate<i32>(i64{signed24(a)} * signed24(b) + static_cast<i32>(c)));
};
constexpr auto kMadU16 = [](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); };
constexpr auto kMadU16Clamp = [](u16 a, u16 b, u16 c) {
  return static_cast<u16>(std::min<u64>(u64{a} * b + c, 0xffffu));
};
constexpr auto kMadI16 = [](i16 a, i16 b, i16 c) { return static_cast<i16>(i32{a} * b + c); };
constexpr auto kMadI16Clamp = [](i16 a, i16 b, i16 c) { return saturate<i16>(i64{a} * b + c); };

/// Sums of byte distances at four neighbouring places of `a`, added to the four words of `c`.
template <bool Masked>
uint64_t four_distances(uint64_t a, u32 b, uint64_t c) {
  uint64_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const auto old = static_cast<u32>(c >> (16 * i) & 0xffffu);
    const u32 sum = byte_distances<Masked>(static_cast<u32>(a >> (8 * i)), b, old);
    out |= uint64_t{sum & 0xffffu} << (16 * i);
  }
  return out;
}

// clang-format off
constexpr Semantics kIntegerTable[] = {
    isa::all("VOP2"),
    lanes<[](u32 a, u32 b, bool second) { return second ? b : a; }>("v_cndmask_b32"),
    // Sums.
    lanes_or_clamped<kAdd32, kAdd32Clamp>("v_add_u32"), lanes_or_clamped<kSub32, kSub32Clamp>("v_sub_u32"),
    lanes_or_clamped<kRsb32, kRsb32Clamp>("v_subrev_u32"),
    lanes<[](u32 a, u32 b, bool in, bool& out) { return add_carry(a, b, in, out); }>("v_addc_co_u32"),
    lanes<[](u32 a, u32 b, bool in, bool& out) { return sub_borrow(a, b, in, out); }>("v_subb_co_u32"),
    lanes<[](u32 a, u32 b, bool in, bool& out) { return sub_borrow(b, a, in, out); }>("v_subbrev_co_u32"),
    // Products.
    lanes<[](u32 a, u32 b) { return low24(a) * low24(b); }>("v_mul_u32_u24"),
    lanes<[](u32 a, u32 b) { return high(u64{low24(a)} * low24(b)); }>("v_mul_hi_u32_u24"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(signed24(a)) * static_cast<u32>(signed24(b)); }>("v_mul_i32_i24"),
    lanes<[](u32 a, u32 b) { return high(static_cast<u64>(i64{signed24(a)} * signed24(b))); }>("v_mul_hi_i32_i24"),
    // Smallest, largest, middle.
    lanes<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
    lanes<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
    lanes<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
    lanes<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
    // Bits.
    lanes<[](u32 a, u32 b) { return a & b; }>("v_and_b32"), lanes<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
    lanes<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
    lanes<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
    lanes<[](u32 a, u32 b) { return b << (a & 31u); }>("v_lshlrev_b32"),
    lanes<[](u32 a, u32 b) { return (b >> (a & 31u)); }>("v_lshrrev_b32"),
    lanes<[](u32 a, i32 b) { return (b >> (a & 31u)); }>("v_ashrrev_i32"),

    isa::each("VOP2", "VOP3", "VOP3"),
    lanes_or_clamped<kAdd16, kAdd16Clamp>("v_add_u16"), lanes_or_clamped<kSub16, kSub16Clamp>("v_sub_u16"),
    lanes<[](u32 a, u32 b, bool& out) { return add_carry(a, b, false, out); }>("v_add_co_u32"),
    lanes<[](u32 a, u32 b, bool& out) { return sub_borrow(a, b, false, out); }>("v_sub_co_u32"),
    lanes<[](u32 a, u32 b, bool& out) { return sub_borrow(b, a, false, out); }>("v_subrev_co_u32"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(u32{a} * b); }>("v_mul_lo_u16"),
    lanes<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
    lanes<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
    lanes<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
    lanes<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(b << (a & 15)); }>("v_lshlrev_b16"),
    lanes<[](u16 a, u16 b) { return static_cast<u16>(b >> (a & 15)); }>("v_lshrrev_b16"),
    lanes<[](u16 a, i16 b) { return static_cast<i16>(b >> (a & 15)); }>("v_ashrrev_i16"),

    isa::cdna("VOP2"),
    lanes_or_clamped<kRsb16, kRsb16Clamp>("v_subrev_u16"),

    isa::all("VOP1"),
    lanes<[](u32 a) { return a; }>("v_mov_b32"), lanes<[](u32 a) { return ~a; }>("v_not_b32"),
    lanes<[](u32 a) { return reverse_bits(a); }>("v_bfrev_b32"),
    lanes<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countl_zero(a)); }>("v_ffbh_u32"),
    lanes<[](u32 a) { return leading_sign(a); }>("v_ffbh_i32"),
    lanes<[](u32 a) { return a == 0 ? ~0u : static_cast<u32>(std::countr_zero(a)); }>("v_ffbl_b32"),

    isa::cdna("VOP1"),
    lanes<[](u64 a) { return a; }>("v_mov_b64"), lanes<[](u32 a) { return a; }>("v_accvgpr_mov_b32"),
    lanes<[](u32 a) { return a << 1 ^ (static_cast<i32>(a) < 0 ? 197u : 0u); }>("v_prng_b32"),

    isa::cdna("VOP3P"),
    lanes<[](u32 a) { return a; }>("v_accvgpr_read_b32"), lanes<[](u32 a) { return a; }>("v_accvgpr_write_b32"),

    isa::each("VOP3", "VOP3", "VOP2"),
    lanes<[](u32 a, u64 b) { return b << (a & 63u); }>("v_lshlrev_b64"),

    isa::all("VOP3"),
    // Sums.
    lanes_or_clamped<kAddI32, kAddI32Clamp>("v_add_i32"), lanes_or_clamped<kSubI32, kSubI32Clamp>("v_sub_i32"),
    lanes_or_clamped<kAddI16, kAddI16Clamp>("v_add_i16"), lanes_or_clamped<kSubI16, kSubI16Clamp>("v_sub_i16"),
    lanes<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return (a << (b & 31u)) + c; }>("v_lshl_add_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31u); }>("v_add_lshl_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
    // Products.
    lanes<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
    lanes<[](u32 a, u32 b) { return high(u64{a} * b); }>("v_mul_hi_u32"),
    lanes<[](i32 a, i32 b) { return high(static_cast<u64>(i64{a} * b)); }>("v_mul_hi_i32"),
    lanes_or_clamped<kMad24, kMad24Clamp>("v_mad_u32_u24"), lanes_or_clamped<kMadI24, kMadI24Clamp>("v_mad_i32_i24"),
    lanes<[](u32 a, u32 b, u64 c, bool& out) { return mad_wide(a, b, c, out); }>("v_mad_u64_u32"),
    lanes<[](i32 a, i32 b, i64 c, bool& out) { return mad_wide_signed(a, b, c, out); }>("v_mad_i64_i32"),
    lanes_or_clamped<kMadU16, kMadU16Clamp>("v_mad_u16", kKeepsHigh),
    lanes_or_clamped<kMadI16, kMadI16Clamp>("v_mad_i16", kKeepsHigh),
    lanes<[](u16 a, u16 b, u32 c) { return u32{a} * b + c; }>("v_mad_u32_u16"),
    lanes<[](i16 a, i16 b, u32 c) { return static_cast<u32>(i32{a} * b) + c; }>("v_mad_i32_i16"),
    // Smallest, largest, middle.
    lanes<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }>("v_min3_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }>("v_max3_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return middle(a, b, c); }>("v_med3_u32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }>("v_min3_i32"),
    lanes<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }>("v_max3_i32"),
    lanes<[](i32 a, i32 b, i32 c) { return middle(a, b, c); }>("v_med3_i32"),
    lanes<[](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); }>("v_min3_u16", kKeepsHigh),
    lanes<[](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); }>("v_max3_u16", kKeepsHigh),
    lanes<[](u16 a, u16 b, u16 c) { return middle(a, b, c); }>("v_med3_u16", kKeepsHigh),
    lanes<[](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); }>("v_min3_i16", kKeepsHigh),
    lanes<[](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); }>("v_max3_i16", kKeepsHigh),
    lanes<[](i16 a, i16 b, i16 c) { return middle(a, b, c); }>("v_med3_i16", kKeepsHigh),
    // Bits.
    lanes<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return a << (b & 31u) | c; }>("v_lshl_or_b32"),
    lanes<[](u32 a, u64 b) { return (b >> (a & 63u)); }>("v_lshrrev_b64"),
    lanes<[](u32 a, i64 b) { return (b >> (a & 63u)); }>("v_ashrrev_i64"),
    lanes<[](u32 a, u32 b, u32 c) { return extract(a, b, c); }>("v_bfe_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return extract_signed(a, b, c); }>("v_bfe_i32"),
    lanes<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
    lanes<[](u32 a, u32 b) { return ((1u << (a & 31u)) - 1u) << (b & 31u); }>("v_bfm_b32"),
    lanes<[](u32 a, u32 b) { return static_cast<u32>(std::popcount(a)) + b; }>("v_bcnt_u32_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return permute(join(a, b), c); }>("v_perm_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return static_cast<u32>(join(a, b) >> (c & 31u)); }>("v_alignbit_b32"),
    lanes<[](u32 a, u32 b, u32 c) { return static_cast<u32>(join(a, b) >> (8 * (c & 3u))); }>("v_alignbyte_b32"),
    lanes<[](Half a, Half b) { return u32{a.bits} | u32{b.bits} << 16; }>("v_pack_b32_f16"),
    // Distances.
    lanes<[](u32 a, u32 b, u32 c) { return byte_distances<false>(a, b, c); }>("v_sad_u8"),
    lanes<[](u32 a, u32 b, u32 c) { return byte_distances<true>(a, b, c); }>("v_msad_u8"),
    lanes<[](uint64_t a, u32 b, uint64_t c) { return four_distances<false>(a, b, c); }>("v_qsad_pk_u16_u8"),
    lanes<[](uint64_t a, u32 b, uint64_t c) { return four_distances<true>(a, b, c); }>("v_mqsad_pk_u16_u8"),
    lanes<[](u32 a, u32 b, u32 c) { return (byte_distances<false>(a, b, 0) << 16) + c; }>("v_sad_hi_u8"),
    lanes<[](u32 a, u32 b, u32 c) { return distance(a & 0xffffu, b & 0xffffu) + distance(a >> 16, b >> 16) + c; }>("v_sad_u16"),
    lanes<[](u32 a, u32 b, u32 c) { return distance(a, b) + c; }>("v_sad_u32"),
    lanes<[](u32 a, u32 b, u32 c) { return byte_average(a, b, c); }>("v_lerp_u8"),

    isa::rdna("VOP3"),
    lanes<[](u16 a, u16 b, bool second) { return second ? b : a; }>("v_cndmask_b16"),
    lanes<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>("v_xor3_b32"),

    isa::cdna("VOP3"),
    lanes<[](u64 a, u32 b, u64 c) { return (a << (b & 7u)) + c; }>("v_lshl_add_u64"),
    lanes_or_clamped<kMadU16, kMadU16Clamp>("v_mad_legacy_u16"),
    lanes_or_clamped<kMadI16, kMadI16Clamp>("v_mad_legacy_i16"),
};
// clang-format on

}  // namespace

std::span<const Semantics> integer_semantics() {
  return kIntegerTable;
}

}  // namespace hipplan::emulator
