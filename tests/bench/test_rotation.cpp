#include <doctest/doctest.h>

#include "bench/rotation.h"

using namespace hipplan::bench;

namespace {
constexpr uint64_t kMiB = uint64_t{1} << 20, kGiB = uint64_t{1} << 30;
}

TEST_CASE("copies take turns until they push each other out of the cache") {
  CHECK(copies(Cache::cold, 100 * kMiB, 60 * kMiB, kGiB) == 3);
  CHECK(copies(Cache::cold, kMiB, 60 * kMiB, kGiB) == 121);
  CHECK(copies(Cache::cold, kGiB, 60 * kMiB, kGiB) == 1);
  CHECK(copies(Cache::cold, 100 * kMiB, 60 * kMiB, 400 * kMiB) == 2);
  CHECK(copies(Cache::cold, 1, 60 * kMiB, kGiB) == kMostCopies);
  CHECK(copies(Cache::cold, 0, 60 * kMiB, kGiB) == 1);
  CHECK(copies(Cache::warm, kMiB, 60 * kMiB, kGiB) == 1);
  CHECK(copies(Cache::cold, 64 * kMiB, 0, 0) == 8);  // neither is known
}

TEST_CASE("whether copies are enough is known") {
  CHECK(stays_cold(3, 100 * kMiB, 60 * kMiB));
  CHECK_FALSE(stays_cold(2, 100 * kMiB, 60 * kMiB));
  CHECK_FALSE(stays_cold(1, kGiB, 60 * kMiB));
  CHECK_FALSE(stays_cold(kMostCopies, 1, 60 * kMiB));
}
