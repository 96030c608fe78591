#include <cmath>

#include "cases.h"

namespace hipplan::test {

namespace {

struct MatmulProblem {
  List batch;             ///< of c
  List a_batch, b_batch;  ///< 1 where broadcast
  int64_t m, n, k;
  bool a_transposed = false, b_transposed = false, c_transposed = false;
};

Tensor operand(int64_t uid, const std::string& dtype, const List& batch, int64_t rows,
               int64_t columns, bool transposed) {
  List dims = batch;
  dims.push_back(transposed ? columns : rows);
  dims.push_back(transposed ? rows : columns);
  List strides = packed_strides(dims);
  if (transposed) {
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    std::swap(strides[dims.size() - 1], strides[dims.size() - 2]);
  }
  return random_tensor(uid, dtype, dims, strides, -1, 1);
}

List launch_strides(const Tensor& tensor) {
  List strides = tensor.strides;
  for (size_t i = 0; i + 2 < strides.size(); ++i) strides[i] = tensor.dims[i] == 1 ? 0 : strides[i];
  return strides;
}

List index_of(const Tensor& tensor, const List& c_index, int64_t row, int64_t column) {
  List index;
  for (size_t i = 0; i + 2 < c_index.size(); ++i)
    index.push_back(tensor.dims[i] == 1 ? 0 : c_index[i]);
  index.push_back(row);
  index.push_back(column);
  return index;
}

Case make_matmul(const MatmulProblem& p, const std::string& dtype, const std::string& math,
                 const List& tile) {
  Case test;
  const auto size = std::to_string(tile[1]);
  test.kernel = "matmul." + math + "_" + dtype + "_" + size + "x" + size;
  test.alias = "hipplan.matmul.dispatch.v1";
  test.inputs.push_back(operand(1, dtype, p.a_batch, p.m, p.k, p.a_transposed));
  test.inputs.push_back(operand(2, dtype, p.b_batch, p.k, p.n, p.b_transposed));
  const Tensor c = operand(3, dtype, p.batch, p.m, p.n, p.c_transposed);
  test.outputs.push_back(poisoned_tensor(3, dtype, c.dims, c.strides));
  test.values = {{"dtype", dtype},
                 {"math", math},
                 {"a.uid", int64_t{1}},
                 {"b.uid", int64_t{2}},
                 {"c.uid", int64_t{3}},
                 {"batch_dims", p.batch},
                 {"m", p.m},
                 {"n", p.n},
                 {"k", p.k},
                 {"a_strides", launch_strides(test.inputs[0])},
                 {"b_strides", launch_strides(test.inputs[1])},
                 {"c_strides", launch_strides(test.outputs[0])},
                 {"block_size", tile[0]},
                 {"tile_m", tile[1]},
                 {"tile_n", tile[1]},
                 {"tile_k", tile[2]}};
  auto& expected = test.expected.emplace_back();
  for_each_index(c.dims, [&](const List& index) {
    const int64_t row = index[index.size() - 2], column = index.back();
    double value = 0, magnitude = 0;
    for (int64_t k = 0; k < p.k; ++k) {
      const double term = test.inputs[0].at(index_of(test.inputs[0], index, row, k)) *
                          test.inputs[1].at(index_of(test.inputs[1], index, k, column));
      value += term;
      magnitude += std::fabs(term);
    }
    expected.push_back({test.outputs[0].offset(index), value,
                        1.01 * roundoff(dtype) * std::fabs(value) + 0x1p-20 * magnitude});
  });
  return test;
}

}  // namespace

std::vector<Case> matmul_cases(const std::string& matrix) {
  const MatmulProblem plain = {{1}, {1}, {1}, 70, 66, 50};
  const MatmulProblem even = {{2}, {2}, {1}, 64, 64, 64};
  const MatmulProblem turned = {{2, 3}, {1, 3}, {2, 1}, 33, 17, 19, true, true, true};
  const MatmulProblem row = {{}, {}, {}, 1, 40, 100, false, true};
  std::vector<std::pair<std::string, std::vector<List>>> kinds = {
      {"vector", {{64, 32, 16}, {256, 64, 16}}}};
  if (matrix == "mfma") kinds = {{"mfma", {{64, 32, 16}, {256, 64, 32}}}};
  if (matrix == "wmma") kinds = {{"wmma", {{32, 32, 16}, {128, 64, 32}}}};
  std::vector<Case> cases;
  for (const auto& [math, tiles] : kinds) {
    for (const auto& tile : tiles) {
      for (const std::string dtype : {"float", "half", "bfloat16"}) {
        if (math == "wmma" && dtype == "float") continue;
        for (const auto& problem : {plain, even, turned, row})
          cases.push_back(make_matmul(problem, dtype, math, tile));
      }
    }
  }
  return cases;
}

}  // namespace hipplan::test
