#include "codeobject/disassembly/instruction.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/float_types.h"
#include "base/hex.h"
#include "codeobject/disassembly/text_scan.h"

namespace hipplan::disassembly {
namespace {

struct SpecialName {
  std::string_view name;
  Special special;
  uint16_t count;
};

constexpr SpecialName kSpecials[] = {
    {"vcc", Special::vcc, 2},
    {"vcc_lo", Special::vcc_lo, 1},
    {"vcc_hi", Special::vcc_hi, 1},
    {"exec", Special::exec, 2},
    {"exec_lo", Special::exec_lo, 1},
    {"exec_hi", Special::exec_hi, 1},
    {"m0", Special::m0, 1},
    {"scc", Special::scc, 1},
    {"src_scc", Special::scc, 1},
    {"null", Special::null, 1},
    {"vccz", Special::vccz, 1},
    {"src_vccz", Special::vccz, 1},
    {"execz", Special::execz, 1},
    {"src_execz", Special::execz, 1},
    {"lds_direct", Special::lds_direct, 1},
    {"src_lds_direct", Special::lds_direct, 1},
    {"src_shared_base", Special::shared_base, 2},
    {"src_shared_limit", Special::shared_limit, 2},
    {"src_private_base", Special::private_base, 2},
    {"src_private_limit", Special::private_limit, 2},
    {"src_pops_exiting_wave_id", Special::pops_exiting_wave_id, 1},
    {"flat_scratch", Special::flat_scratch, 2},
    {"flat_scratch_lo", Special::flat_scratch_lo, 1},
    {"flat_scratch_hi", Special::flat_scratch_hi, 1},
    {"xnack_mask", Special::xnack_mask, 2},
    {"xnack_mask_lo", Special::xnack_mask_lo, 1},
    {"xnack_mask_hi", Special::xnack_mask_hi, 1},
};

/// Modifiers that are a single word. Anything else without a colon is an error.
constexpr std::string_view kFlags[] = {
    "offen",
    "idxen",
    "addr64",
    "glc",
    "slc",
    "dlc",
    "scc",
    "sc0",
    "sc1",
    "nt",
    "lds",
    "tfe",
    "lwe",
    "clamp",
    "gds",
    "da",
    "nv",
    "r128",
    "a16",
    "d16",
    "unorm",
    "done",
    "vm",
    "compr",
    "high",
    "row_mirror",
    "row_half_mirror",
    "matrix_a_reuse",
    "matrix_b_reuse",
    "scale_offset",
};

struct SuffixName {
  std::string_view suffix;
  Encoding encoding;
};
constexpr SuffixName kSuffixes[] = {
    {"_e64_dpp", Encoding::e64_dpp}, {"_dpp", Encoding::dpp},   {"_e32", Encoding::e32},
    {"_e64", Encoding::e64},         {"_sdwa", Encoding::sdwa},
};

/// Instructions whose whole argument is an expression over counters or messages.
bool takes_expression(std::string_view mnemonic) {
  return mnemonic.starts_with("s_waitcnt") || mnemonic == "s_delay_alu" ||
         mnemonic == "s_wait_alu" || mnemonic.starts_with("s_sendmsg");
}

bool is_branch(std::string_view mnemonic) {
  return mnemonic == "s_branch" || mnemonic.starts_with("s_cbranch_") || mnemonic == "s_call_b64" ||
         mnemonic.starts_with("s_subvector_loop");
}

bool parse_special(std::string_view text, Operand& out) {
  if (text == "off") {
    out.kind = OperandKind::off;
    return true;
  }
  for (const SpecialName& entry : kSpecials) {
    if (entry.name != text) continue;
    out.kind = OperandKind::special;
    out.special = entry.special;
    out.count = entry.count;
    return true;
  }
  return false;
}

struct FilePrefix {
  std::string_view prefix;
  OperandKind kind;
};
constexpr FilePrefix kFiles[] = {{"ttmp", OperandKind::ttmp},
                                 {"v", OperandKind::vgpr},
                                 {"s", OperandKind::sgpr},
                                 {"a", OperandKind::agpr}};

/// "12" or "[2:3]" or "[5]" after the register file's letter.
bool parse_range(std::string_view text, Operand& out) {
  const bool bracketed = text.size() >= 3 && text.front() == '[' && text.back() == ']';
  if (bracketed) text = text.substr(1, text.size() - 2);
  const size_t colon = bracketed ? text.find(':') : std::string_view::npos;
  const auto first = scan_unsigned(text.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : scan_unsigned(text.substr(colon + 1));
  if (!first || !last || *last < *first || *last > 1023) return false;
  out.index = static_cast<uint16_t>(*first);
  out.count = static_cast<uint16_t>(*last - *first + 1);
  return true;
}

bool parse_register(std::string_view text, Operand& out) {
  if (text.ends_with(".l") || text.ends_with(".h")) {
    out.half = text.back() == 'l' ? Half::low : Half::high;
    text.remove_suffix(2);
  }
  for (const FilePrefix& file : kFiles) {
    if (!text.starts_with(file.prefix)) continue;
    out.kind = file.kind;
    if (parse_range(text.substr(file.prefix.size()), out)) return true;
  }
  out.half = Half::whole;
  return false;
}

bool parse_number(std::string_view text, Operand& out) {
  for (const std::string_view literal : {"lit(", "lit64("})  // literals that inline constants equal
    if (text.starts_with(literal) && text.ends_with(")"))
      text = text.substr(literal.size(), text.size() - literal.size() - 1);
  if (const auto value = scan_integer(text)) {
    out.kind = OperandKind::integer;
    out.integer = *value;
    out.hexadecimal = text.find("0x") != std::string_view::npos;
    return true;
  }
  if (const auto value = scan_real(text)) {
    out.kind = OperandKind::floating;
    out.real = *value;
    return true;
  }
  return false;
}

/// Takes one layer of sign, bars, neg(), abs() or sext() off `text`.
bool strip_layer(std::string_view& text, Operand& out) {
  const auto call = [&](std::string_view name) {
    if (!text.starts_with(name) || !text.ends_with(")")) return false;
    text = text.substr(name.size(), text.size() - name.size() - 1);
    return true;
  };
  if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
    text = text.substr(1, text.size() - 2);
    return out.absolute = true;
  }
  if (text.size() > 1 && text.front() == '-') {
    text.remove_prefix(1);
    return out.negate = true;
  }
  if (call("neg(")) return out.negate = true;
  if (call("abs(")) return out.absolute = true;
  if (call("sext(")) return out.sign_extend = true;
  return false;
}

bool parse_operand(std::string_view text, Operand& out) {
  for (int layer = 0; layer < 4; ++layer) {
    out.text = text;
    if (parse_number(text, out) || parse_special(text, out) || parse_register(text, out)) {
      return true;
    }
    if (!strip_layer(text, out)) break;
  }
  const size_t open = text.find('(');
  if (open == std::string_view::npos || open == 0 || text.back() != ')') return false;
  if (!is_word(text.substr(0, open))) return false;
  out.kind = OperandKind::symbolic;
  return true;
}

bool parse_list(std::string_view text, Modifier& out) {
  text = text.substr(1, text.size() - 2);
  for (const std::string_view part : split_top_level(text, ',')) {
    const auto value = scan_integer(trim(part));
    if (!value) {
      out.values.clear();
      out.word = text;
      return !text.empty();
    }
    out.values.push_back(*value);
  }
  return true;
}

bool parse_modifier(std::string_view text, Modifier& out) {
  const size_t colon = text.find(':');
  out.name = text.substr(0, colon);
  if (colon == std::string_view::npos) {
    return std::find(std::begin(kFlags), std::end(kFlags), text) != std::end(kFlags);
  }
  const std::string_view value = text.substr(colon + 1);
  if (!is_word(out.name) || value.empty()) return false;
  if (value.front() == '[' && value.back() == ']') return parse_list(value, out);
  if (const auto number = scan_integer(value)) {
    out.values.push_back(*number);
    return true;
  }
  if (value.starts_with("swizzle(")) {
    const auto pattern = swizzle_pattern(value);
    if (pattern) out.values.push_back(*pattern);
    return pattern.has_value();
  }
  out.word = value;
  return is_word(value);
}

Error text_error(std::string_view text, uint64_t address, std::string what, std::string_view part) {
  return Error{.code = Code::unusable,
               .reason = "instruction-text",
               .where = cat("instruction at ", hex(address), " '", text, "'"),
               .what = std::move(what),
               .expected = "AMDGPU assembly as LLVM prints it",
               .found = std::string(part),
               .advice = {}};
}

void split_mnemonic(std::string_view word, Instruction& out) {
  for (const SuffixName& entry : kSuffixes) {
    if (!word.ends_with(entry.suffix)) continue;
    word.remove_suffix(entry.suffix.size());
    out.encoding = entry.encoding;
    break;
  }
  out.mnemonic = word;
}

/// Branch offsets count dwords from the end of the instruction.
void resolve_branch(Instruction& out) {
  if (!is_branch(out.mnemonic) || out.operands.empty()) return;
  Operand& last = out.operands.back();
  if (last.kind != OperandKind::integer) return;
  const auto words = static_cast<int16_t>(last.integer);
  last.kind = OperandKind::target;
  last.integer = static_cast<int64_t>(out.address + out.size) + int64_t{4} * words;
}

/// One comma-separated piece: an operand and, in the last piece, the modifiers after it.
Result<void> parse_piece(std::string_view piece, std::string_view line, Instruction& out) {
  bool first = true;
  for (const std::string_view token : split_top_level(piece, ' ')) {
    if (token.empty()) continue;
    Operand operand;
    if (first && parse_operand(token, operand)) {
      out.operands.push_back(std::move(operand));
    } else {
      Modifier modifier;
      if (!parse_modifier(token, modifier)) {
        return text_error(line, out.address, "neither an operand nor a modifier", token);
      }
      out.modifiers.push_back(std::move(modifier));
    }
    first = false;
  }
  if (first) return text_error(line, out.address, "an operand is missing", piece);
  return {};
}

Result<void> parse_half(std::string_view text, std::string_view line, Instruction& out) {
  const size_t space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  if (!is_word(word)) return text_error(line, out.address, "no mnemonic", word);
  split_mnemonic(word, out);
  const std::string_view rest =
      space == std::string_view::npos ? std::string_view() : trim(text.substr(space));
  if (rest.empty()) return {};
  if (takes_expression(out.mnemonic) && !scan_integer(rest) &&
      rest.find(',') == std::string_view::npos) {
    Operand operand;
    operand.kind = OperandKind::symbolic;
    operand.text = rest;
    out.operands.push_back(std::move(operand));
    return {};
  }
  for (const std::string_view piece : split_top_level(rest, ',')) {
    HIPPLAN_TRY(parse_piece(trim(piece), line, out));
  }
  resolve_branch(out);
  return {};
}

}  // namespace

uint64_t Operand::bits(unsigned width, bool float_operand) const {
  if (kind == OperandKind::floating) {
    if (width == 64) return std::bit_cast<uint64_t>(real);
    if (width == 16) return double_to_half(real);
    return std::bit_cast<uint32_t>(static_cast<float>(real));
  }
  const auto raw = static_cast<uint64_t>(integer);
  if (width == 64) {
    return hexadecimal && float_operand && raw <= UINT32_MAX ? raw << 32 : raw;
  }
  return width == 16 ? raw & 0xffff : raw & 0xffffffff;
}

const Modifier* Instruction::find(std::string_view name) const {
  for (const Modifier& modifier : modifiers) {
    if (modifier.name == name) return &modifier;
  }
  return nullptr;
}

int64_t Instruction::value(std::string_view name, int64_t otherwise) const {
  return element(name, 0, otherwise);
}

int64_t Instruction::element(std::string_view name, size_t i, int64_t otherwise) const {
  const Modifier* modifier = find(name);
  return modifier != nullptr && i < modifier->values.size() ? modifier->values[i] : otherwise;
}

std::optional<uint64_t> Instruction::branch_target() const {
  for (const Operand& operand : operands) {
    if (operand.kind == OperandKind::target) return static_cast<uint64_t>(operand.integer);
  }
  return std::nullopt;
}

Result<Instruction> parse_instruction(std::string_view text, uint64_t address, uint32_t size) {
  Instruction out;
  out.address = address;
  out.size = size;
  const std::string_view line = trim(text);
  const size_t pair = line.find(" :: ");
  HIPPLAN_TRY(parse_half(line.substr(0, pair), line, out));
  if (pair == std::string_view::npos) return out;
  Instruction second;
  second.address = address;
  HIPPLAN_TRY(parse_half(trim(line.substr(pair + 4)), line, second));
  out.second.push_back(std::move(second));
  return out;
}

}  // namespace hipplan::disassembly
