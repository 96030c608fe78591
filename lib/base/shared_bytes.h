// Immutable bytes that several hold, without a copy for each.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes.h"

namespace hipplan {

/// Bytes that live as long as somebody holds them. Equal pointers are the same bytes; null is none.
using SharedBytes = std::shared_ptr<const ByteView>;

/// `part` of what `owner` keeps alive.
[[nodiscard]] inline SharedBytes part_of(std::shared_ptr<const void> owner, ByteView part) {
  struct Held {
    std::shared_ptr<const void> owner;
    ByteView part;
  };
  auto held = std::make_shared<const Held>(std::move(owner), part);
  return {held, &held->part};
}

[[nodiscard]] inline SharedBytes share(Bytes bytes) {
  auto owned = std::make_shared<const Bytes>(std::move(bytes));
  const ByteView all = *owned;
  return part_of(std::move(owned), all);
}

[[nodiscard]] inline bool same_bytes(ByteView a, ByteView b) {
  return std::ranges::equal(a, b);
}

}  // namespace hipplan
