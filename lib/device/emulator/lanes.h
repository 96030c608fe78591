// Instructions that do the same thing in every lane: a plain function of lane values becomes a
// handler and a table entry. The function's parameter types say how operands are read:
//   uint32_t int32_t float, uint64_t int64_t double, uint16_t int16_t Half BFloat,
//   bool: one bit per lane of a condition mask. A last `bool&` is a second result (carry).
#pragma once

#include <bit>
#include <tuple>
#include <type_traits>
#include <utility>

#include "device/emulator/numbers.h"
#include "device/emulator/semantics.h"
#include "device/emulator/wave.h"

namespace hipplan::emulator {

/// How values of a lane type are kept in buffers: lanes of 16, 32 or 64 bits.
template <class T>
inline constexpr bool kIsHalfOf = false;
template <class T>
inline constexpr bool kIsHalfOf<HalfOf<T>> = true;

template <class T>
using Bits =
    std::conditional_t<std::is_same_v<T, bool>, uint32_t,
                       std::conditional_t<sizeof(T) == 2 || kIsHalfOf<T>, uint16_t,
                                          std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Type::mask;
  else if constexpr (kIsHalfOf<T>)
    return Type::f16;
  else if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::f64;
  else if constexpr (std::is_same_v<T, Half>)
    return Type::f16;
  else if constexpr (std::is_same_v<T, BFloat>)
    return Type::bf16;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return Type::u16;
  else if constexpr (std::is_same_v<T, int16_t>)
    return Type::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return Type::i32;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return Type::u64;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Type::i64;
  else
    return Type::u32;
}

template <class T>
struct alignas(64) Buffer {
  Buffer() {}  // leaves the lanes as they are: they are written before they are read
  Bits<T> lane[kMaxLanes];
};

#if defined(__clang__)
#define HIPPLAN_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define HIPPLAN_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

// Reading. Each returns the lanes of source `k`, in `scratch` or right in the register file.
const uint32_t* fetch_any(Wave& wave, const Op& op, unsigned k, uint32_t* scratch);
const uint64_t* fetch(Wave& wave, const Op& op, unsigned k, uint64_t* scratch);
const uint16_t* fetch(Wave& wave, const Op& op, unsigned k, uint16_t* scratch);
inline const uint32_t* fetch(Wave& wave, const Op& op, unsigned k, uint32_t* scratch) {
  const Source& source = op.from[k];
  if (source.simple && wave.direct) [[likely]]
    return wave.rows[source.index].lane;
  return fetch_any(wave, op, k, scratch);
}

/// A scalar operand (SGPRs, constant, SCC, …) as one value.
uint64_t read_scalar(const Wave& wave, const Source& source);
void write_scalar(Wave& wave, const Destination& to, uint64_t value);
/// A condition mask in one or two SGPRs.
inline uint64_t read_mask(const Wave& wave, const Source& source) {
  const uint64_t value = read_scalar(wave, source);
  return wave.lanes == 64 ? value : value & 0xffffffffull;
}
void write_mask(Wave& wave, const Destination& to, uint64_t value);
/// Bit i to 0 or 1 in lane i.
void expand_mask(uint64_t mask, uint32_t* lanes);
/// Lanes that are not 0 to bits.
uint64_t pack_mask(const uint32_t* lanes);

/// Lanes that a vector instruction writes: EXEC, less what DPP leaves out.
uint64_t dpp_mask(const Wave& wave, const Op& op);
inline uint64_t active_lanes(const Wave& wave, const Op& op) {
  return op.dpp.kind == Dpp::Kind::none ? wave.exec() : wave.exec() & dpp_mask(wave, op);
}

// Writing. `mask` says which lanes change.
void store(Wave& wave, const Op& op, const Destination& to, const uint32_t* lanes, uint64_t mask);
void store(Wave& wave, const Op& op, const Destination& to, const uint64_t* lanes, uint64_t mask);
void store(Wave& wave, const Op& op, const Destination& to, const uint16_t* lanes, uint64_t mask);
/// Copies lanes of `mask` into a row.
void copy_lanes(uint32_t* row, const uint32_t* lanes, uint64_t mask);
/// The row itself when results can go there without any further step, else null.
inline uint32_t* direct_row(Wave& wave, const Op& op, const Destination& to, uint64_t mask) {
  if (op.plain && wave.direct && mask == wave.all()) [[likely]]
    return wave.rows[to.index].lane;
  return nullptr;
}

template <class T>
inline T from_bits(Bits<T> bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else
    return std::bit_cast<T>(bits);
}
template <bool Directed = false, class T>
inline Bits<T> to_bits(T value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? 1u : 0u;
  else if constexpr (kIsHalfOf<T> && Directed)
    return narrow_half_directed(value.value).bits;
  else if constexpr (kIsHalfOf<T>)
    return narrow_half(value.value).bits;
  else
    return std::bit_cast<Bits<T>>(value);
}

/// Takes a lane function apart.
template <class F>
struct Signature;
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using Result = R;  // what the function returns
  using Arguments = std::tuple<A...>;
  static constexpr bool kCarries = (std::is_same_v<A, bool&> || ...);
  static constexpr size_t kSources = sizeof...(A) - (kCarries ? 1 : 0);
};
template <auto F>
using SignatureOf = Signature<decltype(&std::remove_cvref_t<decltype(F)>::operator())>;
template <auto F, size_t I>
using Argument = std::tuple_element_t<I, typename SignatureOf<F>::Arguments>;

/// The loop. Results may lie in a source's place: lane i only depends on lane i.
template <auto F, bool Directed, size_t... I>
inline void each_lane(std::index_sequence<I...>, unsigned lanes,
                      Bits<typename SignatureOf<F>::Result>* out, uint32_t* carry,
                      const Bits<Argument<F, I>>*... in) {
  for (unsigned block = 0; block < lanes; block += 32) {
    HIPPLAN_INDEPENDENT_LANES
    for (unsigned i = block; i < block + 32; ++i) {
      if constexpr (SignatureOf<F>::kCarries) {
        bool second = false;
        out[i] = to_bits<Directed>(F(from_bits<Argument<F, I>>(in[i])..., second));
        carry[i] = second ? 1u : 0u;
      } else {
        out[i] = to_bits<Directed>(F(from_bits<Argument<F, I>>(in[i])...));
      }
    }
  }
}

template <auto F, bool Directed, size_t... I>
void run_lanes(std::index_sequence<I...> indices, Wave& wave, const Op& op) {
  using R = typename SignatureOf<F>::Result;
  std::tuple<Buffer<Argument<F, I>>...> in;
  Buffer<R> out;
  Buffer<bool> carry;
  const uint64_t mask = active_lanes(wave, op);
  Bits<R>* result = out.lane;
  uint32_t* row = nullptr;
  if constexpr (sizeof(Bits<R>) == 4 && !std::is_same_v<R, bool>) {
    row = direct_row(wave, op, op.to, mask);
    if (row != nullptr) result = row;
  }
  each_lane<F, Directed>(indices, wave.lanes, result, carry.lane,
                         fetch(wave, op, I, std::get<I>(in).lane)...);
  if constexpr (std::is_same_v<R, bool>)
    write_mask(wave, op.to, pack_mask(result) & mask);
  else if (row == nullptr)
    store(wave, op, op.to, result, mask);
  if constexpr (SignatureOf<F>::kCarries) write_mask(wave, op.also, pack_mask(carry.lane) & mask);
}

/// Handler of a lane function; `Directed` rounds halves by the host's rounding direction.
template <auto F, bool Directed = false>
void lane_handler(Wave& wave, const Op& op) {
  run_lanes<F, Directed>(std::make_index_sequence<SignatureOf<F>::kSources>{}, wave, op);
}

template <auto F, size_t... I>
constexpr Shape shape_of(std::index_sequence<I...>) {
  return {.to = type_of<typename SignatureOf<F>::Result>(),
          .also = SignatureOf<F>::kCarries ? Type::mask : Type::none,
          .from = {type_of<Argument<F, I>>()...},
          .sources = sizeof...(I)};
}

/// Table entry of a lane function: lanes<[](float a, float b) { return a + b; }>("v_add_f32").
template <auto F>
constexpr Semantics lanes(std::string_view mnemonic, uint32_t flags = 0, Lower lower = nullptr) {
  Handler directed = nullptr;
  if constexpr (kIsHalfOf<typename SignatureOf<F>::Result>) directed = lane_handler<F, true>;
  return {.mnemonic = mnemonic,
          .run = lane_handler<F>,
          .directed = directed,
          .shape = shape_of<F>(std::make_index_sequence<SignatureOf<F>::kSources>{}),
          .flags = flags | kVector,
          .lower = lower};
}

}  // namespace hipplan::emulator
