// Envelope bytes: as they come, and with the digest made right so that the body is reached.
#include <cstdlib>

#include "plan/plan.h"
#include "reseal.h"

using namespace hipplan;

namespace {

void check(ByteView bytes) {
  const auto decoded = plan::decode_envelope(bytes, "fuzz");
  if (decoded && !plan::encode_envelope(decoded->envelope, decoded->payload, decoded->identity))
    std::abort();
  if (const auto plan = plan::decode_bare_plan(bytes, "fuzz"))
    if (!plan::encode_bare_plan(*plan)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  check(bytes);
  if (size < plan::kSealBytes) return 0;
  Bytes sealed(bytes.begin(), bytes.end());
  std::memcpy(sealed.data(), "HPLV\1\0\0\0\1\0\x30\0\0\0\0\0", 16);
  test::reseal(sealed);
  check(sealed);
  return 0;
}
