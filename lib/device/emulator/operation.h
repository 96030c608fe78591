// A decoded instruction, ready to run: a handler and resolved operands.
#pragma once

#include <cstdint>

namespace hipplan::emulator {

struct Wave;
struct Op;
using Handler = void (*)(Wave&, const Op&);

/// What the bits of an operand mean. `mask` is one bit per lane, in one or two SGPRs by wave size.
enum class Type : uint8_t { none, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, mask, wide };

[[nodiscard]] constexpr unsigned bits_of(Type type) {
  switch (type) {
    case Type::u16:
    case Type::i16:
    case Type::f16:
    case Type::bf16:
      return 16;
    case Type::u64:
    case Type::i64:
    case Type::f64:
      return 64;
    default:
      return 32;
  }
}
[[nodiscard]] constexpr bool is_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}

enum class Place : uint8_t {
  none,
  vgpr,      ///< row `index` of the wave's vector registers; AccVGPRs start at kAccRow
  sgpr,      ///< element `index` of the wave's scalar registers (Scalar numbers below)
  constant,  ///< Source::constant
  scc,
  vccz,
  execz,
};

/// Rows of the vector register file.
inline constexpr unsigned kAccRow = 256, kVectorRows = 512;

/// Numbers of the scalar registers: the same for every architecture, whatever the encoding says.
namespace scalar {
inline constexpr unsigned kFlatScratch = 108, kXnackMask = 110, kVcc = 112, kTtmp = 114, kM0 = 130,
                          kNull = 132,  ///< two zero registers to read from
    kExec = 134, kTrash = 136,          ///< writes to null land here
    kCount = 144;
}

/// Part of a 32-bit register that SDWA or op_sel selects.
enum class Part : uint8_t { dword, word0, word1, byte0, byte1, byte2, byte3 };

struct Source {
  Place place = Place::none;
  Type type = Type::none;
  Part part = Part::dword;  ///< word0 is the default of 16-bit types
  uint8_t words = 1;
  uint16_t index = 0;
  bool sign_extend = false;  ///< SDWA sext()
  bool simple = false;       ///< VGPR without part, modifier or DPP: its row is the value
  bool dpp = false;          ///< lanes come from Op::dpp
  uint64_t constant = 0;     ///< already as wide as `type`
  uint64_t keep = ~0ull;     ///< abs() clears the sign bit here
  uint64_t flip = 0;         ///< neg() flips the sign bit here
};

struct Destination {
  Place place = Place::none;
  Type type = Type::none;
  Part part = Part::dword;
  uint8_t words = 1;
  uint16_t index = 0;
  enum class Rest : uint8_t { zero, sign, keep } rest = Rest::zero;  ///< bits outside `part`
};

/// Lane shuffling of the first source.
struct Dpp {
  enum class Kind : uint8_t {
    none,
    quad_perm,
    row_shl,
    row_shr,
    row_ror,
    wave_shl,
    wave_rol,
    wave_shr,
    wave_ror,
    row_mirror,
    row_half_mirror,
    row_bcast15,
    row_bcast31,
    row_share,
    row_xmask,
    row_newbcast,
    dpp8,
  } kind = Kind::none;
  uint32_t control = 0;  ///< amount, or the packed selects of quad_perm (2 bits) and dpp8 (3 bits)
  uint8_t row_mask = 0xf, bank_mask = 0xf;
  bool bound_zero = false;      ///< invalid lanes read 0 instead of staying unwritten
  bool fetch_inactive = false;  ///< read lanes that EXEC turns off
};

/// Modifiers of packed and matrix instructions, as printed.
struct Packed {
  uint8_t op_sel = 0, op_sel_hi = 0xf, neg_lo = 0, neg_hi = 0;  ///< bit i: source i
  uint8_t cbsz = 0, abid = 0, blgp = 0;
};

/// Where a memory instruction's addresses lead.
enum class Space : uint8_t { none, global, flat, scratch, buffer, lds };

/// One operation. Handlers see it read-only; everything is checked before it is built.
struct Op {
  Handler run = nullptr;
  /// For results in f16: rounds them as the host's rounding direction says; null: cannot.
  Handler directed = nullptr;
  /// Of a write of M0 in a kernel that indexes registers: the write itself.
  Handler followed = nullptr;
  uint32_t next = 0, target = 0;   ///< operation numbers
  uint32_t line = 0;               ///< place in Program::lines
  uint32_t self = 0;               ///< own operation number
  bool first = true, last = true;  ///< of those of one instruction
  bool vector = false;             ///< counts active lanes
  bool selects = false;            ///< v_cndmask, alone or as half of a pair: takes one source
  bool clamp = false;
  uint8_t output_scale = 0;  ///< omod: 0 none, 1 *2, 2 *4, 3 /2
  bool plain = true;         ///< no clamp, omod, part or DPP: results go straight to the row
  bool saddr = false, returns = false, early_out = false;
  bool lds = false;     ///< a load whose data go to LDS
  bool halved = false;  ///< a load whose addresses are those of the lanes below 32
  bool clock = false;   ///< reads how much time has passed
  uint8_t source_count = 0;
  uint8_t bytes = 0;       ///< of one lane's access
  uint8_t data_words = 0;  ///< registers that a store reads, where bytes do not tell
  Space space = Space::none;
  int64_t offset = 0, offset2 = 0;
  uint64_t immediate = 0;
  Destination to, also;  ///< result, second result (carry or condition mask)
  Source from[5];
  Dpp dpp;
  Packed packed;
};

}  // namespace hipplan::emulator
