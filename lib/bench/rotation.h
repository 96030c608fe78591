// How many copies of its buffers a timed plan gets.
#pragma once

#include <cstdint>

namespace hipplan::bench {

/// What a cache holds when an execution starts.
enum class Cache {
  cold,  ///< nothing of its buffers: as many copies take turns as push each other out
  warm   ///< what the execution before left: one copy
};

/// Copies of buffers of `bytes` bytes so that between two uses of one copy at least twice the last
/// level cache's bytes are touched. At least 1; never more than fit into half of `free_bytes`, nor
/// than kMostCopies. 0 for `cache_bytes` or `free_bytes`: not known; the cache then counts as
/// 256 MiB and the memory as 1 GiB.
///   copies(Cache::cold, 100 MiB, 60 MiB, 1 GiB)  = 3
///   copies(Cache::cold, 1 MiB, 60 MiB, 1 GiB)    = 121
///   copies(Cache::cold, 1 GiB, 60 MiB, 1 GiB)    = 1
///   copies(Cache::warm, …)                       = 1
[[nodiscard]] unsigned copies(Cache cache, uint64_t bytes, uint64_t cache_bytes,
                              uint64_t free_bytes);

inline constexpr unsigned kMostCopies = 256;

/// Whether that many copies do push each other out.
[[nodiscard]] bool stays_cold(unsigned copies, uint64_t bytes, uint64_t cache_bytes);

}  // namespace hipplan::bench
