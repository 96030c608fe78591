// Answers to kernels/elementwise.h that are plain arithmetic.
#include <algorithm>

#include "corpus.h"

namespace hipplan::test {
namespace {

void linear(Emulated& gpu) {
  Numbers numbers(1);
  const auto x = numbers.reals(1000, -4, 4);
  auto y = numbers.reals(1000, -4, 4);
  const auto px = gpu.put(x), py = gpu.put(y);
  check_ok(gpu.launch("saxpy", {4}, {256}, py, px, 2.5f, 1000u));
  for (size_t i = 0; i < y.size(); ++i) y[i] = 2.5f * x[i] + y[i];
  check_equal("saxpy", gpu.get<float>(py, 1000), y);
  check_ok(gpu.launch("grid_stride", {2}, {256}, py, px, 1000u));
  for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] * x[i];
  check_equal("grid_stride", gpu.get<float>(py, 1000), y);
  const auto z = numbers.reals(1024, -4, 4);
  auto wanted = z;
  for (auto& v : wanted) v = v * 2.0f + 1.0f;
  const auto pz = gpu.put(z);
  check_ok(gpu.launch("vectorized", {2}, {128}, pz, pz));
  check_equal("vectorized", gpu.get<float>(pz, 1024), wanted);
}

void activations(Emulated& gpu) {
  const auto x = Numbers(2).reals(512, -6, 6);
  const auto silu = gpu.reserve(2048), gelu = gpu.reserve(2048);
  check_ok(gpu.launch("activations", {2}, {256}, silu, gelu, gpu.put(x)));
  std::vector<float> s, g;
  for (const float f : x) {
    const double v = f;
    s.push_back(static_cast<float>(v / (1 + std::exp(-v))));
    g.push_back(
        static_cast<float>(0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v)))));
  }
  check_near("activations: silu", gpu.get<float>(silu, 512), s, 2e-6);
  check_near("activations: gelu", gpu.get<float>(gelu, 512), g, 1e-5, 1e-5);
}

void rope(Emulated& gpu) {
  const auto x = Numbers(3).reals(8 * 64, -2, 2);
  const auto out = gpu.reserve(8 * 64 * 4);
  check_ok(gpu.launch("rope", {1}, {256}, out, gpu.put(x)));
  std::vector<float> wanted(x.size());
  for (size_t row = 0; row < 8; ++row)
    for (size_t pair = 0; pair < 32; ++pair) {
      const double angle = static_cast<double>(row) * std::exp2(static_cast<double>(pair) * -0.25);
      const double a = x[row * 64 + 2 * pair], b = x[row * 64 + 2 * pair + 1];
      wanted[row * 64 + 2 * pair] = static_cast<float>(a * std::cos(angle) - b * std::sin(angle));
      wanted[row * 64 + 2 * pair + 1] =
          static_cast<float>(a * std::sin(angle) + b * std::cos(angle));
    }
  check_near("rope", gpu.get<float>(out, x.size()), wanted, 1e-5, 1e-5);
}

void tables(Emulated& gpu) {
  Numbers numbers(4);
  const auto x = numbers.reals(512, -2, 2);
  const auto at = numbers.permutation(512);
  std::vector<float> gathered(512), scattered(512);
  for (size_t i = 0; i < 512; ++i) gathered[i] = x[at[i]], scattered[at[i]] = x[i];
  const auto out = gpu.reserve(2048), px = gpu.put(x), pat = gpu.put(at);
  check_ok(gpu.launch("gather", {2}, {256}, out, px, pat));
  check_equal("gather", gpu.get<float>(out, 512), gathered);
  check_ok(gpu.launch("scatter", {2}, {256}, out, px, pat));
  check_equal("scatter", gpu.get<float>(out, 512), scattered);

  const auto rows = numbers.words(8 * 4, 8);
  std::vector<float> bags(8 * 64);
  for (size_t bag = 0; bag < 8; ++bag)
    for (size_t i = 0; i < 64; ++i) {
      float sum = 0;
      for (size_t k = 0; k < 4; ++k) sum += x[rows[bag * 4 + k] * 64 + i];
      bags[bag * 64 + i] = sum;
    }
  check_ok(gpu.launch("embedding_bag", {8}, {64}, out, px, gpu.put(rows)));
  check_equal("embedding_bag", gpu.get<float>(out, 512), bags);
}

void fields(Emulated& gpu) {
  Numbers numbers(5);
  const auto x = numbers.reals(64 * 64, -2, 2);
  const auto out = gpu.reserve(64 * 64 * 4), px = gpu.put(x);
  std::vector<float> wanted(64 * 32);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t col = i % 64, row = i / 64;
    wanted[i] = x[i];
    if (col != 0 && col != 63 && row != 0 && row != 31)
      wanted[i] = 0.25f * (x[i - 1] + x[i + 1] + x[i - 64] + x[i + 64]) - x[i];
  }
  check_ok(gpu.launch("stencil", {8}, {256}, out, px));
  check_equal("stencil", gpu.get<float>(out, wanted.size()), wanted);

  std::vector<float> pooled(31 * 31, -10);
  for (size_t i = 0; i < pooled.size(); ++i)
    for (size_t k = 0; k < 9; ++k)
      pooled[i] = std::max(pooled[i], x[(i / 31 * 2 + k / 3) * 64 + i % 31 * 2 + k % 3]);
  check_ok(gpu.launch("max_pool", {4}, {256}, out, px));
  check_equal("max_pool", gpu.get<float>(out, pooled.size()), pooled);

  const auto taps = numbers.reals(5, -1, 1);
  std::vector<float> convolved(500);
  for (int i = 0; i < 512; ++i) {
    float sum = 0;
    for (int k = -2; k <= 2; ++k)
      if (i + k >= 0 && i + k < 500)
        sum += taps[static_cast<size_t>(k + 2)] * x[static_cast<size_t>(i + k)];
    if (i < 500) convolved[static_cast<size_t>(i)] = sum;
  }
  check_ok(gpu.launch("convolution", {2}, {256}, out, px, gpu.put(taps), 500u));
  check_equal("convolution", gpu.get<float>(out, 500), convolved);
}

void mandelbrot(Emulated& gpu) {
  const auto out = gpu.reserve(2048 * 4);
  check_ok(gpu.launch("mandelbrot", {8}, {256}, out));
  std::vector<uint32_t> wanted(2048);
  for (uint32_t at = 0; at < 2048; ++at) {
    const float cr = static_cast<float>(at % 64) * 0.046875f - 2.0f;
    const float ci = static_cast<float>(at / 64) * 0.0625f - 1.0f;
    float r = 0, i = 0;
    while (wanted[at] < 64 && r * r + i * i <= 4.0f) {
      const float t = r * r - i * i + cr;
      i = 2.0f * r * i + ci;
      r = t;
      ++wanted[at];
    }
  }
  check_equal("mandelbrot", gpu.get<uint32_t>(out, 2048), wanted);
}

}  // namespace

void run_elementwise(Emulated& gpu) {
  linear(gpu);
  activations(gpu);
  rope(gpu);
  tables(gpu);
  fields(gpu);
  mandelbrot(gpu);
}

}  // namespace hipplan::test
