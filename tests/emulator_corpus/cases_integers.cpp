// Answers to kernels/integers.h.
#include <algorithm>
#include <bit>

#include "corpus.h"

namespace hipplan::test {
namespace {

uint32_t reversed(uint32_t v) {
  uint32_t out = 0;
  for (unsigned i = 0; i < 32; ++i) out |= (v >> i & 1u) << (31 - i);
  return out;
}

std::vector<uint32_t> edges(Numbers& numbers) {
  auto out = numbers.words(256);
  constexpr uint32_t kEdges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0xff, 0xffff0000};
  std::copy(std::begin(kEdges), std::end(kEdges), out.begin());
  return out;
}

void words(Emulated& gpu) {
  Numbers numbers(51);
  const auto a = edges(numbers), b = numbers.words(256);
  std::vector<uint32_t> tricks, quotients, high;
  std::vector<int32_t> signed_quotients, signed_high;
  for (size_t i = 0; i < 256; ++i) {
    const uint32_t v = a[i], y = b[i] | 1;
    auto r = static_cast<uint32_t>(std::popcount(v));
    r = r * 33 + static_cast<uint32_t>(std::countl_zero(v));
    r = r * 33 + static_cast<uint32_t>(std::countr_zero(v));
    r ^= reversed(v) + __builtin_bswap32(v);
    tricks.push_back(r + (std::rotl(v, 7) ^ (v >> 5 & 0x3ffu)));
    quotients.push_back(v / y * 7 + v % y);
    const auto sx = static_cast<int32_t>(v), sy = static_cast<int32_t>(y);
    signed_quotients.push_back(
        static_cast<int32_t>(static_cast<uint32_t>(sx / (sy >> 3 | 1)) +
                             static_cast<uint32_t>(sx % (static_cast<int32_t>(y >> 9) | 1))));
    high.push_back(static_cast<uint32_t>(static_cast<uint64_t>(v) * b[i] >> 32));
    signed_high.push_back(
        static_cast<int32_t>(static_cast<int64_t>(sx) * static_cast<int32_t>(b[i]) >> 32));
  }
  const auto out = gpu.reserve(1024), sout = gpu.reserve(1024), pa = gpu.put(a), pb = gpu.put(b);
  check_ok(gpu.launch("bit_tricks", {1}, {256}, out, pa));
  check_equal("bit_tricks", gpu.get<uint32_t>(out, 256), tricks);
  check_ok(gpu.launch("division", {1}, {256}, out, sout, pa, pb));
  check_equal("division", gpu.get<uint32_t>(out, 256), quotients);
  check_equal("division: signed", gpu.get<int32_t>(sout, 256), signed_quotients);
  check_ok(gpu.launch("high_products", {1}, {256}, out, sout, pa, pb));
  check_equal("high_products", gpu.get<uint32_t>(out, 256), high);
  check_equal("high_products: signed", gpu.get<int32_t>(sout, 256), signed_high);
}

void longs(Emulated& gpu) {
  Numbers numbers(52);
  std::vector<uint64_t> a, b, mixed, quotients;
  for (size_t i = 0; i < 256; ++i)
    a.push_back(numbers.next() >> (i % 5) * 13), b.push_back(numbers.next() >> (i % 7) * 9);
  for (size_t i = 0; i < 256; ++i) {
    const uint64_t x = a[i], y = b[i];
    uint64_t r = x * y + (x >> (y & 63)) - (y << (x & 31));
    r ^= static_cast<uint64_t>(static_cast<int64_t>(x) >> 7);
    mixed.push_back(r + (x > y ? x - y : static_cast<uint64_t>(std::popcount(x))));
    quotients.push_back(x / (y | 1) + x % (y >> 40 | 1));
  }
  const auto out = gpu.reserve(2048), pa = gpu.put(a), pb = gpu.put(b);
  check_ok(gpu.launch("long_math", {1}, {256}, out, pa, pb));
  check_equal("long_math", gpu.get<uint64_t>(out, 256), mixed);
  check_ok(gpu.launch("long_division", {1}, {256}, out, pa, pb));
  check_equal("long_division", gpu.get<uint64_t>(out, 256), quotients);
}

void narrow(Emulated& gpu) {
  Numbers numbers(53);
  std::vector<uint16_t> a, b, added;
  std::vector<int16_t> subtracted;
  for (size_t i = 0; i < 256; ++i)
    a.push_back(static_cast<uint16_t>(numbers.next())),
        b.push_back(static_cast<uint16_t>(numbers.next()));
  for (size_t i = 0; i < 256; ++i) {
    added.push_back(static_cast<uint16_t>(std::min(65535, a[i] + b[i])));
    subtracted.push_back(static_cast<int16_t>(
        std::clamp(static_cast<int16_t>(a[i]) - static_cast<int16_t>(b[i]), -32768, 32767)));
  }
  const auto out = gpu.reserve(512), sout = gpu.reserve(512);
  check_ok(gpu.launch("saturating", {1}, {256}, out, sout, gpu.put(a), gpu.put(b)));
  check_equal("saturating", gpu.get<uint16_t>(out, 256), added);
  check_equal("saturating: signed", gpu.get<int16_t>(sout, 256), subtracted);

  std::vector<uint8_t> u(256);
  std::vector<int8_t> s(256);
  std::vector<uint32_t> dots(64);
  for (size_t i = 0; i < 256; ++i) {
    u[i] = static_cast<uint8_t>(numbers.next());
    s[i] = static_cast<int8_t>(numbers.next());
    dots[i / 4] += static_cast<uint32_t>(u[i] * s[i]);
  }
  const auto sums = gpu.reserve(256);
  check_ok(gpu.launch("bytes", {1}, {64}, sums, gpu.put(u), gpu.put(s)));
  check_equal("bytes", gpu.get<uint32_t>(sums, 64), dots);
}

void loops(Emulated& gpu) {
  std::vector<uint32_t> steps(256), shifted(256), switched;
  for (uint32_t i = 0; i < 256; ++i) {
    for (uint32_t v = i + 1; v != 1; v = (v & 1) != 0 ? 3 * v + 1 : v / 2) ++steps[i];
    uint32_t v = i * 2654435761u + 1;
    for (int k = 0; k < 20; ++k) v ^= v << 13, v ^= v >> 17, v ^= v << 5;
    shifted[i] = v;
  }
  const auto x = Numbers(54).words(256);
  for (const uint32_t v : x) {
    const uint32_t results[9] = {v + 3, v * 5,         v ^ 0x55555555u, v >> 3, v << 2,
                                 ~v,    v & 0xff00ffu, v * v,           1};
    switched.push_back(results[v % 9]);
  }
  const auto out = gpu.reserve(1024);
  check_ok(gpu.launch("collatz", {1}, {256}, out));
  check_equal("collatz", gpu.get<uint32_t>(out, 256), steps);
  check_ok(gpu.launch("xorshift", {1}, {256}, out, 20u));
  check_equal("xorshift", gpu.get<uint32_t>(out, 256), shifted);
  check_ok(gpu.launch("switches", {1}, {256}, out, gpu.put(x)));
  check_equal("switches", gpu.get<uint32_t>(out, 256), switched);
}

}  // namespace

void run_integers(Emulated& gpu) {
  words(gpu);
  longs(gpu);
  narrow(gpu);
  loops(gpu);
}

}  // namespace hipplan::test
