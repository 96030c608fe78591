// One good set of launch values for each handler, for tests that bend them.
#pragma once

#include <string>
#include <vector>

#include "base/launch_value.h"

namespace hipplan::test {

using List = std::vector<int64_t>;

struct Example {
  const char* alias;
  LaunchValues values;
};

inline LaunchValues pointwise_example() {
  return {{"operation", std::string("add")},
          {"dtype", std::string("half")},
          {"layout", std::string("contiguous")},
          {"output.uid", int64_t{9}},
          {"inputs", List{1, 2}},
          {"dims", List{2, 3, 40}},
          {"out_strides", List{120, 40, 1}},
          {"in_strides", List{120, 40, 1, 0, 0, 0}},
          {"axis", int64_t{0}},
          {"relu_lower_clip", 0.0},
          {"relu_upper_clip", 0.0},
          {"relu_has_upper_clip", false},
          {"relu_lower_clip_slope", 0.0},
          {"elu_alpha", 1.0},
          {"swish_beta", 1.0},
          {"softplus_beta", 1.0},
          {"block_size", int64_t{64}}};
}

inline LaunchValues conv_fwd_example() {
  return {{"dtype", std::string("float")},
          {"algorithm", std::string("direct")},
          {"conv_mode", std::string("CROSS_CORRELATION")},
          {"x.uid", int64_t{1}},
          {"w.uid", int64_t{2}},
          {"y.uid", int64_t{3}},
          {"bias", List{}},
          {"x_dims", List{2, 6, 9, 8}},
          {"w_dims", List{10, 3, 3, 2}},
          {"y_dims", List{2, 10, 9, 4}},
          {"x_strides", List{432, 72, 8, 1}},
          {"w_strides", List{18, 6, 2, 1}},
          {"y_strides", List{360, 36, 4, 1}},
          {"bias_strides", List{}},
          {"pre_padding", List{1, 0}},
          {"post_padding", List{1, 1}},
          {"stride", List{1, 2}},
          {"dilation", List{1, 1}},
          {"groups", int64_t{2}},
          {"block_size", int64_t{64}},
          {"tile_m", int64_t{4}},
          {"tile_n", int64_t{64}},
          {"tile_k", int64_t{1}}};
}

inline LaunchValues matmul_example() {
  return {{"dtype", std::string("half")},
          {"math", std::string("vector")},
          {"a.uid", int64_t{1}},
          {"b.uid", int64_t{2}},
          {"c.uid", int64_t{3}},
          {"batch_dims", List{4, 3}},
          {"m", int64_t{100}},
          {"n", int64_t{65}},
          {"k", int64_t{20}},
          {"a_strides", List{6000, 2000, 20, 1}},
          {"b_strides", List{0, 1300, 65, 1}},
          {"c_strides", List{19500, 6500, 65, 1}},
          {"block_size", int64_t{256}},
          {"tile_m", int64_t{64}},
          {"tile_n", int64_t{64}},
          {"tile_k", int64_t{16}}};
}

inline LaunchValues batchnorm_inference_example() {
  return {{"dtype", std::string("bfloat16")},
          {"param_dtype", std::string("float")},
          {"layout", std::string("planes")},
          {"x.uid", int64_t{1}},
          {"mean.uid", int64_t{2}},
          {"inv_variance.uid", int64_t{3}},
          {"scale.uid", int64_t{4}},
          {"bias.uid", int64_t{5}},
          {"y.uid", int64_t{6}},
          {"dims", List{2, 3, 4, 8}},
          {"x_strides", List{96, 32, 8, 1}},
          {"y_strides", List{96, 32, 8, 1}},
          {"param_strides", List{1, 1, 2, 1}},
          {"block_size", int64_t{64}}};
}

inline LaunchValues sdpa_fwd_example() {
  return {{"dtype", std::string("half")},
          {"q.uid", int64_t{1}},
          {"k.uid", int64_t{2}},
          {"v.uid", int64_t{3}},
          {"o.uid", int64_t{4}},
          {"batch", int64_t{2}},
          {"heads_q", int64_t{8}},
          {"heads_k", int64_t{2}},
          {"heads_v", int64_t{4}},
          {"seq_q", int64_t{100}},
          {"seq_kv", int64_t{70}},
          {"head_size_qk", int64_t{64}},
          {"head_size_v", int64_t{32}},
          {"q_strides", List{51200, 6400, 64, 1}},
          {"k_strides", List{8960, 4480, 64, 1}},
          {"v_strides", List{8960, 2240, 32, 1}},
          {"o_strides", List{25600, 3200, 32, 1}},
          {"mask", List{}},
          {"mask_dtype", std::string("half")},
          {"mask_strides", List{}},
          {"seq_len_q", List{}},
          {"seq_len_kv", List{}},
          {"seq_len_q_stride", int64_t{0}},
          {"seq_len_kv_stride", int64_t{0}},
          {"stats", List{7}},
          {"stats_strides", List{800, 100, 1}},
          {"scale", 0.125},
          {"left_bound", List{}},
          {"right_bound", List{0}},
          {"diagonal_alignment", std::string("TOP_LEFT")},
          {"block_size", int64_t{256}},
          {"tile_q", int64_t{64}},
          {"tile_kv", int64_t{64}},
          {"max_head_size", int64_t{64}}};
}

inline std::vector<Example> examples() {
  return {{"hipplan.pointwise.dispatch.v1", pointwise_example()},
          {"hipplan.conv_fwd.dispatch.v1", conv_fwd_example()},
          {"hipplan.matmul.dispatch.v1", matmul_example()},
          {"hipplan.batchnorm_inference.dispatch.v1", batchnorm_inference_example()},
          {"hipplan.sdpa_fwd.dispatch.v1", sdpa_fwd_example()}};
}

/// The values with one of them replaced.
inline LaunchValues with(LaunchValues values, const std::string& name, ValueData data) {
  for (auto& value : values) {
    if (value.name == name) value.data = std::move(data);
  }
  return values;
}

}  // namespace hipplan::test
