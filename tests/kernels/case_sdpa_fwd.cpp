#include <algorithm>
#include <cmath>
#include <optional>

#include "cases.h"

namespace hipplan::test {

namespace {

struct SdpaProblem {
  int64_t batch, heads_q, heads_k, heads_v, seq_q, seq_kv, head_qk, head_v;
  bool rows_first = false;  ///< memory order batch, row, head, element
  std::optional<int64_t> left = {}, right = {};
  bool bottom_right = false;
  std::string mask = {};  ///< type of an additive mask, empty: none
  List lengths_q = {}, lengths_kv = {};
  bool stats = false;
};

List strides_of(int64_t heads, int64_t rows, int64_t size, bool rows_first) {
  if (rows_first) return {heads * rows * size, size, heads * size, 1};
  return {heads * rows * size, rows * size, size, 1};
}

struct Row {
  std::vector<double> out;
  double stats = 0;
};

/// Attention of one query row; `key(j)` and `value(j)` give offsets.
Row attend(const SdpaProblem& p, const Case& test, double scale, int64_t b, int64_t h, int64_t i) {
  const auto& q = test.inputs[0];
  const auto& k = test.inputs[1];
  const auto& v = test.inputs[2];
  const int64_t length_q = p.lengths_q.empty() ? p.seq_q : p.lengths_q[static_cast<size_t>(b)];
  const int64_t length_kv = p.lengths_kv.empty() ? p.seq_kv : p.lengths_kv[static_cast<size_t>(b)];
  const int64_t shift = p.bottom_right ? length_kv - length_q : 0;
  std::vector<std::pair<int64_t, double>> scores;
  for (int64_t j = 0; j < length_kv && i < length_q; ++j) {
    if (p.right && j > i + shift + *p.right) continue;
    if (p.left && j <= i + shift - *p.left) continue;
    double sum = 0;
    for (int64_t d = 0; d < p.head_qk; ++d) {
      sum += q.at({b, h, i, d}) * k.at({b, h * p.heads_k / p.heads_q, j, d});
    }
    sum *= scale;
    if (!p.mask.empty()) sum += test.inputs[3].at({0, h, i, j});
    scores.emplace_back(j, sum);
  }
  Row row{std::vector<double>(static_cast<size_t>(p.head_v), 0.0), -INFINITY};
  if (scores.empty()) return row;
  double largest = -INFINITY, total = 0;
  for (const auto& score : scores) largest = std::max(largest, score.second);
  for (const auto& score : scores) total += std::exp(score.second - largest);
  for (const auto& [j, score] : scores) {
    for (int64_t d = 0; d < p.head_v; ++d) {
      row.out[static_cast<size_t>(d)] +=
          std::exp(score - largest) / total * v.at({b, h * p.heads_v / p.heads_q, j, d});
    }
  }
  row.stats = largest + std::log(total);
  return row;
}

Tensor lengths_tensor(int64_t uid, const List& lengths) {
  Tensor tensor{uid, "int32", {static_cast<int64_t>(lengths.size())}, {1}, {}};
  tensor.memory.assign(lengths.begin(), lengths.end());
  return tensor;
}

List optional_list(const std::optional<int64_t>& value) {
  return value ? List{*value} : List{};
}

Case make_sdpa(const SdpaProblem& p, const std::string& dtype, const List& tile) {
  Case test;
  test.kernel =
      "sdpa_fwd.tiled_" + dtype + "_q" + std::to_string(tile[1]) + "_d" + std::to_string(tile[3]);
  test.alias = "hipplan.sdpa_fwd.dispatch.v1";
  const double scale = static_cast<float>(1 / std::sqrt(static_cast<double>(p.head_qk)));
  const auto q_strides = strides_of(p.heads_q, p.seq_q, p.head_qk, p.rows_first);
  const auto k_strides = strides_of(p.heads_k, p.seq_kv, p.head_qk, p.rows_first);
  const auto v_strides = strides_of(p.heads_v, p.seq_kv, p.head_v, p.rows_first);
  const auto o_strides = strides_of(p.heads_q, p.seq_q, p.head_v, p.rows_first);
  test.inputs.push_back(
      random_tensor(1, dtype, {p.batch, p.heads_q, p.seq_q, p.head_qk}, q_strides, -2, 2));
  test.inputs.push_back(
      random_tensor(2, dtype, {p.batch, p.heads_k, p.seq_kv, p.head_qk}, k_strides, -2, 2));
  test.inputs.push_back(
      random_tensor(3, dtype, {p.batch, p.heads_v, p.seq_kv, p.head_v}, v_strides, -2, 2));
  test.outputs.push_back(
      poisoned_tensor(4, dtype, {p.batch, p.heads_q, p.seq_q, p.head_v}, o_strides));
  List mask_strides, stats_strides;
  if (!p.mask.empty()) {
    const List dims = {1, p.heads_q, p.seq_q, p.seq_kv};
    test.inputs.push_back(random_tensor(5, p.mask, dims, packed_strides(dims), -2, 2));
    mask_strides = packed_strides(dims);
    mask_strides[0] = 0;
  }
  if (!p.lengths_q.empty()) test.inputs.push_back(lengths_tensor(6, p.lengths_q));
  if (!p.lengths_kv.empty()) test.inputs.push_back(lengths_tensor(7, p.lengths_kv));
  if (p.stats) {
    const List dims = {p.batch, p.heads_q, p.seq_q};
    stats_strides = packed_strides(dims);
    test.outputs.push_back(poisoned_tensor(8, "float", dims, stats_strides));
  }
  const auto present = [](bool yes, int64_t uid) { return yes ? List{uid} : List{}; };
  test.values = {{"dtype", dtype},
                 {"q.uid", int64_t{1}},
                 {"k.uid", int64_t{2}},
                 {"v.uid", int64_t{3}},
                 {"o.uid", int64_t{4}},
                 {"batch", p.batch},
                 {"heads_q", p.heads_q},
                 {"heads_k", p.heads_k},
                 {"heads_v", p.heads_v},
                 {"seq_q", p.seq_q},
                 {"seq_kv", p.seq_kv},
                 {"head_size_qk", p.head_qk},
                 {"head_size_v", p.head_v},
                 {"q_strides", q_strides},
                 {"k_strides", k_strides},
                 {"v_strides", v_strides},
                 {"o_strides", o_strides},
                 {"mask", present(!p.mask.empty(), 5)},
                 {"mask_dtype", p.mask.empty() ? dtype : p.mask},
                 {"mask_strides", mask_strides},
                 {"seq_len_q", present(!p.lengths_q.empty(), 6)},
                 {"seq_len_kv", present(!p.lengths_kv.empty(), 7)},
                 {"seq_len_q_stride", int64_t{1}},
                 {"seq_len_kv_stride", int64_t{1}},
                 {"stats", present(p.stats, 8)},
                 {"stats_strides", stats_strides},
                 {"scale", scale},
                 {"left_bound", optional_list(p.left)},
                 {"right_bound", optional_list(p.right)},
                 {"diagonal_alignment", std::string(p.bottom_right ? "BOTTOM_RIGHT" : "TOP_LEFT")},
                 {"block_size", tile[0]},
                 {"tile_q", tile[1]},
                 {"tile_kv", tile[2]},
                 {"max_head_size", tile[3]}};
  test.expected.resize(test.outputs.size());
  for_each_index({p.batch, p.heads_q, p.seq_q}, [&](const List& index) {
    const Row row = attend(p, test, scale, index[0], index[1], index[2]);
    for (int64_t d = 0; d < p.head_v; ++d) {
      const double value = row.out[static_cast<size_t>(d)];
      test.expected[0].push_back({test.outputs[0].offset({index[0], index[1], index[2], d}), value,
                                  1.01 * roundoff(dtype) * std::fabs(value) + 1e-5});
    }
    if (p.stats) test.expected[1].push_back({test.outputs[1].offset(index), row.stats, 1e-5});
  });
  return test;
}

}  // namespace

std::vector<Case> sdpa_fwd_cases() {
  const List large = {256, 64, 64, 64}, small_256 = {64, 16, 64, 256}, small_64 = {64, 16, 64, 64},
             large_128 = {256, 64, 64, 128};
  const SdpaProblem plain = {1, 2, 2, 2, 70, 130, 40, 36};
  SdpaProblem causal = {2, 4, 2, 1, 30, 75, 16, 64, true, {}, 0};
  causal.stats = true;
  SdpaProblem bottom = causal;
  bottom.bottom_right = true;
  bottom.left = 20;
  SdpaProblem window = {1, 2, 1, 2, 150, 150, 33, 17, false, 10, 5};
  window.mask = "float";
  SdpaProblem lengths = {3, 2, 2, 2, 20, 70, 8, 8};
  lengths.lengths_q = {20, 7, 0};
  lengths.lengths_kv = {70, 0, 33};
  lengths.stats = true;
  SdpaProblem lengths_bottom = lengths;
  lengths_bottom.lengths_kv = {65, 3, 70};
  lengths_bottom.bottom_right = true;
  lengths_bottom.right = 0;
  SdpaProblem wide = {1, 1, 1, 1, 18, 66, 256, 200};
  SdpaProblem typed = causal;
  typed.mask = "half";
  std::vector<Case> cases;
  for (const auto& problem : {plain, causal, bottom, window, lengths, lengths_bottom}) {
    cases.push_back(make_sdpa(problem, "float", large));
    cases.push_back(make_sdpa(problem, "float", small_256));
  }
  cases.push_back(make_sdpa(wide, "float", small_256));
  cases.push_back(make_sdpa(typed, "half", small_64));
  cases.push_back(make_sdpa(lengths, "half", small_64));
  cases.push_back(make_sdpa(plain, "bfloat16", large_128));
  cases.push_back(make_sdpa(bottom, "bfloat16", large_128));
  return cases;
}

}  // namespace hipplan::test
