// Scalar instructions from plain functions. Parameters are 32- or 64-bit values; a last `bool&` is
// SCC, holding its old value on entry. A void function only changes SCC.
#pragma once

#include "device/emulator/lanes.h"

namespace hipplan::emulator {

template <auto F, bool NonZero, bool Directed, size_t... I>
void run_scalar(std::index_sequence<I...>, Wave& wave, const Op& op) {
  using R = typename SignatureOf<F>::Result;
  const auto call = [&](auto&... scc) {
    return F(from_bits<Argument<F, I>>(
                 static_cast<Bits<Argument<F, I>>>(read_scalar(wave, op.from[I])))...,
             scc...);
  };
  const auto value = [&] {
    if constexpr (SignatureOf<F>::kCarries)
      return call(wave.scc);
    else
      return call();
  };
  if constexpr (std::is_void_v<R>) {
    value();
  } else {
    const R result = value();
    write_scalar(wave, op.to, to_bits<Directed>(result));
    if constexpr (NonZero) wave.scc = result != 0;
  }
}

template <auto F, bool NonZero, bool Directed = false>
void scalar_handler(Wave& wave, const Op& op) {
  run_scalar<F, NonZero, Directed>(std::make_index_sequence<SignatureOf<F>::kSources>{}, wave, op);
}

template <auto F, bool NonZero = false>
constexpr Semantics scalars(std::string_view mnemonic) {
  using R = typename SignatureOf<F>::Result;
  Shape shape = [] {
    if constexpr (std::is_void_v<R>) {
      return []<size_t... I>(std::index_sequence<I...>) {
        return Shape{.from = {type_of<Argument<F, I>>()...}, .sources = sizeof...(I)};
      }(std::make_index_sequence<SignatureOf<F>::kSources>{});
    } else {
      return shape_of<F>(std::make_index_sequence<SignatureOf<F>::kSources>{});
    }
  }();
  shape.also = Type::none;
  Handler directed = nullptr;
  if constexpr (kIsHalfOf<R>) directed = scalar_handler<F, NonZero, true>;
  return {.mnemonic = mnemonic,
          .run = scalar_handler<F, NonZero>,
          .directed = directed,
          .shape = shape};
}
/// SCC tells whether the result is not zero.
template <auto F>
constexpr Semantics scalars_nonzero(std::string_view mnemonic) {
  return scalars<F, true>(mnemonic);
}

}  // namespace hipplan::emulator
