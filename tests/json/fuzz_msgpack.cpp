// Any bytes: no crash, and what is accepted is written to bytes of the same meaning.
#include <cstdlib>

#include "json/msgpack.h"

using namespace hipplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto value = json::parse_msgpack(bytes, "f");
  if (!value) return 0;
  const Bytes once = json::write_msgpack(*value);
  const auto again = json::parse_msgpack(once, "f");
  // A `bin` may hold bytes that no `str` may.
  if (!again) return again.error().reason == "not-utf8" ? 0 : (std::abort(), 0);
  if (json::write_msgpack(*again) != once) std::abort();
  return 0;
}
