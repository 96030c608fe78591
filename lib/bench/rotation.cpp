#include "bench/rotation.h"

#include <algorithm>

namespace hipplan::bench {
namespace {

constexpr uint64_t kUnknownCache = uint64_t{256} << 20, kUnknownMemory = uint64_t{1} << 30;

uint64_t to_touch(uint64_t cache_bytes) {
  return 2 * (cache_bytes == 0 ? kUnknownCache : cache_bytes);
}

}  // namespace

unsigned copies(Cache cache, uint64_t bytes, uint64_t cache_bytes, uint64_t free_bytes) {
  if (cache == Cache::warm || bytes == 0) return 1;
  const uint64_t wanted = (to_touch(cache_bytes) + bytes - 1) / bytes + 1;
  const uint64_t fits = (free_bytes == 0 ? kUnknownMemory : free_bytes) / 2 / bytes;
  return static_cast<unsigned>(
      std::clamp<uint64_t>(std::min(wanted, fits), 1, uint64_t{kMostCopies}));
}

bool stays_cold(unsigned copies, uint64_t bytes, uint64_t cache_bytes) {
  return copies > 1 && (copies - 1) * bytes >= to_touch(cache_bytes);
}

}  // namespace hipplan::bench
