// Whether a kernel wrote between the elements of a strided tensor.
#include <algorithm>
#include <cstring>

#include "reference/element.h"
#include "run/inputs.h"

namespace hipplan::run {
namespace {

/// The first byte of [begin, end) that is not `value`. Comparing the range with itself one byte on
/// goes at the speed of memory.
std::optional<uint64_t> first_other(ByteView bytes, uint64_t begin, uint64_t end, std::byte value) {
  if (begin >= end) return std::nullopt;
  const std::byte* data = bytes.data();
  if (data[begin] == value && std::memcmp(data + begin, data + begin + 1, end - begin - 1) == 0)
    return std::nullopt;
  const auto* found =
      std::find_if(data + begin, data + end, [value](std::byte b) { return b != value; });
  return static_cast<uint64_t>(found - data);
}

/// touched_gap() where the elements are few for the bytes that they span.
std::optional<uint64_t> touched_wide_gap(const graph::Tensor& tensor, ByteView bytes,
                                         std::byte poison, uint64_t width) {
  std::vector<uint64_t> starts;
  starts.reserve(static_cast<size_t>(tensor.element_count()));
  const auto shape = reference::row_shape(tensor);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const int64_t offset = reference::row_offset(tensor, row);
    for (int64_t i = 0; i < shape.length; ++i)
      starts.push_back(static_cast<uint64_t>(offset + i * shape.stride) * width);
  }
  std::sort(starts.begin(), starts.end());
  uint64_t at = 0;
  for (const uint64_t start : starts) {
    const uint64_t end = std::min<uint64_t>(start, bytes.size());
    if (const auto touched = first_other(bytes, at, end, poison)) return touched;
    at = std::max(at, start + width);
  }
  return first_other(bytes, at, bytes.size(), poison);
}

}  // namespace

std::optional<uint64_t> touched_gap(const graph::Tensor& tensor, ByteView bytes, std::byte poison) {
  const unsigned bits = graph::bits_of(tensor.type);
  if (bits % 8 != 0 || bits == 0) return std::nullopt;
  if (tensor.span_elements() == tensor.element_count()) return std::nullopt;  // no gaps
  const uint64_t width = bits / 8;
  constexpr uint64_t kWide = 64;  // from here on the list of elements is the smaller one
  if (static_cast<uint64_t>(tensor.element_count()) < bytes.size() / kWide)
    return touched_wide_gap(tensor, bytes, poison, width);
  std::vector<bool> element(bytes.size(), false);
  const auto shape = reference::row_shape(tensor);
  for (int64_t row = 0; row < shape.rows; ++row) {
    const int64_t offset = reference::row_offset(tensor, row);
    for (int64_t i = 0; i < shape.length; ++i) {
      const uint64_t at = static_cast<uint64_t>(offset + i * shape.stride) * width;
      for (uint64_t b = at; b < at + width && b < element.size(); ++b) element[b] = true;
    }
  }
  for (uint64_t at = 0; at < bytes.size(); ++at)
    if (!element[at] && bytes[at] != poison) return at;
  return std::nullopt;
}

}  // namespace hipplan::run
