// Atomic memory instructions, in every space. Each lane's operation is one compare-and-swap loop on
// host memory, so that worker threads see each other's atomics. ISA documents, "FLAT, Scratch and
// Global Instructions", "MUBUF
// Instructions", "LDS & GDS Instructions".
#include <limits>

#include "device/emulator/atomic_functions.h"
#include "device/emulator/float_math.h"
#include "device/emulator/transfer.h"

namespace hipplan::emulator {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

namespace {

template <class B>
B read_rows(const Row* rows, int lane) {
  if constexpr (sizeof(B) == 4)
    return rows[0].lane[lane];
  else
    return rows[0].lane[lane] | static_cast<u64>(rows[1].lane[lane]) << 32;
}
template <class B>
void write_rows(Row* rows, int lane, B value) {
  rows[0].lane[lane] = static_cast<u32>(value);
  if constexpr (sizeof(B) == 8) rows[1].lane[lane] = static_cast<u32>(value >> 32);
}

/// new = F(old, data[, data2]); the old value is returned when the instruction asks for it.
template <auto F, class T>
void atomic_lanes(Wave& wave, const Op& op) {
  using B = Bits<T>;
  Places places;
  if (!find_places(wave, op, true, 0, places)) return;
  const Row* data = wave.rows + op.from[kData].index;
  const Row* data2 = wave.rows + op.from[kData2].index;
  for (u64 left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (places.at[lane] == nullptr) continue;
    if (!check_alignment(wave, reinterpret_cast<uintptr_t>(places.at[lane]), op.bytes, lane))
      return;
    auto* place = reinterpret_cast<B*>(places.at[lane]);
    const T value = from_bits<T>(read_rows<B>(data, lane));
    const T other = from_bits<T>(read_rows<B>(data2, lane));
    B old = __atomic_load_n(place, __ATOMIC_RELAXED);
    B next;
    do {
      next = to_bits(F(from_bits<T>(old), value, other));
    } while (
        !__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (op.returns) write_rows<B>(wave.rows + op.to.index, lane, old);
  }
  count_read(wave, op, moved_bytes(places, op.bytes));
  count_written(wave, op, moved_bytes(places, op.bytes));
}

template <class T>
struct DoFloat {
  static constexpr auto kAdd = [](T o, T d, T) { return o + d; };
  static constexpr auto kSwapIf = [](T o, T d, T c) { return o == c ? d : o; };
  static constexpr auto kMin = [](T o, T d, T) { return smaller(o, d); };
  static constexpr auto kMax = [](T o, T d, T) { return larger(o, d); };
};
/// Down by the data, or up by the second data when there is less.
constexpr auto kWrap = [](u32 o, u32 d, u32 up) { return o >= d ? o - d : o + up; };
template <class S, S (*Narrow)(float)>
u32 add_pair(u32 o, u32 d) {
  const S low = Narrow(widen(S{static_cast<uint16_t>(o)}) + widen(S{static_cast<uint16_t>(d)}));
  const S high =
      Narrow(widen(S{static_cast<uint16_t>(o >> 16)}) + widen(S{static_cast<uint16_t>(d >> 16)}));
  return static_cast<u32>(low.bits) | static_cast<u32>(high.bits) << 16;
}
Half to_half(float x) {
  return narrow_half(x);
}
BFloat to_bfloat(float x) {
  return narrow_bfloat(x);
}
constexpr auto kAddHalves = [](u32 o, u32 d, u32) { return add_pair<Half, to_half>(o, d); };
constexpr auto kAddBFloats = [](u32 o, u32 d, u32) { return add_pair<BFloat, to_bfloat>(o, d); };

/// DS operations: address, data, second data; "_rtn" ones print the result first.
Result<void> lower_lds_atomic(const Instruction& instruction, Lowering& lowering, Op& op) {
  const Transfer transfer = Transfer::from(lowering.entry().parameter);
  const bool returns = instruction.mnemonic.find("_rtn") != std::string::npos;
  const size_t at = returns ? 1 : 0;
  const unsigned words = transfer.words();
  op.space = Space::lds;
  op.bytes = transfer.bytes;
  op.returns = returns;
  if (instruction.operands.size() != at + 2 + (transfer.pair ? 1u : 0u))
    return operand_error(instruction, "unexpected operands");
  for (const auto& modifier : instruction.modifiers)
    if (modifier.name != "offset") return modifier_error(instruction, modifier.name);
  op.offset = instruction.value("offset");
  if (returns) {
    HIPPLAN_TRY_ASSIGN(op.to, lowering.destination(instruction.operands[0], Type::wide, words));
  }
  HIPPLAN_TRY_ASSIGN(op.from[kAddress], lowering.source(instruction.operands[at], Type::u32));
  HIPPLAN_TRY_ASSIGN(op.from[kData],
                     lowering.source(instruction.operands[at + 1], Type::wide, words));
  if (transfer.pair) {
    HIPPLAN_TRY_ASSIGN(op.from[kData2],
                       lowering.source(instruction.operands[at + 2], Type::wide, words));
    // ds_cmpst has the comparand first, ds_cmpstore the new value.
    if (instruction.mnemonic.find("cmpst_") != std::string::npos)
      std::swap(op.from[kData], op.from[kData2]);
  }
  for (const unsigned i : {unsigned{kAddress}, unsigned{kData}})
    if (op.from[i].place != Place::vgpr)
      return operand_error(instruction, "data and addresses must be vector registers");
  return {};
}
/// Compare-and-swap outside LDS: the comparand follows the new value in the data registers.
Result<void> lower_swap_if(const Instruction& instruction, Lowering& lowering, Op& op) {
  HIPPLAN_TRY(lower_vector_atomic(instruction, lowering, op));
  op.from[kData2] = op.from[kData];
  op.from[kData2].index = static_cast<uint16_t>(op.from[kData].index + op.bytes / 4);
  return {};
}

template <Space S, class T, auto F, bool Pair = false>
constexpr Semantics atomic(std::string_view name) {
  const Transfer transfer{S, sizeof(T), false, Part::dword, Pair};
  return {
      .mnemonic = name,
      .run = atomic_lanes<F, T>,
      .flags = kVector,
      .lower = S == Space::lds ? lower_lds_atomic : (Pair ? lower_swap_if : lower_vector_atomic),
      .parameter = transfer.pack()};
}

// clang-format off
/// FORMAT4 is the name that RDNA4 gives to FORMAT.
#define VECTOR_ATOMICS(P, S, FORMAT, FORMAT4)                                                                    \
  isa::each(FORMAT, FORMAT, FORMAT4),                                                                            \
  atomic<S, u32, Do<u32>::kSwap>(P "swap"), atomic<S, u64, Do<u64>::kSwap>(P "swap_x2"),                         \
  atomic<S, u32, Do<u32>::kSwapIf, true>(P "cmpswap"), atomic<S, u64, Do<u64>::kSwapIf, true>(P "cmpswap_x2"),   \
  atomic<S, u32, Do<u32>::kAdd>(P "add"), atomic<S, u64, Do<u64>::kAdd>(P "add_x2"),                             \
  atomic<S, u32, Do<u32>::kSub>(P "sub"), atomic<S, u64, Do<u64>::kSub>(P "sub_x2"),                             \
  atomic<S, i32, Do<i32>::kMin>(P "smin"), atomic<S, i64, Do<i64>::kMin>(P "smin_x2"),                           \
  atomic<S, u32, Do<u32>::kMin>(P "umin"), atomic<S, u64, Do<u64>::kMin>(P "umin_x2"),                           \
  atomic<S, i32, Do<i32>::kMax>(P "smax"), atomic<S, i64, Do<i64>::kMax>(P "smax_x2"),                           \
  atomic<S, u32, Do<u32>::kMax>(P "umax"), atomic<S, u64, Do<u64>::kMax>(P "umax_x2"),                           \
  atomic<S, u32, Do<u32>::kAnd>(P "and"), atomic<S, u64, Do<u64>::kAnd>(P "and_x2"),                             \
  atomic<S, u32, Do<u32>::kOr>(P "or"), atomic<S, u64, Do<u64>::kOr>(P "or_x2"),                                 \
  atomic<S, u32, Do<u32>::kXor>(P "xor"), atomic<S, u64, Do<u64>::kXor>(P "xor_x2"),                             \
  atomic<S, u32, Do<u32>::kIncrement>(P "inc"), atomic<S, u64, Do<u64>::kIncrement>(P "inc_x2"),                 \
  atomic<S, u32, Do<u32>::kDecrement>(P "dec"), atomic<S, u64, Do<u64>::kDecrement>(P "dec_x2"),                 \
  atomic<S, float, DoFloat<float>::kAdd>(P "add_f32"),                                                           \
  isa::cdna(FORMAT),                                                                                             \
  atomic<S, double, DoFloat<double>::kAdd>(P "add_f64"), atomic<S, double, DoFloat<double>::kMin>(P "min_f64"),  \
  atomic<S, double, DoFloat<double>::kMax>(P "max_f64"),                                                         \
  isa::each("", FORMAT, FORMAT4),                                                                                \
  atomic<S, float, DoFloat<float>::kMin>(P "min_f32"), atomic<S, float, DoFloat<float>::kMax>(P "max_f32"),      \
  isa::each(FORMAT, "", FORMAT4),                                                                                \
  atomic<S, u32, kAddHalves>(P "pk_add_f16"), atomic<S, u32, kAddBFloats>(P "pk_add_bf16"),                      \
  isa::rdna4(FORMAT4),                                                                                           \
  atomic<S, u32, Do<u32>::kSubClamp>(P "sub_clamp_u32"), atomic<S, u32, Do<u32>::kSubIf>(P "cond_sub_u32")
#define LDS_ATOMIC(NAME, TYPE, T, F) atomic<Space::lds, T, F>("ds_" NAME "_" TYPE), atomic<Space::lds, T, F>("ds_" NAME "_rtn_" TYPE)
#define LDS_PAIR(NAME, T, TYPE) atomic<Space::lds, T, Do<T>::kSwapIf, true>("ds_" NAME "_" TYPE), atomic<Space::lds, T, Do<T>::kSwapIf, true>("ds_" NAME "_rtn_" TYPE)
#define LDS_FLOAT_PAIR(NAME, T, TYPE) atomic<Space::lds, T, DoFloat<T>::kSwapIf, true>("ds_" NAME "_" TYPE), atomic<Space::lds, T, DoFloat<T>::kSwapIf, true>("ds_" NAME "_rtn_" TYPE)
#define LDS_MASK(NAME, T, TYPE) atomic<Space::lds, T, Do<T>::kMaskedOr, true>("ds_" NAME "_" TYPE), atomic<Space::lds, T, Do<T>::kMaskedOr, true>("ds_" NAME "_rtn_" TYPE)

constexpr Semantics kAtomicTable[] = {
    VECTOR_ATOMICS("global_atomic_", Space::global, "GLOBAL", "VGLOBAL"),
    VECTOR_ATOMICS("flat_atomic_", Space::flat, "FLAT", "VFLAT"),
    VECTOR_ATOMICS("buffer_atomic_", Space::buffer, "MUBUF", "VBUFFER"),

    isa::rdna3("GLOBAL"),
    atomic<Space::global, u32, Do<u32>::kSubClamp>("global_atomic_csub_u32"),

    atomic<Space::global, float, DoFloat<float>::kSwapIf, true>("global_atomic_cmpswap_f32"),

    isa::rdna3("FLAT"),
    atomic<Space::flat, float, DoFloat<float>::kSwapIf, true>("flat_atomic_cmpswap_f32"),

    isa::rdna3("MUBUF"),
    atomic<Space::buffer, float, DoFloat<float>::kSwapIf, true>("buffer_atomic_cmpswap_f32"),
    atomic<Space::buffer, u32, Do<u32>::kSubClamp>("buffer_atomic_csub_u32"),

    isa::none("a form of global_atomic_csub_u32 that no document has"),
    atomic<Space::flat, u32, Do<u32>::kSubClamp>("flat_atomic_csub_u32"),

    isa::all("DS"),
    LDS_ATOMIC("add", "u32", u32, Do<u32>::kAdd), LDS_ATOMIC("add", "u64", u64, Do<u64>::kAdd),
    LDS_ATOMIC("sub", "u32", u32, Do<u32>::kSub), LDS_ATOMIC("sub", "u64", u64, Do<u64>::kSub),
    LDS_ATOMIC("rsub", "u32", u32, Do<u32>::kReverseSub), LDS_ATOMIC("rsub", "u64", u64, Do<u64>::kReverseSub),
    LDS_ATOMIC("inc", "u32", u32, Do<u32>::kIncrement), LDS_ATOMIC("inc", "u64", u64, Do<u64>::kIncrement),
    LDS_ATOMIC("dec", "u32", u32, Do<u32>::kDecrement), LDS_ATOMIC("dec", "u64", u64, Do<u64>::kDecrement),
    LDS_ATOMIC("min", "i32", i32, Do<i32>::kMin), LDS_ATOMIC("min", "i64", i64, Do<i64>::kMin),
    LDS_ATOMIC("max", "i32", i32, Do<i32>::kMax), LDS_ATOMIC("max", "i64", i64, Do<i64>::kMax),
    LDS_ATOMIC("min", "u32", u32, Do<u32>::kMin), LDS_ATOMIC("min", "u64", u64, Do<u64>::kMin),
    LDS_ATOMIC("max", "u32", u32, Do<u32>::kMax), LDS_ATOMIC("max", "u64", u64, Do<u64>::kMax),
    LDS_ATOMIC("and", "b32", u32, Do<u32>::kAnd), LDS_ATOMIC("and", "b64", u64, Do<u64>::kAnd),
    LDS_ATOMIC("or", "b32", u32, Do<u32>::kOr), LDS_ATOMIC("or", "b64", u64, Do<u64>::kOr),
    LDS_ATOMIC("xor", "b32", u32, Do<u32>::kXor), LDS_ATOMIC("xor", "b64", u64, Do<u64>::kXor),
    atomic<Space::lds, u32, Do<u32>::kSwap>("ds_wrxchg_rtn_b32"), atomic<Space::lds, u64, Do<u64>::kSwap>("ds_wrxchg_rtn_b64"),
    LDS_ATOMIC("add", "f32", float, DoFloat<float>::kAdd), LDS_MASK("mskor", u32, "b32"),
    LDS_MASK("mskor", u64, "b64"),

    isa::cdna("DS"),
    LDS_PAIR("cmpst", u32, "b32"), LDS_PAIR("cmpst", u64, "b64"),
    LDS_FLOAT_PAIR("cmpst", float, "f32"), LDS_FLOAT_PAIR("cmpst", double, "f64"),
    LDS_ATOMIC("add", "f64", double, DoFloat<double>::kAdd),

    isa::rdna("DS"),
    LDS_PAIR("cmpstore", u32, "b32"), LDS_PAIR("cmpstore", u64, "b64"),

    isa::rdna3("DS"),
    LDS_FLOAT_PAIR("cmpstore", float, "f32"), LDS_FLOAT_PAIR("cmpstore", double, "f64"),

    isa::each("DS", "DS", ""),
    atomic<Space::lds, u32, kWrap, true>("ds_wrap_rtn_b32"),
    LDS_ATOMIC("min", "f32", float, DoFloat<float>::kMin), LDS_ATOMIC("max", "f32", float, DoFloat<float>::kMax),
    LDS_ATOMIC("min", "f64", double, DoFloat<double>::kMin), LDS_ATOMIC("max", "f64", double, DoFloat<double>::kMax),

    isa::rdna4("DS"),
    LDS_ATOMIC("sub_clamp", "u32", u32, Do<u32>::kSubClamp), LDS_ATOMIC("cond_sub", "u32", u32, Do<u32>::kSubIf),
    LDS_ATOMIC("min_num", "f32", float, DoFloat<float>::kMin), LDS_ATOMIC("max_num", "f32", float, DoFloat<float>::kMax),
    LDS_ATOMIC("min_num", "f64", double, DoFloat<double>::kMin), LDS_ATOMIC("max_num", "f64", double, DoFloat<double>::kMax),

    isa::each("DS", "", "DS"),
    LDS_ATOMIC("pk_add", "f16", u32, kAddHalves), LDS_ATOMIC("pk_add", "bf16", u32, kAddBFloats),
};
// clang-format on

}  // namespace

std::span<const Semantics> atomic_semantics() {
  return kAtomicTable;
}

}  // namespace hipplan::emulator
