// What atomics make of an old value, in vector and scalar memory instructions.
#pragma once

namespace hipplan::emulator {

// The functions: old value, data, second data (compare-and-swap only).
template <class T>
struct Do {
  static constexpr auto kSwap = [](T, T d, T) { return d; };
  static constexpr auto kAdd = [](T o, T d, T) { return static_cast<T>(o + d); };
  static constexpr auto kSub = [](T o, T d, T) { return static_cast<T>(o - d); };
  static constexpr auto kReverseSub = [](T o, T d, T) { return static_cast<T>(d - o); };
  static constexpr auto kMin = [](T o, T d, T) { return d < o ? d : o; };
  static constexpr auto kMax = [](T o, T d, T) { return o < d ? d : o; };
  static constexpr auto kAnd = [](T o, T d, T) { return static_cast<T>(o & d); };
  static constexpr auto kOr = [](T o, T d, T) { return static_cast<T>(o | d); };
  static constexpr auto kXor = [](T o, T d, T) { return static_cast<T>(o ^ d); };
  static constexpr auto kIncrement = [](T o, T d, T) { return static_cast<T>(o >= d ? 0 : o + 1); };
  static constexpr auto kDecrement = [](T o, T d, T) {
    return static_cast<T>(o == 0 || d < o ? d : o - 1);
  };
  static constexpr auto kSubClamp = [](T o, T d, T) { return static_cast<T>(o < d ? 0 : o - d); };
  static constexpr auto kSubIf = [](T o, T d, T) { return static_cast<T>(o < d ? o : o - d); };
  /// o, clear, set
  static constexpr auto kMaskedOr = [](T o, T d, T s) { return static_cast<T>((o & ~d) | s); };
  static constexpr auto kSwapIf = [](T o, T d, T c) { return o == c ? d : o; };
};

}  // namespace hipplan::emulator
