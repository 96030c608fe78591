#include <cmath>

#include "cases.h"

namespace hipplan::test {

namespace {

struct ConvProblem {
  int64_t batch, channels, outputs, groups;
  List in, taps, pre, post, stride, dilation;
  bool mirrored = false;
  bool channels_last = false;
  int bias = 0;  ///< 1: per output channel, 2: full
};

List with(int64_t first, int64_t second, const List& rest) {
  List out = {first, second};
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

List strides_of(const List& dims, bool channels_last) {
  if (!channels_last) return packed_strides(dims);
  List strides(dims.size());
  int64_t next = 1;
  strides[1] = next;
  next *= dims[1];
  for (size_t i = dims.size(); i-- > 2;) {
    strides[i] = next;
    next *= dims[i];
  }
  strides[0] = next;
  return strides;
}

/// Adds bias to the tolerance's scale and to the sum.
struct Sum {
  double value = 0, magnitude = 0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
  }
};

Sum convolve(const ConvProblem& p, const Tensor& x, const Tensor& w, const List& y_index) {
  Sum sum;
  const int64_t per_group = p.outputs / p.groups, group_channels = p.channels / p.groups;
  const int64_t first_channel = y_index[1] / per_group * group_channels;
  for_each_index(with(1, group_channels, p.taps), [&](const List& step) {
    List x_index = {y_index[0], first_channel + step[1]}, w_index = {y_index[1], step[1]};
    for (size_t i = 0; i < p.taps.size(); ++i) {
      const int64_t at = y_index[i + 2] * p.stride[i] - p.pre[i] + step[i + 2] * p.dilation[i];
      if (at < 0 || at >= p.in[i]) return;
      x_index.push_back(at);
      w_index.push_back(p.mirrored ? p.taps[i] - 1 - step[i + 2] : step[i + 2]);
    }
    sum.add(x.at(x_index) * w.at(w_index));
  });
  return sum;
}

Case make_conv(const ConvProblem& p, const std::string& dtype, const std::string& algorithm,
               const List& tile) {
  Case test;
  test.kernel = "conv_fwd." + algorithm + "_" + dtype + "_b" + std::to_string(tile[0]) + "_m" +
                std::to_string(tile[1]);
  test.alias = "hipplan.conv_fwd.dispatch.v1";
  List out;
  for (size_t i = 0; i < p.in.size(); ++i) {
    out.push_back(
        (p.in[i] + p.pre[i] + p.post[i] - p.dilation[i] * (p.taps[i] - 1) - 1) / p.stride[i] + 1);
  }
  const List x_dims = with(p.batch, p.channels, p.in),
             w_dims = with(p.outputs, p.channels / p.groups, p.taps),
             y_dims = with(p.batch, p.outputs, out);
  test.inputs.push_back(
      random_tensor(1, dtype, x_dims, strides_of(x_dims, p.channels_last), -1, 1));
  test.inputs.push_back(
      random_tensor(2, dtype, w_dims, strides_of(w_dims, p.channels_last), -1, 1));
  test.outputs.push_back(poisoned_tensor(3, dtype, y_dims, strides_of(y_dims, p.channels_last)));
  List bias_uid, bias_strides;
  if (p.bias != 0) {
    const List dims = p.bias == 1 ? List{p.outputs} : y_dims;
    test.inputs.push_back(random_tensor(4, dtype, dims, packed_strides(dims), -1, 1));
    bias_uid = {4};
    bias_strides = p.bias == 1 ? List(y_dims.size(), 0) : packed_strides(y_dims);
    if (p.bias == 1) bias_strides[1] = 1;
  }
  test.values = {{"dtype", dtype},
                 {"algorithm", algorithm},
                 {"conv_mode", std::string(p.mirrored ? "CONVOLUTION" : "CROSS_CORRELATION")},
                 {"x.uid", int64_t{1}},
                 {"w.uid", int64_t{2}},
                 {"y.uid", int64_t{3}},
                 {"bias", bias_uid},
                 {"x_dims", x_dims},
                 {"w_dims", w_dims},
                 {"y_dims", y_dims},
                 {"x_strides", test.inputs[0].strides},
                 {"w_strides", test.inputs[1].strides},
                 {"y_strides", test.outputs[0].strides},
                 {"bias_strides", bias_strides},
                 {"pre_padding", p.pre},
                 {"post_padding", p.post},
                 {"stride", p.stride},
                 {"dilation", p.dilation},
                 {"groups", p.groups},
                 {"block_size", tile[0]},
                 {"tile_m", tile[1]},
                 {"tile_n", tile[2]},
                 {"tile_k", tile[3]}};
  auto& expected = test.expected.emplace_back();
  for_each_index(y_dims, [&](const List& index) {
    Sum sum = convolve(p, test.inputs[0], test.inputs[1], index);
    if (p.bias == 1) sum.add(test.inputs[2].at({index[1]}));
    if (p.bias == 2) sum.add(test.inputs[2].at(index));
    expected.push_back({test.outputs[0].offset(index), sum.value,
                        1.01 * roundoff(dtype) * std::fabs(sum.value) + 0x1p-20 * sum.magnitude});
  });
  return test;
}

}  // namespace

std::vector<Case> conv_fwd_cases() {
  const ConvProblem plain = {2, 5, 7, 1, {9, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  ConvProblem mirrored = plain;
  mirrored.mirrored = true;
  mirrored.bias = 1;
  ConvProblem last = plain;
  last.channels_last = true;
  last.bias = 2;
  const ConvProblem grouped = {1, 6, 9, 3, {11, 7}, {3, 2}, {0, 2}, {2, 1}, {2, 1}, {2, 3}};
  const ConvProblem depthwise = {2, 4, 4, 4, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  const ConvProblem line = {2, 3, 5, 1, {40}, {5}, {4}, {0}, {1}, {1}};
  const ConvProblem volume = {1,         3,         4,         1,         {4, 5, 6}, {2, 3, 2},
                              {1, 0, 1}, {0, 1, 1}, {1, 2, 1}, {1, 1, 2}, true};
  const ConvProblem wide = {1, 20, 70, 1, {7, 10}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
  const List direct_1 = {64, 1, 64, 1}, direct_4 = {256, 4, 256, 1}, direct_small = {64, 4, 64, 1};
  const List gemm_64 = {256, 64, 64, 16}, gemm_16 = {64, 16, 64, 16};
  std::vector<Case> cases;
  for (const auto& problem : {plain, mirrored, last, grouped, depthwise, line, volume, wide}) {
    cases.push_back(make_conv(problem, "float", "direct", direct_1));
    cases.push_back(make_conv(problem, "float", "direct", direct_4));
    cases.push_back(make_conv(problem, "float", "implicit_gemm", gemm_16));
    cases.push_back(make_conv(problem, "float", "implicit_gemm", gemm_64));
  }
  cases.push_back(make_conv(mirrored, "bfloat16", "direct", direct_small));
  cases.push_back(make_conv(mirrored, "half", "implicit_gemm", gemm_64));
  cases.push_back(make_conv(grouped, "half", "implicit_gemm", gemm_16));
  return cases;
}

}  // namespace hipplan::test
