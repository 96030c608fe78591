// Scalar memory instructions of gfx9 that write: stores, atomics. ISA documents, "Scalar Memory
// Operations" and "SMEM Instructions".
#include <algorithm>

#include "device/emulator/access.h"
#include "device/emulator/atomic_functions.h"
#include "device/emulator/buffer_resource.h"

namespace hipplan::emulator {
namespace {

using disassembly::OperandKind;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

/// from[0] base or resource, from[1] offset, from[2] data.
enum : unsigned { kBase = 0, kOffset = 1, kStored = kScalar };

/// Where the access goes, and how many bytes lie there at most.
struct ScalarPlace {
  uint64_t address = 0, room = ~0ull;
};
ScalarPlace place_of(const Wave& wave, const Op& op, bool buffer) {
  const uint64_t offset =
      (read_scalar(wave, op.from[kOffset]) & 0xffffffffull) + static_cast<uint64_t>(op.offset);
  if (!buffer) return {read_scalar(wave, op.from[kBase]) + offset};
  const BufferResource resource(wave.scalars + op.from[kBase].index, false);
  const uint64_t size = resource.scalar_size();
  return {resource.base + offset, offset > size ? 0 : size - offset};
}

/// Dwords beyond a buffer's size are dropped; addresses are dword-aligned by clearing low bits.
template <bool Buffer>
void store_words(Wave& wave, const Op& op) {
  const ScalarPlace place = place_of(wave, op, Buffer);
  const uint64_t address = place.address & ~3ull;
  const auto bytes = static_cast<unsigned>(std::min<uint64_t>(op.bytes, place.room & ~3ull));
  if (bytes == 0) return;
  std::byte* to = reach_scalar_write(wave, op, address, bytes);
  if (to == nullptr) return;
  std::memcpy(to, wave.scalars + op.from[kStored].index, bytes);
  wave.counters.bytes_written += bytes;
}

/// new = F(old, data, second data); beyond a buffer's size nothing happens and 0 comes back.
template <auto F, class T, bool Buffer>
void scalar_atomic(Wave& wave, const Op& op) {
  using B = Bits<T>;
  const ScalarPlace place = place_of(wave, op, Buffer);
  B old{};
  if (place.room >= sizeof(B)) {
    if (!check_alignment(wave, place.address, sizeof(B), -1)) return;
    std::byte* to = reach_scalar_write(wave, op, place.address, sizeof(B));
    if (to == nullptr) return;
    B data[2] = {};
    std::memcpy(data, wave.scalars + op.from[kStored].index, 4u * op.from[kStored].words);
    auto* memory = reinterpret_cast<B*>(to);
    old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    B next;
    do {
      next = to_bits(F(from_bits<T>(old), from_bits<T>(data[0]), from_bits<T>(data[1])));
    } while (!__atomic_compare_exchange_n(memory, &old, next, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_RELAXED));
    wave.counters.bytes_read += sizeof(B);
    wave.counters.bytes_written += sizeof(B);
  }
  if (op.returns) std::memcpy(wave.scalars + op.to.index, &old, sizeof(B));
}

/// Data, base or resource, then a number, a register, or a register with offset:n.
Result<void> lower_scalar_store(const Instruction& instruction, Lowering& lowering, Op& op) {
  const int64_t parameter = lowering.entry().parameter;
  const auto words = static_cast<unsigned>(parameter & 0xff);
  const bool buffer = (parameter & 0x100) != 0;
  const auto& operands = instruction.operands;
  if (operands.size() != 3) return operand_error(instruction, "expected 3 operands");
  HIPPLAN_TRY_ASSIGN(op.from[kStored], lowering.source(operands[0], Type::wide, words));
  HIPPLAN_TRY_ASSIGN(op.from[kBase], lowering.source(operands[1], Type::wide, buffer ? 4 : 2));
  if (op.from[kStored].place != Place::sgpr || op.from[kBase].place != Place::sgpr)
    return operand_error(instruction, "expected scalar registers");
  op.from[kOffset].place = Place::constant;
  if (operands[2].is_constant()) {
    op.offset = operands[2].integer;
  } else if (operands[2].kind != OperandKind::off) {
    HIPPLAN_TRY_ASSIGN(op.from[kOffset], lowering.source(operands[2], Type::u32));
  }
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name == "offset")
      op.offset = instruction.value("offset");
    else if (modifier.name != "glc")
      return modifier_error(instruction, modifier.name);
  op.bytes = static_cast<uint8_t>(4 * words);
  return {};
}
/// An atomic returns into its data registers.
Result<void> lower_scalar_atomic(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(lower_scalar_store(instruction, lowering, op));
  const auto words = static_cast<unsigned>(lowering.entry().parameter >> 16);
  op.returns = instruction.has("glc");
  if (!op.returns) return {};
  op.to.place = Place::sgpr;
  op.to.index = op.from[kStored].index;
  op.to.words = static_cast<uint8_t>(words);
  return {};
}

template <bool Buffer>
constexpr Semantics scalar_store(std::string_view name, int64_t words) {
  return {.mnemonic = name,
          .run = store_words<Buffer>,
          .lower = lower_scalar_store,
          .parameter = words | (Buffer ? 0x100 : 0)};
}
template <class T, auto F, bool Buffer, bool Pair = false>
constexpr Semantics atomic_entry(std::string_view name) {
  constexpr int64_t kWords = sizeof(T) / 4;
  return {.mnemonic = name,
          .run = scalar_atomic<F, T, Buffer>,
          .lower = lower_scalar_atomic,
          .parameter = kWords * (Pair ? 2 : 1) | (Buffer ? 0x100 : 0) | kWords << 16};
}

// clang-format off
#define WIDTHS(P, NAME, F, T32, T64, BUFFER) \
  atomic_entry<T32, Do<T32>::F, BUFFER>(P NAME), atomic_entry<T64, Do<T64>::F, BUFFER>(P NAME "_x2")
#define SCALAR_ATOMICS(P, BUFFER)                                                                          \
  WIDTHS(P, "swap", kSwap, u32, u64, BUFFER), WIDTHS(P, "add", kAdd, u32, u64, BUFFER), WIDTHS(P, "sub", kSub, u32, u64, BUFFER), \
  WIDTHS(P, "smin", kMin, i32, i64, BUFFER), WIDTHS(P, "umin", kMin, u32, u64, BUFFER),                        \
  WIDTHS(P, "smax", kMax, i32, i64, BUFFER), WIDTHS(P, "umax", kMax, u32, u64, BUFFER),                        \
  WIDTHS(P, "and", kAnd, u32, u64, BUFFER), WIDTHS(P, "or", kOr, u32, u64, BUFFER), WIDTHS(P, "xor", kXor, u32, u64, BUFFER), \
  WIDTHS(P, "inc", kIncrement, u32, u64, BUFFER), WIDTHS(P, "dec", kDecrement, u32, u64, BUFFER),              \
  atomic_entry<u32, Do<u32>::kSwapIf, BUFFER, true>(P "cmpswap"), atomic_entry<u64, Do<u64>::kSwapIf, BUFFER, true>(P "cmpswap_x2")

constexpr Semantics kScalarStoreTable[] = {
    isa::cdna("SMEM"),
    scalar_store<false>("s_store_dword", 1), scalar_store<false>("s_store_dwordx2", 2), scalar_store<false>("s_store_dwordx4", 4),
    scalar_store<true>("s_buffer_store_dword", 1), scalar_store<true>("s_buffer_store_dwordx2", 2), scalar_store<true>("s_buffer_store_dwordx4", 4),
    SCALAR_ATOMICS("s_atomic_", false), SCALAR_ATOMICS("s_buffer_atomic_", true),
    {.mnemonic = "s_atc_probe", .run = do_nothing, .lower = lower_nothing},
    {.mnemonic = "s_atc_probe_buffer", .run = do_nothing, .lower = lower_nothing},
};
// clang-format on

}  // namespace

std::span<const Semantics> scalar_store_semantics() {
  return kScalarStoreTable;
}

}  // namespace hipplan::emulator
