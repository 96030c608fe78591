// The seeded order of workgroups and wavefronts.
#pragma once

#include <cstdint>
#include <numeric>

namespace hipplan::emulator {

/// Draws numbers; the same ones for the same seed (splitmix64).
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

/// Workgroups in a seeded order: i -> (i * step + start) mod count, step prime to count.
class GroupOrder {
 public:
  GroupOrder(uint64_t seed, uint64_t count) : count_(count) {
    if (seed == 0 || count < 2 || count > UINT32_MAX) return;
    Random random(seed);
    start_ = random.next() % count;
    do {
      step_ = random.next() % count;
    } while (std::gcd(step_, count) != 1);
  }
  [[nodiscard]] uint64_t at(uint64_t i) const {
    return step_ == 1 && start_ == 0 ? i : (i * step_ + start_) % count_;
  }

 private:
  uint64_t count_, start_ = 0, step_ = 1;
};

}  // namespace hipplan::emulator
