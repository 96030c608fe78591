#include <cmath>

#include "cases.h"

namespace hipplan::test {

namespace {

Case make_batchnorm(const std::string& dtype, const std::string& param_dtype,
                    const std::string& layout, const List& dims, const List& x_strides,
                    const List& y_strides, int64_t block) {
  Case test;
  test.kernel = "batchnorm_inference." + layout + "_" + dtype + "_" + param_dtype + "_b" +
                std::to_string(block);
  test.alias = "hipplan.batchnorm_inference.dispatch.v1";
  test.inputs.push_back(random_tensor(1, dtype, dims, x_strides, -3, 3));
  for (int64_t i = 0; i < 4;
       ++i) {  // mean, inv_variance, scale, bias; the mean's channels lie apart
    test.inputs.push_back(random_tensor(2 + i, param_dtype, {dims[1]}, {i == 0 ? 2 : 1}, 0.25, 2));
  }
  test.outputs.push_back(poisoned_tensor(6, dtype, dims, y_strides));
  test.values = {{"dtype", dtype},
                 {"param_dtype", param_dtype},
                 {"layout", layout},
                 {"x.uid", int64_t{1}},
                 {"mean.uid", int64_t{2}},
                 {"inv_variance.uid", int64_t{3}},
                 {"scale.uid", int64_t{4}},
                 {"bias.uid", int64_t{5}},
                 {"y.uid", int64_t{6}},
                 {"dims", dims},
                 {"x_strides", x_strides},
                 {"y_strides", y_strides},
                 {"param_strides", List{2, 1, 1, 1}},
                 {"block_size", block}};
  auto& expected = test.expected.emplace_back();
  for_each_index(dims, [&](const List& index) {
    const auto parameter = [&](size_t i) { return test.inputs[i].at({index[1]}); };
    const double centred = test.inputs[0].at(index) - parameter(1);
    const double value = centred * parameter(2) * parameter(3) + parameter(4);
    expected.push_back(
        {test.outputs[0].offset(index), value, 1.01 * roundoff(dtype) * std::fabs(value) + 1e-5});
  });
  return test;
}

}  // namespace

std::vector<Case> batchnorm_inference_cases() {
  const List dims = {2, 3, 4, 6}, rows = packed_strides(dims), last = {72, 1, 18, 3};
  const List big = {1, 2, 600};
  std::vector<Case> cases = {
      make_batchnorm("float", "float", "planes", dims, rows, rows, 64),
      make_batchnorm("float", "float", "planes", big, packed_strides(big), packed_strides(big), 64),
      make_batchnorm("half", "float", "planes", dims, rows, rows, 64),
      make_batchnorm("bfloat16", "bfloat16", "planes", dims, {96, 32, 6, 1}, rows, 64),
      make_batchnorm("float", "float", "strided", dims, last, last, 64),
      make_batchnorm("float", "float", "strided", dims, rows, last, 256),
      make_batchnorm("half", "float", "strided", {3, 5, 7}, {35, 7, 1}, {40, 8, 1}, 64),
      make_batchnorm("bfloat16", "bfloat16", "strided", {4, 9}, {9, 1}, {1, 4}, 64),
      make_batchnorm("float", "float", "strided", {70, 1, 3}, {3, 3, 1}, {3, 3, 1}, 64),
  };
  return cases;
}

}  // namespace hipplan::test
