// Answers to kernels/sorting.h.
#include <algorithm>

#include "corpus.h"

namespace hipplan::test {

void run_sorting(Emulated& gpu) {
  Numbers numbers(41);
  const auto x = numbers.words(512);
  const auto out = gpu.put(std::vector<uint32_t>(512)), px = gpu.put(x);
  auto sorted = x, digits = x;
  std::vector<uint32_t> compacted(512), kept;
  for (long g = 0; g < 2; ++g) {
    std::sort(sorted.begin() + g * 256, sorted.begin() + (g + 1) * 256);
    std::stable_sort(digits.begin() + g * 256, digits.begin() + (g + 1) * 256,
                     [](uint32_t a, uint32_t b) { return (a >> 8 & 15) < (b >> 8 & 15); });
    const auto end =
        std::copy_if(x.begin() + g * 256, x.begin() + (g + 1) * 256, compacted.begin() + g * 256,
                     [](uint32_t v) { return (v & 1) != 0; });
    kept.push_back(static_cast<uint32_t>(end - compacted.begin() - g * 256));
  }
  const auto counts = gpu.reserve(8);
  check_ok(gpu.launch("compact", {2}, {256}, out, counts, px));
  check_equal("compact", gpu.get<uint32_t>(out, 512), compacted);
  check_equal("compact: kept", gpu.get<uint32_t>(counts, 2), kept);
  check_ok(gpu.launch("bitonic_sort", {2}, {256}, out, px));
  check_equal("bitonic_sort", gpu.get<uint32_t>(out, 512), sorted);
  check_ok(gpu.launch("radix_pass", {2}, {256}, out, px, 8u));
  check_equal("radix_pass", gpu.get<uint32_t>(out, 512), digits);

  std::vector<uint32_t> table(sorted.begin(), sorted.begin() + 256), found;
  auto keys = numbers.words(256);
  keys[0] = table[5], keys[1] = 0, keys[2] = ~0u;
  for (const uint32_t key : keys)
    found.push_back(
        static_cast<uint32_t>(std::lower_bound(table.begin(), table.end(), key) - table.begin()));
  check_ok(gpu.launch("lower_bound", {1}, {256}, out, gpu.put(table), gpu.put(keys)));
  check_equal("lower_bound", gpu.get<uint32_t>(out, 256), found);
}

}  // namespace hipplan::test
