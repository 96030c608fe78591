// Answers to kernels/reductions.h.
#include <algorithm>

#include "corpus.h"

namespace hipplan::test {
namespace {

/// Sum of 256 in the order of a halving tree.
template <class T>
T tree(std::vector<T> v) {
  for (size_t step = v.size() / 2; step != 0; step /= 2)
    for (size_t i = 0; i < step; ++i) v[i] += v[i + step];
  return v[0];
}

void sums(Emulated& gpu, uint32_t lanes) {
  Numbers numbers(21);
  const auto x = numbers.reals(1024, -2, 2);
  std::vector<float> wanted;
  for (size_t g = 0; g < 4; ++g)
    wanted.push_back(tree(std::vector<float>(x.begin() + static_cast<long>(g) * 256,
                                             x.begin() + static_cast<long>(g + 1) * 256)));
  const auto out = gpu.reserve(8192);
  check_ok(gpu.launch("tree_sum", {4}, {256}, out, gpu.put(x)));
  check_equal("tree_sum", gpu.get<float>(out, 4), wanted);

  const auto w = numbers.words(512);
  std::vector<uint32_t> waves(512), rows(512), running(512);
  for (size_t i = 0; i < 512; ++i) {
    for (size_t k = i / lanes * lanes; k < (i / lanes + 1) * lanes; ++k) waves[i] += w[k];
    for (size_t k = i / 16 * 16; k < (i / 16 + 1) * 16; ++k) rows[i] += w[k];
    for (size_t k = i / 16 * 16; k <= i; ++k) running[i] += w[k];
  }
  const auto pw = gpu.put(w);
  check_ok(gpu.launch("shuffle_sum", {2}, {256}, out, pw));
  check_equal("shuffle_sum", gpu.get<uint32_t>(out, 512), waves);
  check_ok(gpu.launch("dpp_sum", {2}, {256}, out, pw));
  check_equal("dpp_sum", gpu.get<uint32_t>(out, 512), rows);
  check_ok(gpu.launch("dpp_scan", {2}, {256}, out, pw));
  check_equal("dpp_scan", gpu.get<uint32_t>(out, 512), running);
  std::vector<uint32_t> scanned(512);
  for (size_t i = 0; i < 512; ++i) scanned[i] = w[i] + (i % 256 == 0 ? 0 : scanned[i - 1]);
  check_ok(gpu.launch("scan", {2}, {256}, out, pw));
  check_equal("scan", gpu.get<uint32_t>(out, 512), scanned);
}

void norms(Emulated& gpu) {
  Numbers numbers(22);
  const auto x = numbers.reals(512, -3, 3), gamma = numbers.reals(256, 0.5, 2),
             beta = numbers.reals(256, -1, 1);
  const auto out = gpu.reserve(2048), px = gpu.put(x), pg = gpu.put(gamma);
  std::vector<float> soft, layer, rms, entropy;
  const std::vector<uint32_t> labels = {7, 200};
  std::vector<uint32_t> greatest;
  for (size_t g = 0; g < 2; ++g) {
    const auto first = x.begin() + static_cast<long>(g) * 256;
    double sum = 0, squares = 0, exps = 0, variance = 0;
    for (size_t i = 0; i < 256; ++i) {
      const double v = first[static_cast<long>(i)];
      sum += v, squares += v * v, exps += std::exp(v);
    }
    for (size_t i = 0; i < 256; ++i)
      variance += std::pow(first[static_cast<long>(i)] - sum / 256, 2) / 256;
    for (size_t i = 0; i < 256; ++i) {
      const double v = first[static_cast<long>(i)], ga = gamma[i], be = beta[i];
      soft.push_back(static_cast<float>(std::exp(v) / exps));
      layer.push_back(static_cast<float>((v - sum / 256) / std::sqrt(variance + 1e-5) * ga + be));
      rms.push_back(static_cast<float>(v / std::sqrt(squares / 256 + 1e-6) * ga));
    }
    entropy.push_back(static_cast<float>(std::log(exps) - first[static_cast<long>(labels[g])]));
    greatest.push_back(static_cast<uint32_t>(std::max_element(first, first + 256) - first));
  }
  check_ok(gpu.launch("softmax", {2}, {256}, out, px));
  check_near("softmax", gpu.get<float>(out, 512), soft, 1e-5);
  check_ok(gpu.launch("layer_norm", {2}, {256}, out, px, pg, gpu.put(beta)));
  check_near("layer_norm", gpu.get<float>(out, 512), layer, 1e-5, 1e-5);
  check_ok(gpu.launch("rms_norm", {2}, {256}, out, px, pg));
  check_near("rms_norm", gpu.get<float>(out, 512), rms, 1e-5);
  check_ok(gpu.launch("cross_entropy", {2}, {256}, out, px, gpu.put(labels)));
  check_near("cross_entropy", gpu.get<float>(out, 2), entropy, 1e-5);
  check_ok(gpu.launch("argmax", {2}, {256}, out, px));
  check_equal("argmax", gpu.get<uint32_t>(out, 2), greatest);
}

void double_dot(Emulated& gpu) {
  Numbers numbers(23);
  const auto a = numbers.reals<double>(256, -2, 2), b = numbers.reals<double>(256, -2, 2);
  std::vector<double> products;
  for (size_t i = 0; i < 256; ++i) products.push_back(a[i] * b[i]);
  const auto out = gpu.reserve(8);
  check_ok(gpu.launch("double_dot", {1}, {256}, out, gpu.put(a), gpu.put(b)));
  check_equal("double_dot", gpu.get<double>(out, 1), {tree(products)});
}

void counts(Emulated& gpu, uint32_t lanes) {
  Numbers numbers(24);
  std::vector<uint8_t> x(1200);
  std::vector<uint32_t> bins(64);
  for (auto& v : x) v = static_cast<uint8_t>(numbers.next()), ++bins[v % 64];
  const auto out = gpu.put(std::vector<uint32_t>(64));
  check_ok(gpu.launch("histogram", {3}, {256}, out, gpu.put(x), 400u));
  check_equal("histogram", gpu.get<uint32_t>(out, 64), bins);

  const auto w = numbers.words(256);
  std::vector<uint32_t> before(256), sums(256);
  std::vector<uint64_t> masks(256);
  for (size_t i = 0; i < 256; ++i) {
    const size_t first = i / lanes * lanes;
    for (size_t k = 0; k < lanes; ++k) masks[i] |= static_cast<uint64_t>(w[first + k] & 1) << k;
    for (size_t k = first; k < i; ++k) before[i] += w[k] & 1;
    for (size_t k = 0; k < 32; k += 5) sums[i] = sums[i] * 3 + w[first + k];
    sums[i] += w[first];
  }
  const auto counted = gpu.reserve(1024), mask = gpu.reserve(2048), pw = gpu.put(w);
  check_ok(gpu.launch("ballots", {1}, {256}, counted, mask, pw));
  check_equal("ballots: before", gpu.get<uint32_t>(counted, 256), before);
  check_equal("ballots: mask", gpu.get<uint64_t>(mask, 256), masks);
  check_ok(gpu.launch("broadcasts", {1}, {256}, counted, pw));
  check_equal("broadcasts", gpu.get<uint32_t>(counted, 256), sums);
}

void atomics(Emulated& gpu) {
  const auto x = Numbers(25).words(512, 1000);
  std::vector<uint32_t> wanted = {0, ~0u, 0, 0, 0, 0, 0, 0};
  int32_t smallest = 1000;
  uint64_t sum = 0;
  for (const uint32_t v : x) {
    smallest = std::min(smallest, static_cast<int32_t>(v) - 500);
    wanted[0] = std::max(wanted[0], v);
    wanted[1] &= v | 0xf0u;
    wanted[2] |= v;
    wanted[3] ^= v;
    wanted[4] += v;
    sum += static_cast<uint64_t>(v) << 20;
  }
  std::memcpy(&wanted[6], &sum, 8);
  const auto out = gpu.put(std::vector<uint32_t>{0, ~0u, 0, 0, 0, 0, 0, 0});
  const auto least = gpu.put(std::vector<int32_t>{1000});
  check_ok(gpu.launch("atomics", {2}, {256}, out, least, gpu.put(x)));
  check_equal("atomics", gpu.get<uint32_t>(out, 8), wanted);
  check_equal("atomics: smallest", gpu.get<int32_t>(least, 1), {smallest});
}

}  // namespace

void run_reductions(Emulated& gpu, uint32_t lanes) {
  sums(gpu, lanes);
  norms(gpu);
  double_dot(gpu);
  counts(gpu, lanes);
  atomics(gpu);
}

}  // namespace hipplan::test
