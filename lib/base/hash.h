// Digests and identities.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace hipplan {

/// A SHA-256 value.
struct Digest {
  std::array<uint8_t, 32> bytes{};
  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  /// 64 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;
  /// Reads exactly 64 lower-case hexadecimal digits.
  [[nodiscard]] static std::optional<Digest> from_hex(std::string_view text);
};

[[nodiscard]] Digest sha256(ByteView bytes);

/// SHA-256 over pieces. Not copyable; one thread at a time.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256& update(ByteView bytes);
  Sha256& update(std::string_view text) { return update(as_bytes(text)); }
  [[nodiscard]] Digest finish();

 private:
  void* context_;
};

/// 64-bit FNV-1a of the bytes of `text` (offset basis 0xcbf29ce484222325, prime 0x100000001b3).
[[nodiscard]] uint64_t fnv1a64(std::string_view text);
/// Engine id of an engine name: FNV-1a as a signed number; the empty name has id 0 (hipDNN's rule).
[[nodiscard]] int64_t engine_id(std::string_view name);
/// "0x" and 16 upper-case hexadecimal digits.
[[nodiscard]] std::string engine_id_text(int64_t id);

/// A 16-byte UUID in its canonical text form 8-4-4-4-12.
struct Uuid {
  std::array<uint8_t, 16> bytes{};
  friend bool operator==(const Uuid&, const Uuid&) = default;
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
  [[nodiscard]] std::string text() const;
  /// Reads the canonical form, upper or lower case.
  [[nodiscard]] static std::optional<Uuid> parse(std::string_view text);
  /// A UUID (version 8) made from the SHA-256 of `name`; the same name always gives the same UUID.
  [[nodiscard]] static Uuid from_name(std::string_view name);
};

}  // namespace hipplan
