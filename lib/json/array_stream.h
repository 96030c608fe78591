// A JSON document with an array that is too long to be held in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "json/json.h"

namespace hipplan::json {

/// Sends a document on while the items of one of its arrays are being made. Text waits up to a
/// quarter of a MiB, so that short documents go out whole or not at all.
class ArrayStream {
 public:
  using Sink = std::function<void(std::string_view)>;
  /// `front` stands inside the array, behind begin_array().
  ArrayStream(Writer front, Sink sink);
  /// `write` writes exactly one value.
  void item(const std::function<void(Writer&)>& write);
  /// Ends the array, lets `rest` write what follows it (the end of the document with it), and sends
  /// all that waits.
  void finish(const std::function<void(Writer&)>& rest);
  /// So many items there were up to now.
  [[nodiscard]] uint64_t items() const { return items_; }
  /// Whether any part of the document has gone out.
  [[nodiscard]] bool sent() const { return sent_; }

 private:
  /// Lets `write` go on from the front and takes what it adds.
  void add(const std::function<void(Writer&)>& write);
  void send();
  Writer front_;
  Sink sink_;
  std::string waiting_;
  uint64_t items_ = 0;
  bool sent_ = false;
};

}  // namespace hipplan::json
