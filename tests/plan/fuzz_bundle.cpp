// Bundles, with small limits so that one input cannot ask for much.
#include <cstdlib>

#include "plan/bundle.h"

using namespace hipplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const plan::BundleLimits limits{100, 1 << 20, 4 << 20, 1 << 20};
  (void)plan::for_each_in_bundle(
      bytes, "fuzz", limits,
      [](const plan::BundleMember& member, ByteView content) -> Result<bool> {
        if (!plan::is_bundle_member_name(member.name) || content.size() != member.bytes)
          std::abort();
        return true;
      });
  return 0;
}
