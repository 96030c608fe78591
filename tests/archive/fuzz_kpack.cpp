// Any bytes: open answers, and every entry of what opens can be read or is refused as damaged.
#include <cstdlib>

#include "archive/kpack.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hipplan::ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto archive = hipplan::archive::Kpack::parse(bytes, "fuzz");
  if (!archive) return 0;
  uint64_t left = 64u << 20;  // keeps a run short; the caps are the reader's business
  for (const auto& entry : archive->entries()) {
    if (entry.original_size > left) break;
    left -= entry.original_size;
    const auto code = archive->read(entry);
    if (code && code->size() != entry.original_size) std::abort();
    if (!code && code.error().code != hipplan::Code::damaged) std::abort();
    if (archive->find(entry.name, std::string_view(entry.arch)) == nullptr) std::abort();
  }
  return 0;
}
