// One line of AMDGPU assembly text as data. Pure; needs no LLVM.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hipplan::disassembly {

enum class OperandKind : uint8_t {
  vgpr,
  agpr,
  sgpr,
  ttmp,      ///< index, count
  special,   ///< a named register: special, count (vcc: 2 dwords, vcc_lo: 1)
  integer,   ///< 1, -16, 0x3e22f983: integer
  floating,  ///< 0.5, -1.0, 0.15915494: real
  target,    ///< branch destination: integer holds the address
  off,       ///< "off": no register
  symbolic,  ///< hwreg(…), sendmsg(…), vmcnt(…) lgkmcnt(…), instid0(…): text
};

enum class Special : uint8_t {
  none,
  vcc,
  vcc_lo,
  vcc_hi,
  exec,
  exec_lo,
  exec_hi,
  m0,
  scc,
  null,
  vccz,
  execz,
  lds_direct,
  shared_base,
  shared_limit,
  private_base,
  private_limit,
  pops_exiting_wave_id,
  flat_scratch,
  flat_scratch_lo,
  flat_scratch_hi,
  xnack_mask,
  xnack_mask_lo,
  xnack_mask_hi,
};

/// Sub-dword part that a true16 register names: v1.l, v1.h.
enum class Half : uint8_t { whole, low, high };

struct Operand {
  OperandKind kind = OperandKind::off;
  Special special = Special::none;
  Half half = Half::whole;
  bool negate = false;       ///< -v1, -|v1|, neg(…)
  bool absolute = false;     ///< |v1|
  bool sign_extend = false;  ///< sext(v1), SDWA only
  bool hexadecimal =
      false;           ///< integer was printed as 0x…: a 32-bit literal, not an inline constant
  uint16_t index = 0;  ///< first register
  uint16_t count = 1;  ///< dwords
  int64_t integer = 0;
  double real = 0;
  std::string text;  ///< as printed, without sign and bars

  [[nodiscard]] bool is_register() const { return kind <= OperandKind::special; }
  [[nodiscard]] bool is_constant() const {
    return kind == OperandKind::integer || kind == OperandKind::floating;
  }
  /// Bits of a constant as an operand of `width` (16, 32 or 64) bits sees them. A float constant
  /// becomes binary16/32/64; an integer is sign-extended. For 64-bit floating operands a
  /// hexadecimal literal is the upper half (`float_operand` true), else it is zero-extended.
  [[nodiscard]] uint64_t bits(unsigned width, bool float_operand = false) const;
};

/// "offset:16", "glc", "op_sel:[0,1]", "quad_perm:[0,1,2,3]", "dst_sel:WORD_1", "cbsz:2".
struct Modifier {
  std::string name;
  std::vector<int64_t> values;  ///< empty for flags and for words
  std::string word;             ///< "WORD_1", "BUF_FMT_32_FLOAT"; empty for numbers
};

enum class Encoding : uint8_t { plain, e32, e64, dpp, e64_dpp, sdwa };

struct Instruction {
  uint64_t address = 0;
  uint32_t size = 0;
  std::string mnemonic;  ///< without the encoding suffix: "v_add_f32", "v_cmp_lt_f32"
  Encoding encoding = Encoding::plain;
  std::vector<Operand> operands;  ///< in printed order, destinations first
  std::vector<Modifier> modifiers;
  std::vector<Instruction>
      second;  ///< the "::" half of a VOPD pair: none or one; same address, size 0

  [[nodiscard]] const Modifier* find(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
  /// First value of a modifier, or `otherwise` when it is absent or has none.
  [[nodiscard]] int64_t value(std::string_view name, int64_t otherwise = 0) const;
  /// Value i of a list modifier such as op_sel_hi, or `otherwise`.
  [[nodiscard]] int64_t element(std::string_view name, size_t i, int64_t otherwise) const;
  /// For branches: the destination address.
  [[nodiscard]] std::optional<uint64_t> branch_target() const;
};

/// Parses one line of LLVM's AMDGPU syntax. `address` and `size` place it; branch offsets (signed
/// 16-bit words counted from the end of the instruction) become addresses. Fails with
/// unusable/"instruction-text" naming the text when it does not follow the grammar.
Result<Instruction> parse_instruction(std::string_view text, uint64_t address, uint32_t size);

}  // namespace hipplan::disassembly
