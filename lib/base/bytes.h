// Byte spans and checked reading of untrusted little-endian data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace hipplan {

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

[[nodiscard]] inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// a+b and a*b, or nothing when the result does not fit.
template <class T>
[[nodiscard]] std::optional<T> checked_add(T a, T b) {
  static_assert(std::is_integral_v<T>);
  T out;
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}
template <class T>
[[nodiscard]] std::optional<T> checked_mul(T a, T b) {
  static_assert(std::is_integral_v<T>);
  T out;
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// The bytes [offset, offset+size) of `from`, or nothing when they are not all inside.
[[nodiscard]] inline std::optional<ByteView> slice(ByteView from, uint64_t offset, uint64_t size) {
  if (offset > from.size() || size > from.size() - offset) return std::nullopt;
  return from.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

/// Little-endian value of type T at `offset`, or nothing when it does not fit. Any alignment.
template <class T>
[[nodiscard]] std::optional<T> load(ByteView from, uint64_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto part = slice(from, offset, sizeof(T));
  if (!part) return std::nullopt;
  T out;
  std::memcpy(&out, part->data(), sizeof(T));
  return out;
}

/// Appends a trivially copyable value as it lies in memory (hipplan runs on little-endian hosts).
template <class T>
void append(Bytes& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), first, first + sizeof(T));
}
inline void append(Bytes& to, ByteView bytes);
/// A vector counts as its bytes.
inline void append(Bytes& to, const Bytes& bytes) {
  append(to, ByteView(bytes));
}
inline void append(Bytes& to, ByteView bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace hipplan
