// Instructions to operations: every operand and modifier is checked here, once per kernel.
#include <algorithm>

#include "base/hex.h"
#include "device/emulator/packed.h"
#include "device/emulator/semantics.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

using disassembly::Operand;
using disassembly::OperandKind;
using disassembly::Special;

namespace {

std::string place_of(const Instruction& instruction) {
  return "instruction at " + hex(instruction.address);
}

unsigned words_of(Type type, unsigned lanes) {
  if (type == Type::mask) return lanes / 32;
  return std::max(1u, bits_of(type) / 32);
}

Error bad_operand(const std::string& what) {
  return {.code = Code::unusable, .reason = "operand", .what = what};
}

/// Number of a named scalar register, or -1 for the ones that are no register.
int scalar_number(Special special) {
  switch (special) {
    case Special::vcc:
    case Special::vcc_lo:
      return scalar::kVcc;
    case Special::vcc_hi:
      return scalar::kVcc + 1;
    case Special::exec:
    case Special::exec_lo:
      return scalar::kExec;
    case Special::exec_hi:
      return scalar::kExec + 1;
    case Special::m0:
      return scalar::kM0;
    case Special::null:
      return scalar::kNull;
    case Special::flat_scratch:
    case Special::flat_scratch_lo:
      return scalar::kFlatScratch;
    case Special::flat_scratch_hi:
      return scalar::kFlatScratch + 1;
    case Special::xnack_mask:
    case Special::xnack_mask_lo:
      return scalar::kXnackMask;
    case Special::xnack_mask_hi:
      return scalar::kXnackMask + 1;
    default:
      return -1;
  }
}

Result<Source> special_source(const Operand& operand, Source source) {
  const int number = scalar_number(operand.special);
  if (number >= 0) {
    source.place = Place::sgpr;
    source.index = static_cast<uint16_t>(number);
    return source;
  }
  switch (operand.special) {
    case Special::scc:
      source.place = Place::scc;
      return source;
    case Special::vccz:
      source.place = Place::vccz;
      return source;
    case Special::execz:
      source.place = Place::execz;
      return source;
    case Special::shared_base:
      source.constant = kSharedAperture;
      break;
    case Special::private_base:
      source.constant = kPrivateAperture;
      break;
    case Special::shared_limit:
      source.constant = kSharedAperture | 0xffffffffull;
      break;
    case Special::private_limit:
      source.constant = kPrivateAperture | 0xffffffffull;
      break;
    default:
      return bad_operand(cat("register '", operand.text, "' is not supported"));
  }
  source.place = Place::constant;
  return source;
}

/// Row or scalar number of a register operand, checked against what the kernel owns.
Result<uint16_t> register_number(const Operand& operand, const Lowering::Settings& settings) {
  unsigned limit = 0, base = 0;
  switch (operand.kind) {
    case OperandKind::vgpr:
      limit = settings.vgprs;
      break;
    case OperandKind::agpr:
      limit = settings.acc_vgprs;
      base = kAccRow;
      break;
    case OperandKind::sgpr:
      limit = 106;
      break;
    case OperandKind::ttmp:
      limit = 16;
      base = scalar::kTtmp;
      break;
    default:
      return bad_operand(cat("'", operand.text, "' is not a register"));
  }
  if (operand.index + operand.count > limit)
    return Error{.code = Code::unusable,
                 .reason = "register-out-of-range",
                 .what = "an operand is beyond the registers that the kernel descriptor asks for",
                 .expected = cat("at most ", limit),
                 .found = operand.text};
  return static_cast<uint16_t>(operand.index + base);
}

void finish_source(Source& source) {
  source.simple = source.place == Place::vgpr && source.part == Part::dword && !source.dpp &&
                  bits_of(source.type) == 32 && source.type != Type::mask && source.keep == ~0ull &&
                  source.flip == 0;
}

Result<Part> part_named(const std::string& word) {
  constexpr std::pair<std::string_view, Part> kParts[] = {
      {"DWORD", Part::dword},  {"WORD_0", Part::word0}, {"WORD_1", Part::word1},
      {"BYTE_0", Part::byte0}, {"BYTE_1", Part::byte1}, {"BYTE_2", Part::byte2},
      {"BYTE_3", Part::byte3}};
  for (const auto& [name, part] : kParts)
    if (name == word) return part;
  return bad_operand(cat("unknown SDWA selection '", word, "'"));
}

/// One DPP modifier into `dpp`; false when the name is none.
bool dpp_modifier(const disassembly::Modifier& modifier, Dpp& dpp) {
  using Kind = Dpp::Kind;
  constexpr std::pair<std::string_view, Kind> kKinds[] = {
      {"row_shl", Kind::row_shl},
      {"row_shr", Kind::row_shr},
      {"row_ror", Kind::row_ror},
      {"wave_shl", Kind::wave_shl},
      {"wave_rol", Kind::wave_rol},
      {"wave_shr", Kind::wave_shr},
      {"wave_ror", Kind::wave_ror},
      {"row_mirror", Kind::row_mirror},
      {"row_half_mirror", Kind::row_half_mirror},
      {"row_share", Kind::row_share},
      {"row_xmask", Kind::row_xmask},
      {"row_newbcast", Kind::row_newbcast}};
  const uint32_t first =
      modifier.values.empty() ? 0 : static_cast<uint32_t>(modifier.values.front());
  for (const auto& [name, kind] : kKinds) {
    if (modifier.name != name) continue;
    dpp.kind = kind;
    dpp.control = first & 15u;
    return true;
  }
  const auto packed = [&](unsigned width) {
    uint32_t bits = 0;
    for (size_t i = 0; i < modifier.values.size() && i * width < 32; ++i)
      bits |= static_cast<uint32_t>(modifier.values[i] & ((1 << width) - 1)) << (i * width);
    return bits;
  };
  if (modifier.name == "quad_perm") {
    dpp.kind = Kind::quad_perm;
    dpp.control = packed(2);
  } else if (modifier.name == "dpp8") {
    dpp.kind = Kind::dpp8;
    dpp.control = packed(3);
    dpp.bound_zero = true;
  } else if (modifier.name == "row_bcast")
    dpp.kind = first == 31 ? Kind::row_bcast31 : Kind::row_bcast15;
  else if (modifier.name == "row_mask")
    dpp.row_mask = static_cast<uint8_t>(first & 15u);
  else if (modifier.name == "bank_mask")
    dpp.bank_mask = static_cast<uint8_t>(first & 15u);
  else if (modifier.name == "bound_ctrl")
    dpp.bound_zero = true;
  else if (modifier.name == "fi")
    dpp.fetch_inactive = first != 0 || modifier.values.empty();
  else
    return false;
  return true;
}

bool packed_modifier(const disassembly::Modifier& modifier, Packed& packed) {
  if (modifier.name == "op_sel")
    packed.op_sel = list_bits(modifier);
  else if (modifier.name == "op_sel_hi")
    packed.op_sel_hi = list_bits(modifier);
  else if (modifier.name == "neg_lo")
    packed.neg_lo = list_bits(modifier);
  else if (modifier.name == "neg_hi")
    packed.neg_hi = list_bits(modifier);
  else
    return false;
  return true;
}

/// op_sel of 16-bit instructions: which half of each source, last of the destination.
void select_halves(uint8_t op_sel, Op& op) {
  for (unsigned i = 0; i < op.source_count; ++i)
    if (bits_of(op.from[i].type) == 16 && ((op_sel >> i) & 1u) != 0) {
      op.from[i].part = Part::word1;
    }
  const bool high = ((op_sel >> op.source_count) & 1u) != 0;
  if (bits_of(op.to.type) == 16 && high) {
    op.to.part = Part::word1;
    op.to.rest = Destination::Rest::keep;
  }
}

Result<bool> sdwa_modifier(const disassembly::Modifier& modifier, Op& op) {
  if (modifier.name == "src0_sel" || modifier.name == "src1_sel") {
    HIPPLAN_TRY_ASSIGN(const Part part, part_named(modifier.word));
    Source& source = op.from[modifier.name == "src1_sel" ? 1 : 0];
    if (!(part == Part::dword && bits_of(source.type) == 16)) source.part = part;
    return true;
  }
  if (modifier.name == "dst_sel") {
    HIPPLAN_TRY_ASSIGN(const Part part, part_named(modifier.word));
    if (!(part == Part::dword && bits_of(op.to.type) == 16)) op.to.part = part;
    return true;
  }
  if (modifier.name != "dst_unused") return false;
  op.to.rest = modifier.word == "UNUSED_SEXT"       ? Destination::Rest::sign
               : modifier.word == "UNUSED_PRESERVE" ? Destination::Rest::keep
                                                    : Destination::Rest::zero;
  return true;
}

Result<bool> output_modifier(const disassembly::Modifier& modifier, const Semantics& entry,
                             Op& op) {
  if (modifier.name == "clamp") {
    if (!is_float(op.to.type) && (entry.flags & kIntegerClamp) == 0) return false;
    op.clamp = true;
    return true;
  }
  const int64_t value = modifier.values.empty() ? 0 : modifier.values.front();
  if (modifier.name == "mul" && value == 2)
    op.output_scale = 1;
  else if (modifier.name == "mul" && value == 4)
    op.output_scale = 2;
  else if (modifier.name == "div" && value == 2)
    op.output_scale = 3;
  else
    return false;
  return is_float(op.to.type);
}

void fell_off_the_end(Wave& wave, const Op&) {
  wave.fail({.reason = "end-of-code", .what = "the kernel runs past its last instruction"});
}

}  // namespace

Error operand_error(const Instruction& instruction, const std::string& what) {
  return Error{.code = Code::unusable,
               .reason = "operand",
               .where = place_of(instruction),
               .what = cat(instruction.mnemonic, ": ", what)};
}
Error modifier_error(const Instruction& instruction, std::string_view modifier) {
  return Error{.code = Code::unusable,
               .reason = "modifier",
               .where = place_of(instruction),
               .what = cat(instruction.mnemonic, ": modifier '", modifier, "' is not supported")};
}

Result<Source> Lowering::source(const Operand& operand, Type type, unsigned words) const {
  Source source;
  source.type = type;
  source.words = static_cast<uint8_t>(words != 0 ? words : words_of(type, settings_.lanes));
  const unsigned width = type == Type::mask ? settings_.lanes : bits_of(type);
  if (width == 16) source.part = Part::word0;
  if (operand.half == disassembly::Half::high) source.part = Part::word1;
  const uint64_t sign = 1ull << (width - 1);
  if (operand.absolute) source.keep = ~sign;
  if (operand.negate) source.flip = sign;
  source.sign_extend = operand.sign_extend;
  if (operand.is_constant()) {
    source.place = Place::constant;
    source.constant = operand.bits(width, is_float(type));
  } else if (operand.kind == OperandKind::special) {
    HIPPLAN_TRY_ASSIGN(source, special_source(operand, source));
    const bool register_pair = source.place == Place::sgpr && source.index != scalar::kNull;
    if (register_pair && operand.count != source.words)
      return bad_operand(cat("'", operand.text, "' has the wrong width"));
  } else {
    if (operand.is_register() && operand.count != source.words)
      return bad_operand(cat("'", operand.text, "' does not have ", int{source.words}, " dwords"));
    HIPPLAN_TRY_ASSIGN(source.index, register_number(operand, settings_));
    const bool vector = operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
    source.place = vector ? Place::vgpr : Place::sgpr;
    if (vector && type == Type::mask) return bad_operand("a condition mask must be scalar");
  }
  finish_source(source);
  return source;
}

Result<Destination> Lowering::destination(const Operand& operand, Type type, unsigned words) const {
  Destination to;
  to.type = type;
  to.words = static_cast<uint8_t>(words != 0 ? words : words_of(type, settings_.lanes));
  if (bits_of(type) == 16) {
    to.part = operand.half == disassembly::Half::high ? Part::word1 : Part::word0;
    to.rest = is_gfx9() ? Destination::Rest::zero : Destination::Rest::keep;
  }
  if (operand.kind == OperandKind::special) {
    const int number = scalar_number(operand.special);
    if (number < 0) return bad_operand(cat("'", operand.text, "' cannot be written"));
    to.place = Place::sgpr;
    to.index = static_cast<uint16_t>(operand.special == Special::null ? scalar::kTrash : number);
    if (operand.special != Special::null && operand.count != to.words)
      return bad_operand(cat("'", operand.text, "' has the wrong width"));
    return to;
  }
  if (!operand.is_register() || operand.count != to.words)
    return bad_operand(cat("'", operand.text, "' is not a register of ", int{to.words}, " dwords"));
  HIPPLAN_TRY_ASSIGN(to.index, register_number(operand, settings_));
  const bool vector = operand.kind == OperandKind::vgpr || operand.kind == OperandKind::agpr;
  to.place = vector ? Place::vgpr : Place::sgpr;
  return to;
}

Source Lowering::scalar_source(unsigned number, Type type) const {
  Source source;
  source.place = Place::sgpr;
  source.type = type;
  source.index = static_cast<uint16_t>(number);
  source.words = static_cast<uint8_t>(words_of(type, settings_.lanes));
  return source;
}
Destination Lowering::scalar_destination(unsigned number, Type type) const {
  Destination to;
  to.place = Place::sgpr;
  to.type = type;
  to.index = static_cast<uint16_t>(number);
  to.words = static_cast<uint8_t>(words_of(type, settings_.lanes));
  return to;
}

Result<void> Lowering::by_shape(const Instruction& instruction, const Semantics& entry,
                                Op& op) const {
  const auto& operands = instruction.operands;
  const Shape& shape = entry.shape;
  size_t at = 0;
  const size_t results = (shape.to != Type::none ? 1u : 0u) + (shape.also != Type::none ? 1u : 0u);
  const size_t hidden = (entry.flags & kReadsVcc) != 0 ? 1 : 0;
  const bool accumulates = operands.size() + hidden + 1 == results + shape.sources;
  if (!accumulates && operands.size() + hidden != results + shape.sources)
    return operand_error(instruction, cat("expected ", results + shape.sources - hidden,
                                          " operands, found ", operands.size()));
  if (shape.to != Type::none) {
    HIPPLAN_TRY_ASSIGN(op.to, destination(operands[at++], shape.to));
    const bool vector = (entry.flags & kVector) != 0 && shape.to != Type::mask;
    if ((op.to.place == Place::vgpr) != vector)
      return operand_error(instruction, "the result goes to the wrong kind of register");
  }
  if (shape.also != Type::none) {
    HIPPLAN_TRY_ASSIGN(op.also, destination(operands[at++], shape.also));
    if (op.also.place != Place::sgpr)
      return operand_error(instruction, "the second result must be scalar");
  }
  op.source_count = shape.sources;
  op.selects = instruction.mnemonic.rfind("v_cndmask", 0) == 0;
  for (unsigned i = 0; i < shape.sources; ++i) {
    const bool last = i + 1u == shape.sources;
    if (last && hidden != 0) {
      op.from[i] = scalar_source(scalar::kVcc, shape.from[i]);
    } else {
      const Operand& operand = last && accumulates ? operands[0] : operands[at++];
      HIPPLAN_TRY_ASSIGN(op.from[i], source(operand, shape.from[i]));
    }
    if ((entry.flags & kVector) == 0 && op.from[i].place == Place::vgpr)
      return operand_error(instruction, "a scalar instruction cannot read a vector register");
  }
  if ((entry.flags & kKeepsHigh) != 0 && bits_of(op.to.type) == 16)
    op.to.rest = Destination::Rest::keep;
  return modifiers(instruction, entry, op);
}

Result<void> Lowering::modifiers(const Instruction& instruction, const Semantics& entry,
                                 Op& op) const {
  const bool vector = (entry.flags & kVector) != 0;
  for (const auto& modifier : instruction.modifiers) {
    if (!vector) return modifier_error(instruction, modifier.name);
    if (dpp_modifier(modifier, op.dpp)) continue;
    if (packed_modifier(modifier, op.packed)) continue;
    HIPPLAN_TRY_ASSIGN(const bool sdwa, sdwa_modifier(modifier, op));
    if (sdwa) continue;
    HIPPLAN_TRY_ASSIGN(const bool output, output_modifier(modifier, entry, op));
    if (!output) return modifier_error(instruction, modifier.name);
  }
  const bool own = (entry.flags & kOwnOpSel) != 0;
  if (!own && (op.packed.neg_lo | op.packed.neg_hi) != 0)
    return modifier_error(instruction, "neg_lo/neg_hi");
  if (!own && op.packed.op_sel != 0) select_halves(op.packed.op_sel, op);
  if (op.dpp.kind != Dpp::Kind::none) op.from[0].dpp = true;
  for (unsigned i = 0; i < op.source_count; ++i) finish_source(op.from[i]);
  const bool whole = op.to.part == Part::dword;
  const bool float_clamp = op.clamp && is_float(op.to.type);
  op.plain = whole && !float_clamp && op.output_scale == 0;
  return {};
}

void Lowering::push(const Op& op) {
  Op copy = op;
  copy.line = line_;
  copy.self = static_cast<uint32_t>(ops_.size());
  copy.next = copy.self + 1;
  ops_.push_back(copy);
}

void Lowering::branch_to(uint64_t address) {
  targets_.emplace_back(static_cast<uint32_t>(ops_.size()), address);
}

Result<void> Lowering::add(const Instruction& instruction, uint32_t line) {
  const Semantics* entry = find_semantics(instruction.mnemonic);
  if (entry == nullptr)
    return Error{.code = Code::unusable,
                 .reason = "unknown-instruction",
                 .where = place_of(instruction),
                 .what = cat("the emulator does not know ", instruction.mnemonic)};
  entry_ = entry;
  line_ = line;
  const size_t start = ops_.size();
  starts_.emplace_back(instruction.address, static_cast<uint32_t>(ops_.size()));
  Op op;
  op.run = entry->run;
  op.directed = entry->directed;
  op.vector = (entry->flags & kVector) != 0;
  const Result<void> done = entry->lower != nullptr ? entry->lower(instruction, *this, op)
                                                    : by_shape(instruction, *entry, op);
  if (!done)
    return done.error().where.empty() ? done.error().within(place_of(instruction)) : done.error();
  if (op.run != nullptr) push(op);
  for (size_t i = start; i < ops_.size(); ++i) {
    ops_[i].first = i == start;
    ops_[i].last = i + 1 == ops_.size();
  }
  return {};
}

std::optional<uint32_t> CodeMap::find(uint64_t address) const {
  const auto found =
      std::lower_bound(starts.begin(), starts.end(), std::pair<uint64_t, uint32_t>{address, 0});
  if (found == starts.end() || found->first != address) return std::nullopt;
  return found->second;
}

void Lowering::end_of_code() {
  Op guard;
  guard.run = fell_off_the_end;
  push(guard);
}

Result<std::vector<Op>> Lowering::finish() {
  end_of_code();
  for (Op& op : ops_) {
    if (follow_m0_ == nullptr || op.to.place != Place::sgpr || op.to.index != scalar::kM0) continue;
    op.followed = op.run;
    op.run = follow_m0_;
  }
  std::sort(starts_.begin(), starts_.end());
  code_map_->starts = starts_;
  for (auto& start : code_map_->starts) start.first += settings_.load_bias;
  for (const auto& [op, address] : targets_) {
    const auto found =
        std::lower_bound(starts_.begin(), starts_.end(), std::pair<uint64_t, uint32_t>{address, 0});
    if (found == starts_.end() || found->first != address)
      return Error{.code = Code::unusable,
                   .reason = "branch-target",
                   .what = "a branch leaves the kernel's code or lands inside an instruction",
                   .found = cat("target ", address)};
    ops_[op].target = found->second;
  }
  return std::move(ops_);
}

}  // namespace hipplan::emulator
