// Conversions. Float to integer truncates, saturates and turns NaN into 0. ISA
// documents, "VOP1 Instructions" and "VOP3 Instructions", V_CVT_*.
#include "device/emulator/arithmetic.h"
#include "device/emulator/lanes.h"

namespace hipplan::emulator {
namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

u32 to_u32(double x) {
  const double low = x > 0.0 ? x : 0.0;  // NaN too
  return low >= 4294967295.0 ? ~0u : static_cast<u32>(static_cast<int64_t>(low));
}
i32 to_i32(double x) {
  double kept = x == x ? x : 0.0;
  kept = kept < -2147483648.0 ? -2147483648.0 : kept;
  kept = kept > 2147483647.0 ? 2147483647.0 : kept;
  return static_cast<i32>(kept);
}
u16 to_u16(float x) {
  const float low = x > 0.0f ? x : 0.0f;
  return static_cast<u16>(static_cast<i32>(low > 65535.0f ? 65535.0f : low));
}
i16 to_i16(float x) {
  float kept = x == x ? x : 0.0f;
  kept = kept < -32768.0f ? -32768.0f : kept;
  kept = kept > 32767.0f ? 32767.0f : kept;
  return static_cast<i16>(static_cast<i32>(kept));
}
u32 pair(u32 low, u32 high) {
  return (low & 0xffffu) | high << 16;
}
u32 signed_norm(float x) {
  const float kept = x == x ? std::fmin(std::fmax(x, -1.0f), 1.0f) : 0.0f;
  return static_cast<u32>(static_cast<i32>(std::nearbyint(kept * 32767.0f))) & 0xffffu;
}
u32 unsigned_norm(float x) {
  const float kept = x > 0.0f ? std::fmin(x, 1.0f) : 0.0f;
  return static_cast<u32>(static_cast<i32>(std::nearbyint(kept * 65535.0f)));
}
u32 byte_of(float x) {
  const float kept = x > 0.0f ? std::fmin(x, 255.0f) : 0.0f;
  return static_cast<u32>(static_cast<i32>(std::nearbyint(kept)));
}
u32 put_byte(u32 value, u32 place, u32 old) {
  const u32 shift = 8 * (place & 3u);
  return (old & ~(0xffu << shift)) | value << shift;
}
u16 sat_bytes(u32 a) {
  const auto byte = [](i32 v) { return static_cast<u32>(v < 0 ? 0 : v > 255 ? 255 : v); };
  return static_cast<u16>(byte(static_cast<i16>(a)) | byte(static_cast<i32>(a) >> 16) << 8);
}
template <unsigned Byte>
float byte_float(u32 a) {
  return static_cast<float>(static_cast<i32>(a >> (8 * Byte) & 255u));
}
i32 saturate16(i32 value) {
  return value < -32768 ? -32768 : (value > 32767 ? 32767 : value);
}

// clang-format off
constexpr Semantics kConvertTable[] = {
    isa::all("VOP1"),
    lanes<[](u32 a) { return static_cast<float>(a); }>("v_cvt_f32_u32"),
    lanes<[](i32 a) { return static_cast<float>(a); }>("v_cvt_f32_i32"),
    lanes<[](float a) { return to_u32(static_cast<double>(a)); }>("v_cvt_u32_f32"),
    lanes<[](float a) { return to_i32(static_cast<double>(a)); }>("v_cvt_i32_f32"),
    lanes<[](float a) { return to_i32(std::floor(static_cast<double>(a) + 0.5)); }>("v_cvt_rpi_i32_f32"),
    lanes<[](float a) { return to_i32(std::floor(static_cast<double>(a))); }>("v_cvt_flr_i32_f32"),
    lanes<[](u32 a) { return static_cast<double>(a); }>("v_cvt_f64_u32"),
    lanes<[](i32 a) { return static_cast<double>(a); }>("v_cvt_f64_i32"),
    lanes<[](double a) { return to_u32(a); }>("v_cvt_u32_f64"),
    lanes<[](double a) { return to_i32(a); }>("v_cvt_i32_f64"),
    lanes<[](double a) { return static_cast<float>(a); }>("v_cvt_f32_f64"),
    lanes<[](float a) { return static_cast<double>(a); }>("v_cvt_f64_f32"),
    lanes<[](Half a) { return widen(a); }>("v_cvt_f32_f16"),
    lanes<[](float a) { return HalfOf<float>{a}; }>("v_cvt_f16_f32"),
    lanes<[](u16 a) { return HalfOf<float>{static_cast<float>(i32{a})}; }>("v_cvt_f16_u16"),
    lanes<[](i16 a) { return HalfOf<float>{static_cast<float>(i32{a})}; }>("v_cvt_f16_i16"),
    lanes<[](Half a) { return to_u16(widen(a)); }>("v_cvt_u16_f16"),
    lanes<[](Half a) { return to_i16(widen(a)); }>("v_cvt_i16_f16"),
    lanes<[](Half a) { return static_cast<u16>(signed_norm(widen(a))); }>("v_cvt_norm_i16_f16"),
    lanes<[](Half a) { return static_cast<u16>(unsigned_norm(widen(a))); }>("v_cvt_norm_u16_f16"),
    lanes<[](u32 a) { return byte_float<0>(a); }>("v_cvt_f32_ubyte0"),
    lanes<[](u32 a) { return byte_float<1>(a); }>("v_cvt_f32_ubyte1"),
    lanes<[](u32 a) { return byte_float<2>(a); }>("v_cvt_f32_ubyte2"),
    lanes<[](u32 a) { return byte_float<3>(a); }>("v_cvt_f32_ubyte3"),
    lanes<[](u32 a) { return static_cast<float>((static_cast<i32>(a << 28) >> 28) * 0.0625); }>("v_cvt_off_f32_i4"),
    lanes<[](u32 a) { return sat_bytes(a); }>("v_sat_pk_u8_i16"),

    isa::rdna("VOP1"),
    lanes<[](u16 a) { return u32{a}; }>("v_cvt_u32_u16"),
    lanes<[](i16 a) { return i32{a}; }>("v_cvt_i32_i16"),

    isa::cdna("VOP1"),
    lanes<[](BFloat a) { return widen(a); }>("v_cvt_f32_bf16"),

    isa::each("VOP3", "VOP2", "VOP2"),
    lanes<[](float a, float b) { return pair(half_toward_zero(a), half_toward_zero(b)); }>("v_cvt_pkrtz_f16_f32"),

    isa::all("VOP3"),
    lanes<[](float a, u32 b, u32 c) { return put_byte(byte_of(a), b, c); }>("v_cvt_pk_u8_f32"),
    lanes<[](float a, float b) { return pair(signed_norm(a), signed_norm(b)); }>("v_cvt_pknorm_i16_f32"),
    lanes<[](float a, float b) { return pair(unsigned_norm(a), unsigned_norm(b)); }>("v_cvt_pknorm_u16_f32"),
    lanes<[](Half a, Half b) { return pair(signed_norm(widen(a)), signed_norm(widen(b))); }>("v_cvt_pknorm_i16_f16"),
    lanes<[](Half a, Half b) { return pair(unsigned_norm(widen(a)), unsigned_norm(widen(b))); }>("v_cvt_pknorm_u16_f16"),
    lanes<[](u32 a, u32 b) { return pair(a < 65535u ? a : 65535u, b < 65535u ? b : 65535u); }>("v_cvt_pk_u16_u32"),
    lanes<[](i32 a, i32 b) { return pair(static_cast<u32>(saturate16(a)), static_cast<u32>(saturate16(b))); }>("v_cvt_pk_i16_i32"),

    isa::rdna("VOP3"),
    lanes<[](float a, float b) { return pair(static_cast<u16>(to_i16(a)), static_cast<u16>(to_i16(b))); }>("v_cvt_pk_i16_f32"),
    lanes<[](float a, float b) { return pair(to_u16(a), to_u16(b)); }>("v_cvt_pk_u16_f32"),

    isa::cdna("VOP3"),
    lanes<[](float a, u32 b, u32 c) { return put_byte(byte_of(a), b, c); }>("v_cvt_pkaccum_u8_f32"),
};
// clang-format on

}  // namespace

std::span<const Semantics> convert_semantics() {
  return kConvertTable;
}

}  // namespace hipplan::emulator
