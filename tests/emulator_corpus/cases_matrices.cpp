// Answers to kernels/matrices.h.
#include "base/float_types.h"
#include "corpus.h"

namespace hipplan::test {
namespace {

void transpose(Emulated& gpu) {
  const auto x = Numbers(31).reals(64 * 64, -2, 2);
  std::vector<float> wanted(x.size());
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < 64; ++j) wanted[j * 64 + i] = x[i * 64 + j];
  const auto out = gpu.reserve(64 * 64 * 4);
  check_ok(gpu.launch("transpose", {4}, {256}, out, gpu.put(x)));
  check_equal("transpose", gpu.get<float>(out, x.size()), wanted);
}

/// C = A B with k in rising order; B by rows.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, size_t m,
                           size_t n, size_t k) {
  std::vector<float> c(m * n);
  for (size_t i = 0; i < m; ++i)
    for (size_t j = 0; j < n; ++j)
      for (size_t l = 0; l < k; ++l) c[i * n + j] += a[i * k + l] * b[l * n + j];
  return c;
}

void products(Emulated& gpu) {
  Numbers numbers(32);
  const auto a = numbers.reals(64 * 64, -1, 1), b = numbers.reals(64 * 64, -1, 1);
  const auto out = gpu.reserve(64 * 64 * 4);
  check_ok(gpu.launch("gemm_double_buffer", {4}, {256}, out, gpu.put(a), gpu.put(b)));
  check_equal("gemm_double_buffer", gpu.get<float>(out, 64 * 64), product(a, b, 64, 64, 64));

  std::vector<float> x, y;
  for (const uint32_t v : numbers.words(16 * 64, 9)) x.push_back(static_cast<float>(v) - 4.0f);
  for (const uint32_t v : numbers.words(64 * 16, 9)) y.push_back(static_cast<float>(v) - 4.0f);
  const auto sums = gpu.put(std::vector<float>(256));
  check_ok(gpu.launch("gemm_split_k", {4}, {256}, sums, gpu.put(x), gpu.put(y)));
  check_equal("gemm_split_k", gpu.get<float>(sums, 256), product(x, y, 16, 16, 64));
}

void matrix_instruction(Emulated& gpu, uint32_t lanes) {
  Numbers numbers(33);
  std::vector<uint16_t> a, b;
  for (const uint32_t v : numbers.words(512, 17))
    a.push_back(float_to_half(static_cast<float>(v) - 8.0f));
  for (const uint32_t v : numbers.words(512, 17))
    b.push_back(float_to_half(static_cast<float>(v) - 8.0f));
  std::vector<float> wanted(512);
  for (size_t g = 0; g < 2; ++g)
    for (size_t i = 0; i < 16; ++i)
      for (size_t j = 0; j < 16; ++j)
        for (size_t k = 0; k < 16; ++k)
          wanted[g * 256 + i * 16 + j] +=
              half_to_float(a[g * 256 + i * 16 + k]) * half_to_float(b[g * 256 + j * 16 + k]);
  const auto out = gpu.reserve(2048);
  check_ok(gpu.launch("gemm_matrix", {2}, {lanes}, out, gpu.put(a), gpu.put(b)));
  check_equal("gemm_matrix", gpu.get<float>(out, 512), wanted);
}

void batched(Emulated& gpu) {
  Numbers numbers(34);
  std::vector<float> a, b, c, determinants;
  for (const uint32_t v : numbers.words(64 * 16, 7)) a.push_back(static_cast<float>(v) - 3.0f);
  for (const uint32_t v : numbers.words(64 * 16, 7)) b.push_back(static_cast<float>(v) - 3.0f);
  for (size_t m = 0; m < 64; ++m) {
    const auto one =
        product({a.begin() + static_cast<long>(m) * 16, a.begin() + static_cast<long>(m + 1) * 16},
                {b.begin() + static_cast<long>(m) * 16, b.begin() + static_cast<long>(m + 1) * 16},
                4, 4, 4);
    c.insert(c.end(), one.begin(), one.end());
    // Leibniz over the 24 permutations, exact in double.
    double sum = 0;
    for (size_t p = 0; p < 256; ++p) {
      const size_t q[4] = {p & 3, p >> 2 & 3, p >> 4 & 3, p >> 6 & 3};
      int sign = 1;
      for (int i = 0; i < 4; ++i)
        for (int j = i + 1; j < 4; ++j) sign *= q[i] == q[j] ? 0 : q[i] > q[j] ? -1 : 1;
      double term = sign;
      for (size_t i = 0; i < 4; ++i) term *= one[i * 4 + q[i]];
      sum += term;
    }
    determinants.push_back(static_cast<float>(sum));
  }
  const auto out = gpu.reserve(64 * 64), dets = gpu.reserve(256);
  check_ok(gpu.launch("batched_4x4", {1}, {64}, out, dets, gpu.put(a), gpu.put(b)));
  check_equal("batched_4x4", gpu.get<float>(out, 1024), c);
  check_near("batched_4x4: determinant", gpu.get<float>(dets, 64), determinants, 1e-4, 1.0);
}

void attention(Emulated& gpu) {
  Numbers numbers(35);
  const auto q = numbers.reals(256, -1, 1), k = numbers.reals(512, -1, 1),
             v = numbers.reals(512, -1, 1);
  std::vector<float> wanted(256);
  for (size_t i = 0; i < 16; ++i) {
    double weights[32], sum = 0;
    for (size_t j = 0; j < 32; ++j) {
      double s = 0;
      for (size_t d = 0; d < 16; ++d) s += static_cast<double>(q[i * 16 + d]) * k[j * 16 + d];
      weights[j] = std::exp(s * 0.25);
      sum += weights[j];
    }
    for (size_t d = 0; d < 16; ++d) {
      double o = 0;
      for (size_t j = 0; j < 32; ++j) o += weights[j] / sum * v[j * 16 + d];
      wanted[i * 16 + d] = static_cast<float>(o);
    }
  }
  const auto out = gpu.reserve(1024);
  check_ok(gpu.launch("attention", {1}, {64}, out, gpu.put(q), gpu.put(k), gpu.put(v)));
  check_near("attention", gpu.get<float>(out, 256), wanted, 1e-5);
}

void sparse(Emulated& gpu) {
  Numbers numbers(36);
  std::vector<uint32_t> start = {0}, column;
  for (size_t row = 0; row < 64; ++row) {
    const auto count = static_cast<size_t>(numbers.next() % 9);
    for (const uint32_t c : numbers.words(count, 100)) column.push_back(c);
    start.push_back(static_cast<uint32_t>(column.size()));
  }
  const auto value = numbers.reals(column.size(), -1, 1), x = numbers.reals(100, -1, 1);
  std::vector<float> wanted(64);
  for (size_t row = 0; row < 64; ++row)
    for (size_t i = start[row]; i < start[row + 1]; ++i) wanted[row] += value[i] * x[column[i]];
  const auto out = gpu.reserve(256);
  check_ok(gpu.launch("sparse_product", {1}, {64}, out, gpu.put(start), gpu.put(column),
                      gpu.put(value), gpu.put(x)));
  check_equal("sparse_product", gpu.get<float>(out, 64), wanted);
}

}  // namespace

void run_matrices(Emulated& gpu, uint32_t lanes) {
  transpose(gpu);
  products(gpu);
  matrix_instruction(gpu, lanes);
  batched(gpu);
  attention(gpu);
  sparse(gpu);
}

}  // namespace hipplan::test
