// FlatBuffers tables whose schema is not at hand: every offset is checked before it is followed.
#pragma once

#include <optional>
#include <string_view>

#include "base/bytes.h"

namespace hipplan::plan {

class FlatTable {
 public:
  /// The root table of a buffer, or nothing when there is none that its bytes hold.
  static std::optional<FlatTable> root(ByteView buffer) {
    const auto at = load<uint32_t>(buffer, 0);
    return at && *at >= 4 ? FlatTable::at(buffer, *at) : std::nullopt;
  }

  /// Number of fields that the table's layout has room for, written or not.
  [[nodiscard]] unsigned slots() const { return (vtable_bytes_ - 4u) / 2u; }
  [[nodiscard]] bool has(unsigned slot) const { return place(slot).has_value(); }
  /// A field that lies in the table itself; nothing when it is absent or does not fit.
  template <class T>
  [[nodiscard]] std::optional<T> value(unsigned slot) const {
    const auto at = place(slot);
    return at ? load<T>(buffer_, *at) : std::nullopt;
  }
  /// The elements of a list of `size`-byte items, as bytes.
  [[nodiscard]] std::optional<ByteView> list(unsigned slot, uint64_t size) const {
    const auto at = place(slot);
    const auto step = at ? load<uint32_t>(buffer_, *at) : std::nullopt;
    const auto count = step ? load<uint32_t>(buffer_, *at + *step) : std::nullopt;
    if (!count || *step < 4) return std::nullopt;
    return slice(buffer_, *at + *step + 4, *count * size);
  }

 private:
  static std::optional<FlatTable> at(ByteView buffer, uint64_t table) {
    constexpr uint16_t kFixed = 4;  // the vtable's own size and the table's
    const auto back = load<int32_t>(buffer, table);
    if (!back) return std::nullopt;
    const int64_t vtable = static_cast<int64_t>(table) - *back;
    if (vtable < 4 || vtable % 2 != 0) return std::nullopt;
    FlatTable out;
    out.buffer_ = buffer;
    out.table_ = table;
    out.vtable_ = static_cast<uint64_t>(vtable);
    const auto bytes = load<uint16_t>(buffer, out.vtable_);
    const auto table_bytes = load<uint16_t>(buffer, out.vtable_ + 2);
    if (!bytes || !table_bytes || *bytes < kFixed || *bytes % 2 != 0 ||
        !slice(buffer, out.vtable_, *bytes) || !slice(buffer, table, *table_bytes))
      return std::nullopt;
    out.vtable_bytes_ = *bytes;
    out.table_bytes_ = *table_bytes;
    return out;
  }
  [[nodiscard]] std::optional<uint64_t> place(unsigned slot) const {
    if (slot >= slots()) return std::nullopt;
    const auto step = load<uint16_t>(buffer_, vtable_ + 4 + 2 * uint64_t{slot});
    if (!step || *step == 0 || *step >= table_bytes_) return std::nullopt;
    return table_ + *step;
  }

  ByteView buffer_;
  uint64_t table_ = 0, vtable_ = 0;
  uint16_t vtable_bytes_ = 4, table_bytes_ = 4;
};

}  // namespace hipplan::plan
