// Answers to kernels/private_memory.h.
#include "corpus.h"

namespace hipplan::test {
namespace {

void arrays(Emulated& gpu) {
  const auto x = Numbers(61).words(256);
  std::vector<uint32_t> words, bytes, spilled;
  for (size_t at = 0; at < 256; ++at) {
    uint32_t a[32], sum = 0;
    for (uint32_t i = 0; i < 32; ++i) a[i] = x[at] * (i + 1);
    for (uint32_t i = 0; i < 32; ++i) a[(a[i] >> 3) & 31u] ^= a[(i * 7) & 31u] + i;
    for (const uint32_t v : a) sum = sum * 31 + v;
    words.push_back(sum);

    uint8_t small[16];
    int16_t halves[8];
    for (uint32_t i = 0; i < 16; ++i)
      small[(x[at] + i) & 15u] = static_cast<uint8_t>(x[at] >> (i & 7));
    for (uint32_t i = 0; i < 8; ++i) halves[(x[at] + 3 * i) & 7u] = static_cast<int16_t>(x[at] * i);
    sum = 0;
    for (const uint8_t v : small) sum = sum * 5 + v;
    for (const int16_t v : halves) sum = sum * 5 + static_cast<uint32_t>(int32_t{v});
    bytes.push_back(sum);

    uint32_t v[48];
    for (uint32_t i = 0; i < 48; ++i) v[i] = x[(at + i * 5) % 256] + i;
    for (uint32_t round = 0; round < 3; ++round)
      for (uint32_t i = 0; i < 48; ++i) v[i] = v[i] * v[(i + 17) % 48] + v[(i * 5 + 1) % 48];
    sum = 0;
    for (uint32_t i = 0; i < 48; ++i) sum ^= v[i] + i;
    spilled.push_back(sum);
  }
  const auto out = gpu.reserve(1024), px = gpu.put(x);
  check_ok(gpu.launch("private_array", {1}, {256}, out, px));
  check_equal("private_array", gpu.get<uint32_t>(out, 256), words);
  check_ok(gpu.launch("private_bytes", {1}, {256}, out, px));
  check_equal("private_bytes", gpu.get<uint32_t>(out, 256), bytes);
  check_ok(gpu.launch("spills", {1}, {256}, out, px));
  check_equal("spills", gpu.get<uint32_t>(out, 256), spilled);
}

void shared(Emulated& gpu) {
  const auto x = Numbers(62).words(500);
  std::vector<uint32_t> wanted;
  for (size_t i = 0; i < 512; ++i) wanted.push_back(x[i * 7 % 500] * 3);
  const auto out = gpu.reserve(2048), px = gpu.put(x);
  check_ok(gpu.launch_with("dynamic_lds", {2}, {256}, 2000, out, px, 500u));
  check_equal("dynamic_lds", gpu.get<uint32_t>(out, 512), wanted);
  for (size_t i = 0; i < 512; ++i)
    wanted[i] = i < 256 ? static_cast<uint32_t>(255 - i + 1000) : x[511 - i];
  check_ok(gpu.launch("generic_pointer", {2}, {256}, out, px));
  check_equal("generic_pointer", gpu.get<uint32_t>(out, 512), wanted);
}

uint32_t twisted(uint32_t v, uint32_t n) {
  for (uint32_t i = 0; i < n; ++i) v = v * 1664525u + 1013904223u;
  return v ^ (v >> 16);
}

void functions(Emulated& gpu) {
  const auto x = Numbers(63).words(512);
  std::vector<uint32_t> called, pointed, numbers;
  for (uint32_t i = 0; i < 512; ++i) {
    uint32_t a = x[i], b = i;
    const auto step = [&](uint32_t k) { a += twisted(b, k), b ^= a; };
    step(3);
    if ((a & 1) != 0) step(i % 5);
    called.push_back(a + b);
    pointed.push_back(i < 256 ? twisted(x[i], 4) : x[i] + 12);
    constexpr uint32_t kFibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
    numbers.push_back(kFibonacci[i % 9]);
  }
  const auto out = gpu.reserve(2048), px = gpu.put(x);
  check_ok(gpu.launch("calls", {2}, {256}, out, px));
  check_equal("calls", gpu.get<uint32_t>(out, 512), called);
  check_ok(gpu.launch("function_pointers", {2}, {256}, out, px));
  check_equal("function_pointers", gpu.get<uint32_t>(out, 512), pointed);
  check_ok(gpu.launch("recursion", {2}, {256}, out));
  check_equal("recursion", gpu.get<uint32_t>(out, 512), numbers);
}

}  // namespace

void run_private_memory(Emulated& gpu) {
  arrays(gpu);
  shared(gpu);
  functions(gpu);
}

}  // namespace hipplan::test
