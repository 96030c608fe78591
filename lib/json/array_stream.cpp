#include "json/array_stream.h"

#include <utility>

namespace hipplan::json {

ArrayStream::ArrayStream(Writer front, Sink sink)
    : front_(std::move(front)), sink_(std::move(sink)), waiting_(front_.text()) {}

void ArrayStream::add(const std::function<void(Writer&)>& write) {
  Writer next = front_;
  write(next);
  waiting_.append(next.text(), front_.text().size());
}

void ArrayStream::item(const std::function<void(Writer&)>& write) {
  constexpr size_t kMostWaiting = 1u << 18;
  add(write);
  // From now on the array is one that holds something: a comma comes first.
  if (items_++ == 0) front_.null();
  if (waiting_.size() >= kMostWaiting) send();
}

void ArrayStream::finish(const std::function<void(Writer&)>& rest) {
  add([&](Writer& out) { rest(out.end_array()); });
  send();
}

void ArrayStream::send() {
  sink_(waiting_);
  waiting_.clear();
  sent_ = true;
}

}  // namespace hipplan::json
