// Payload bytes: as they come, and with the digest made right so that the body is reached.
#include <cstdlib>

#include "plan/plan.h"
#include "reseal.h"

using namespace hipplan;

namespace {

void check(ByteView bytes) {
  const auto decoded = plan::decode_payload(bytes, "fuzz");
  if (!decoded) return;
  const auto encoded = plan::encode_payload(*decoded);
  if (!encoded) std::abort();
  const auto again = plan::decode_payload(*encoded, "again");
  if (!again || *plan::encode_payload(*again) != *encoded) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  check(bytes);
  if (size < plan::kSealBytes) return 0;
  Bytes sealed(bytes.begin(), bytes.end());
  std::memcpy(sealed.data(), "HPLP\1\0\0\0\1\0\x30\0\0\0\0\0", 16);
  test::reseal(sealed);
  check(sealed);
  return 0;
}
