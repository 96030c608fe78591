// Vector loads and stores: global, flat, scratch and buffer; the LDS forms share the data half.
// ISA documents, "FLAT, Scratch and Global Instructions" and "MUBUF Instructions".
#include "device/emulator/transpose.h"

namespace hipplan::emulator {
namespace {

using disassembly::Operand;
using disassembly::OperandKind;

/// Cache and coherence hints: one wavefront's accesses are in order here, whatever they say.
constexpr std::string_view kHints[] = {"glc", "slc", "dlc",   "sc0", "sc1",    "nt",
                                       "scc", "th",  "scope", "nv",  "format", "swz"};

Result<void> vector_only(const Instruction& instruction, Place place) {
  if (place == Place::vgpr) return {};
  return operand_error(instruction, "data and addresses must be vector registers");
}

/// vaddr, then for global and scratch a scalar base or "off".
Result<void> lower_address(const Instruction& instruction, const Operand* vector,
                           const Operand* base, const Lowering& lowering, Op& op) {
  op.saddr = op.space == Space::scratch || (base != nullptr && base->kind != OperandKind::off);
  op.from[kScalar].place = Place::constant;
  if (base != nullptr && base->kind != OperandKind::off) {
    const bool wide = op.space == Space::global;
    HIPPLAN_TRY_ASSIGN(op.from[kScalar], lowering.source(*base, wide ? Type::u64 : Type::u32));
    if (op.from[kScalar].place == Place::vgpr)
      return operand_error(instruction, "the base must be scalar");
  }
  if (vector == nullptr || vector->kind == OperandKind::off) return {};
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(*vector, op.saddr ? Type::u32 : Type::u64));
  return vector_only(instruction, op.from[kAddress].place);
}

Result<void> lower_buffer_address(const Instruction& instruction, size_t at,
                                  const Lowering& lowering, Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != at + 3) return operand_error(instruction, "unexpected operands");
  if (lowering.is_gfx9()) op.immediate |= kGfx9Buffer;
  const unsigned words = ((op.immediate & kOffsetRegister) != 0 ? 1u : 0u) +
                         ((op.immediate & kIndexRegister) != 0 ? 1u : 0u);
  if (words != 0) {
    HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(operands[at], Type::wide, words));
    HIPPLAN_TRY(vector_only(instruction, op.from[kAddress].place));
  }
  HIPPLAN_TRY_ASSIGN(op.from[kScalar], lowering.source(operands[at + 1], Type::wide, 4));
  HIPPLAN_TRY_ASSIGN(op.from[kScalarOffset], lowering.source(operands[at + 2], Type::u32));
  if (op.from[kScalar].place != Place::sgpr)
    return operand_error(instruction, "the resource must be scalar");
  return {};
}

}  // namespace

Result<void> lower_hints(const Instruction& instruction, Op& op) {
  for (const auto& modifier : instruction.modifiers) {
    bool known = modifier.name == "offset" || (op.lds && modifier.name == "lds");
    for (const auto hint : kHints) known = known || modifier.name == hint;
    if (op.space == Space::buffer) {
      if (modifier.name == "offen") {
        op.immediate |= kOffsetRegister;
        known = true;
      }
      if (modifier.name == "idxen") {
        op.immediate |= kIndexRegister;
        known = true;
      }
    }
    if (!known) return modifier_error(instruction, modifier.name);
  }
  op.offset = instruction.value("offset");
  return {};
}

Result<void> lower_result(const Instruction& instruction, size_t which, unsigned words,
                          const Lowering& lowering, Op& op) {
  if (instruction.operands.size() <= which) return operand_error(instruction, "too few operands");
  HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[which], Type::wide, words));
  return vector_only(instruction, op.to.place);
}
Result<void> lower_data(const Instruction& instruction, size_t which, unsigned words,
                        const Lowering& lowering, Op& op) {
  if (instruction.operands.size() <= which) return operand_error(instruction, "too few operands");
  HIPPLAN_TRY_ASSIGN(op.from[kData],
                     lowering.source(instruction.operands[which], Type::wide, words));
  return vector_only(instruction, op.from[kData].place);
}
Result<void> lower_lds_offset(const Instruction& instruction, Op& op) {
  if (instruction.operands.size() != 1) return operand_error(instruction, "expected 1 operand");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.offset = instruction.value("offset");
  op.space = Space::lds;
  return {};
}

Result<void> lower_place(const Instruction& instruction, size_t at, size_t base,
                         const Lowering& lowering, Op& op) {
  const auto& operands = instruction.operands;
  if (op.space == Space::buffer) return lower_buffer_address(instruction, at, lowering, op);
  const bool has_base = op.space != Space::flat;
  if (operands.size() != base + (has_base ? 1u : 0u))
    return operand_error(instruction, "unexpected operands");
  return lower_address(instruction, &operands[at], has_base ? &operands[base] : nullptr, lowering,
                       op);
}
Result<void> lower_base(const Instruction& instruction, size_t base, const Lowering& lowering,
                        Op& op) {
  const auto& operands = instruction.operands;
  if (operands.size() != base + 1) return operand_error(instruction, "unexpected operands");
  return lower_address(instruction, nullptr, &operands[base], lowering, op);
}

Result<void> lower_vector_load(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  if (instruction.has("lds")) return lower_lds_modifier(instruction, transfer.space, lowering, op);
  return lower_load_of(instruction, transfer, lowering, op);
}

Result<void> lower_load_of(const Instruction& instruction, const Transfer& transfer,
                           const Lowering& lowering, Op& op) {
  op.space = transfer.space;
  op.bytes = transfer.bytes;
  HIPPLAN_TRY(lower_hints(instruction, op));
  HIPPLAN_TRY(lower_result(instruction, 0, transfer.words(), lowering, op));
  return lower_place(instruction, 1, 2, lowering, op);
}

Result<void> lower_vector_store(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  op.space = transfer.space;
  op.bytes = transfer.bytes;
  HIPPLAN_TRY(lower_hints(instruction, op));
  const bool buffer = op.space == Space::buffer;
  HIPPLAN_TRY(lower_data(instruction, buffer ? 0 : 1, transfer.words(), lowering, op));
  return lower_place(instruction, buffer ? 1 : 0, 2, lowering, op);
}

Result<void> lower_vector_atomic(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  const unsigned data_words = transfer.bytes / 4u * (transfer.pair ? 2u : 1u);
  op.space = transfer.space;
  op.bytes = transfer.bytes;
  HIPPLAN_TRY(lower_hints(instruction, op));
  const size_t plain = op.space == Space::flat ? 2 : (op.space == Space::buffer ? 4 : 3);
  const bool buffer = op.space == Space::buffer;
  const auto& operands = instruction.operands;
  if (operands.size() < plain) return operand_error(instruction, "too few operands");
  const unsigned words = transfer.bytes / 4u;
  // A buffer atomic returns into its data registers; the others print the result first.
  const bool first = !buffer && operands.size() == plain + 1;
  op.returns = first || (buffer && (instruction.has("glc") || instruction.has("sc0")));
  const size_t at = buffer ? 1 : (first ? 1u : 0u), data = buffer ? 0 : at + 1;
  if (first) HIPPLAN_TRY(lower_result(instruction, 0, words, lowering, op));
  HIPPLAN_TRY(lower_data(instruction, data, data_words, lowering, op));
  if (buffer && op.returns) {
    op.to.place = Place::vgpr;
    op.to.index = op.from[kData].index;
    op.to.words = static_cast<uint8_t>(words);
  }
  return lower_place(instruction, at, data + 1, lowering, op);
}

namespace {

/// In waves of 64 a lane gets half of what it would in one of 32.
template <unsigned Bits, uint8_t Bytes, unsigned Group>
Result<void> lower_transposed(const Instruction& instruction, Lowering& lowering, Op& op) {
  const bool wide = lowering.settings().lanes == 64;
  const Transfer transfer{Space::global, static_cast<uint8_t>(wide ? Bytes / 2 : Bytes)};
  HIPPLAN_TRY(lower_load_of(instruction, transfer, lowering, op));
  op.bytes = Bytes;
  op.halved = wide;
  if (wide) op.run = load_transposed_wide<Bits, Bytes / 4, Group>;
  return {};
}
template <unsigned Bits, uint8_t Bytes, unsigned Group>
constexpr Semantics transposed_load(std::string_view name) {
  return {.mnemonic = name,
          .run = load_transposed<Bits, Bytes / 4, Group>,
          .flags = kVector,
          .lower = lower_transposed<Bits, Bytes, Group>};
}

// clang-format off
#define LOADS(PREFIX, SPACE)                                                          \
  memory_load<Transfer{SPACE, 4}>(PREFIX "load_dword"), memory_load<Transfer{SPACE, 8}>(PREFIX "load_dwordx2"), \
  memory_load<Transfer{SPACE, 12}>(PREFIX "load_dwordx3"), memory_load<Transfer{SPACE, 16}>(PREFIX "load_dwordx4"), \
  memory_load<Transfer{SPACE, 1}>(PREFIX "load_ubyte"), memory_load<Transfer{SPACE, 1, true}>(PREFIX "load_sbyte"), \
  memory_load<Transfer{SPACE, 2}>(PREFIX "load_ushort"), memory_load<Transfer{SPACE, 2, true}>(PREFIX "load_sshort"), \
  memory_load<Transfer{SPACE, 2, false, Part::word0}>(PREFIX "load_short_d16"), memory_load<Transfer{SPACE, 2, false, Part::word1}>(PREFIX "load_short_d16_hi"), \
  memory_load<Transfer{SPACE, 1, false, Part::word0}>(PREFIX "load_ubyte_d16"), memory_load<Transfer{SPACE, 1, false, Part::word1}>(PREFIX "load_ubyte_d16_hi"), \
  memory_load<Transfer{SPACE, 1, true, Part::word0}>(PREFIX "load_sbyte_d16"), memory_load<Transfer{SPACE, 1, true, Part::word1}>(PREFIX "load_sbyte_d16_hi")
#define STORES(PREFIX, SPACE)                                                         \
  memory_store<Transfer{SPACE, 4}>(PREFIX "store_dword"), memory_store<Transfer{SPACE, 8}>(PREFIX "store_dwordx2"), \
  memory_store<Transfer{SPACE, 12}>(PREFIX "store_dwordx3"), memory_store<Transfer{SPACE, 16}>(PREFIX "store_dwordx4"), \
  memory_store<Transfer{SPACE, 1}>(PREFIX "store_byte"), memory_store<Transfer{SPACE, 2}>(PREFIX "store_short"), \
  memory_store<Transfer{SPACE, 1, false, Part::word1}>(PREFIX "store_byte_d16_hi"), memory_store<Transfer{SPACE, 2, false, Part::word1}>(PREFIX "store_short_d16_hi")

template <Transfer T>
constexpr Semantics memory_load(std::string_view name) {
  return {.mnemonic = name, .run = load_lanes<T>, .flags = kVector, .lower = lower_vector_load, .parameter = T.pack()};
}
template <Transfer T>
constexpr Semantics memory_store(std::string_view name) {
  return {.mnemonic = name, .run = store_lanes<T>, .flags = kVector, .lower = lower_vector_store, .parameter = T.pack()};
}

constexpr Semantics kMemoryTable[] = {
    isa::each("GLOBAL", "GLOBAL", "VGLOBAL"),
    LOADS("global_", Space::global), STORES("global_", Space::global),

    isa::each("FLAT", "FLAT", "VFLAT"),
    LOADS("flat_", Space::flat), STORES("flat_", Space::flat),

    isa::each("SCRATCH", "SCRATCH", "VSCRATCH"),
    LOADS("scratch_", Space::scratch), STORES("scratch_", Space::scratch),

    isa::each("MUBUF", "MUBUF", "VBUFFER"),
    LOADS("buffer_", Space::buffer), STORES("buffer_", Space::buffer),

    isa::rdna4("VGLOBAL"),
    transposed_load<16, 16, 8>("global_load_tr_b128"), transposed_load<8, 8, 16>("global_load_tr_b64"),
};
// clang-format on

}  // namespace

std::span<const Semantics> memory_semantics() {
  return kMemoryTable;
}

}  // namespace hipplan::emulator
