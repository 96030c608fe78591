// What the corpus' cases share: a device with the code object, inputs, comparison.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "../emulator/emulated.h"

namespace hipplan::test {

/// Numbers that are the same on every machine.
class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ull + 1) {}
  uint64_t next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return state_ >> 32 | state_ << 32;
  }
  std::vector<uint32_t> words(size_t count, uint32_t below = 0) {
    std::vector<uint32_t> out(count);
    for (auto& v : out)
      v = below == 0 ? static_cast<uint32_t>(next()) : static_cast<uint32_t>(next()) % below;
    return out;
  }
  template <class T = float>
  std::vector<T> reals(size_t count, double low, double high) {
    std::vector<T> out(count);
    for (auto& v : out)
      v = static_cast<T>(low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53);
    return out;
  }
  /// 0, 1, …, count - 1 in another order.
  std::vector<uint32_t> permutation(uint32_t count) {
    std::vector<uint32_t> out(count);
    for (uint32_t i = 0; i < count; ++i) out[i] = i;
    for (uint32_t i = count; i > 1; --i) std::swap(out[i - 1], out[next() % i]);
    return out;
  }

 private:
  uint64_t state_;
};

/// Bits of a number, so that zeros of both signs differ and NaNs can be equal.
template <class T>
bool same(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void check_equal(const char* kernel, const std::vector<T>& got, const std::vector<T>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], want[i])) continue;
    std::ostringstream text;
    text << kernel << "[" << i << "]: got " << +got[i] << ", expected " << +want[i];
    FAIL_CHECK(text.str());
    return;
  }
}
template <class T>
void check_near(const char* kernel, const std::vector<T>& got, const std::vector<T>& want,
                double relative, double absolute = 1e-6) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
    if (std::fabs(g - w) <= absolute + relative * std::fabs(w)) continue;
    std::ostringstream text;
    text << kernel << "[" << i << "]: got " << g << ", expected " << w;
    FAIL_CHECK(text.str());
    return;
  }
}

// One function per file of kernels. `lanes` is the wavefront's size.
void run_elementwise(Emulated& gpu);
void run_conversions(Emulated& gpu);
void run_reductions(Emulated& gpu, uint32_t lanes);
void run_matrices(Emulated& gpu, uint32_t lanes);
void run_sorting(Emulated& gpu);
void run_integers(Emulated& gpu);
void run_private_memory(Emulated& gpu);

}  // namespace hipplan::test
