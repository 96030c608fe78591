// Dims that ops define, against formulas written down here again, and inputs that do not fit.
#include <doctest/doctest.h>

#include <random>

#include "graph/shape.h"
#include "samples.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;
using namespace hipplan::test;
using Dims = std::vector<int64_t>;

std::string sample(const std::string& name) {
  for (const Sample& entry : samples())
    if (entry.name == name) return entry.text;
  return {};
}
/// The sample with the dims (and packed strides) of one tensor changed.
std::string reshaped(std::string text, int64_t uid, const Dims& dims,
                     const std::string& type = "float") {
  const std::string open = "{\"uid\":" + std::to_string(uid) + ",";
  const size_t at = text.find(open);
  if (at == std::string::npos) return {};
  const size_t type_at = text.find("\"data_type\":\"", at) + 13;
  const std::string old_type = text.substr(type_at, text.find('"', type_at) - type_at);
  const size_t end = text.find('}', at);
  const std::string old = text.substr(at, end + 1 - at);
  const size_t virtual_at = old.find("\"virtual\":");
  const std::string rest = old.substr(old.find_first_of(",}", virtual_at));
  std::string fresh = tensor(uid, dims, type == "float" ? old_type : type,
                             old.find("\"virtual\":true") != std::string::npos);
  fresh.pop_back();
  return text.replace(at, end + 1 - at, fresh + rest);
}

TEST_CASE("places of a window equal a count of the positions that fit") {
  for (int64_t in = 1; in < 9; ++in)
    for (int64_t pad = 0; pad < 3; ++pad)
      for (int64_t window = 1; window < 5; ++window)
        for (int64_t dilation = 1; dilation < 3; ++dilation)
          for (int64_t stride = 1; stride < 4; ++stride) {
            int64_t count = 0;
            for (int64_t at = -pad; at + (window - 1) * dilation < in + pad + 1; at += stride)
              ++count;
            const auto places =
                graph::detail::window_places(in, pad, pad + 1, window, dilation, stride);
            REQUIRE(places.value_or(0) == count);
          }
  CHECK_FALSE(graph::detail::window_places(INT64_MAX, 1, 0, 1, 1, 1).has_value());
  CHECK_FALSE(graph::detail::window_places(8, 0, 0, INT64_MAX, 2, 1).has_value());
}

TEST_CASE("convolution: dims, groups, paddings, rank") {
  for (const char* name : {"convolution_fwd", "convolution_bwd", "convolution_wrw"}) {
    const std::string text = sample(name);
    CHECK(refusal(text) == "accepted");
    const std::string wrong_y = refusal(reshaped(text, 3, {2, 6, 5, 6}));
    CHECK((wrong_y == "output-dims" || wrong_y == "input-dims"));
    CHECK(refusal(reshaped(text, 3, {1, 6, 5, 7})) != "accepted");
    CHECK(refusal(reshaped(text, 2, {6, 3, 3, 2})) == "groups");
    CHECK(refusal(reshaped(text, 2, {5, 2, 3, 2})) == "groups");
    CHECK(refusal(reshaped(text, 2, {6, 2, 30, 2})) == "window");
    CHECK(refusal(replaced(text, "\"stride\":[2,1]", "\"stride\":[2]")) == "spatial-rank");
    CHECK(refusal(replaced(text, "\"stride\":[2,1]", "\"stride\":[0,1]")) == "out-of-range");
    CHECK(refusal(replaced(text, "\"pre_padding\":[1,0]", "\"pre_padding\":[-1,0]")) ==
          "out-of-range");
    CHECK(refusal(replaced(text, "\"pre_padding\":[1,0]",
                           "\"pre_padding\":[9223372036854775807,0]")) == "window");
    CHECK(refusal(replaced(text, "CROSS_CORRELATION", "UNSET")) == "conv-mode");
    CHECK(refusal(replaced(text, "\"dilation\"", "\"group_count\":2,\"dilation\"")) == "accepted");
    CHECK(refusal(replaced(text, "\"dilation\"", "\"group_count\":1,\"dilation\"")) == "groups");
    const std::string flat = refusal(reshaped(text, 1, {2, 4}));
    CHECK((flat == "input-dims" || flat == "output-dims"));
  }
  const auto error = read(reshaped(sample("convolution_fwd"), 3, {2, 6, 5, 6})).error();
  CHECK(error.expected == "[2, 6, 5, 7]");
  CHECK(error.found == "[2, 6, 5, 6]");
  CHECK(error.where == "g.json:7:1: nodes[0] \"op\"");
}

TEST_CASE("matmul: inner dims, broadcast of batch dims") {
  const std::string text = sample("matmul");
  CHECK(refusal(reshaped(text, 2, {1, 2, 4, 6})) == "inner-dims");
  CHECK(refusal(reshaped(text, 2, {2, 2, 5, 6})) == "broadcast");
  CHECK(refusal(reshaped(text, 3, {3, 2, 6, 4})) == "output-dims");
  CHECK(refusal(reshaped(text, 3, {3, 1, 4, 6})) == "output-dims");
  CHECK(refusal(reshaped(text, 2, {2, 5, 6})) == "input-dims");
}

TEST_CASE("pointwise: number of inputs, broadcast, settings") {
  const std::string text = conv_bias_sample();
  CHECK(refusal(reshaped(text, 4, {6, 1, 1})) == "accepted");
  CHECK(refusal(reshaped(text, 4, {7})) == "accepted");
  CHECK(refusal(reshaped(text, 4, {1, 5, 1, 1})) == "broadcast");
  CHECK(refusal(reshaped(text, 4, {6})) == "broadcast");
  CHECK(refusal(reshaped(text, 4, {3, 2, 6, 5, 7})) == "output-dims");
  CHECK(refusal(reshaped(text, 5, {2, 6, 5, 1})) == "output-dims");
  CHECK(refusal(replaced(text, "\"add\"", "\"abs\"")) == "pointwise-inputs");
  CHECK(refusal(replaced(text, "\"add\"", "\"binary_select\"")) == "pointwise-inputs");
  CHECK(refusal(replaced(text, "\"add\"", "\"unset\"")) == "pointwise-operation");
  const auto relu = [](const std::string& extra) {
    return replaced(relu_sample(), "\"relu_fwd\"", "\"relu_fwd\"," + extra);
  };
  CHECK(refusal(relu("\"relu_lower_clip\":0,\"relu_upper_clip\":6.0")) == "accepted");
  CHECK(refusal(relu("\"relu_lower_clip\":7,\"relu_upper_clip\":6.0")) == "pointwise-clip");
  CHECK(refusal(relu("\"relu_upper_clip\":1e39")) == "out-of-range");
  CHECK(refusal(relu("\"relu_upper_clip\":\"6\"")) == "wrong-type");
  CHECK(refusal(relu("\"axis_tensor_uid\":2")) == "pointwise-axis");
  CHECK(refusal(replaced(relu_sample(), "relu_fwd", "gen_index")) == "pointwise-axis");
  CHECK(refusal(replaced(relu_sample(), "\"relu_fwd\"", "\"gen_index\",\"axis_tensor_uid\":1")) ==
        "accepted");
}

TEST_CASE("batchnorm: statistics are per channel") {
  for (const char* name :
       {"batchnorm_inference", "batchnorm_variance_ext", "batchnorm", "batchnorm_backward"}) {
    const std::string text = sample(name);
    CHECK(refusal(text) == "accepted");
    CHECK(refusal(reshaped(text, 9, {2, 3, 4, 4})) == "output-dims");
    CHECK(refusal(reshaped(text, 3, {1, 4, 1, 1})) == "input-dims");
    CHECK(refusal(reshaped(text, 3, {3})) == "input-dims");
  }
  CHECK(refusal(reshaped(sample("batchnorm"), 10, {1, 2, 1, 1})) == "output-dims");
  CHECK(refusal(reshaped(sample("batchnorm_backward"), 2, {2, 3, 4, 4})) == "input-dims");
  CHECK(refusal(replaced(sample("batchnorm_backward"), "\"mean_tensor_uid\":4",
                         "\"mean_tensor_uid\":null")) == "unused-tensor");
}

TEST_CASE("layernorm and rmsnorm: scale has the trailing dims, statistics the leading ones") {
  const std::string text = sample("layernorm");
  CHECK(refusal(replaced(text, "\"normalized_dim_count\":2,", "")) == "accepted");
  CHECK(refusal(replaced(text, "\"normalized_dim_count\":2", "\"normalized_dim_count\":1")) ==
        "input-dims");
  CHECK(refusal(replaced(text, "\"normalized_dim_count\":2", "\"normalized_dim_count\":5")) ==
        "normalized-dims");
  CHECK(refusal(replaced(text, "\"normalized_dim_count\":2", "\"normalized_dim_count\":0")) ==
        "out-of-range");
  CHECK(refusal(reshaped(text, 3, {1, 1, 1, 5})) == "input-dims");
  CHECK(refusal(reshaped(text, 10, {2, 3, 4, 1})) == "output-dims");
  CHECK(refusal(reshaped(text, 9, {2, 3, 4, 6})) == "output-dims");
  CHECK(refusal(replaced(text, "\"value\":0.00001", "\"value\":0.5")) == refusal(text));
  const std::string rms = sample("rmsnorm");
  CHECK(refusal(reshaped(rms, 2, {1, 3, 1, 5})) == "input-dims");
  CHECK(refusal(reshaped(rms, 2, {1, 3, 4, 5})) == "output-dims");
  CHECK(refusal(reshaped(rms, 10, {2, 1, 1, 1})) == "output-dims");
  CHECK(refusal(reshaped(sample("rmsnorm_backward"), 4, {2, 3, 4, 1})) == "input-dims");
  CHECK(refusal(reshaped(sample("layernorm_backward"), 10, {1, 1, 1, 5})) == "output-dims");
}

TEST_CASE("attention: operands, heads, masks") {
  CHECK(refusal(sdpa_sample()) == "accepted");
  CHECK(refusal(reshaped(sdpa_sample(), 2, {2, 3, 7, 4})) == "input-dims");
  CHECK(refusal(reshaped(sdpa_sample(), 2, {1, 3, 7, 8})) == "input-dims");
  CHECK(refusal(reshaped(sdpa_sample(), 3, {2, 2, 6, 4})) == "input-dims");
  CHECK(refusal(reshaped(sdpa_sample(), 2, {2, 4, 7, 8})) == "heads");
  CHECK(refusal(reshaped(sdpa_sample(), 3, {2, 5, 7, 4})) == "heads");
  CHECK(refusal(reshaped(sdpa_sample(), 4, {2, 6, 5, 8})) == "output-dims");
  CHECK(refusal(reshaped(sdpa_sample(), 1, {6, 5, 8})) == "input-dims");
  CHECK(refusal(reshaped(sdpa_sample(), 2, {2, 3, 7, 8}, "half")) == "data-type");

  const auto masked = [](const Dims& dims) {
    return sdpa_sample(",\"attn_mask_tensor_uid\":5", "", "", {tensor(5, dims)});
  };
  CHECK(refusal(masked({1, 1, 5, 7})) == "accepted");
  CHECK(refusal(masked({2, 6, 1, 7})) == "accepted");
  CHECK(refusal(masked({1, 1, 7, 5})) == "input-dims");
  CHECK(refusal(masked({1, 2, 5, 7})) == "input-dims");
  CHECK(refusal(masked({4, 6, 5, 7})) == "input-dims");
}

TEST_CASE("attention: settings that contradict each other") {
  const auto attributes = [](const std::string& text) {
    return refusal(sdpa_sample("", "", text));
  };
  CHECK(attributes("\"causal_mask\":true,\"causal_mask_bottom_right\":true") == "mask-conflict");
  CHECK(attributes("\"causal_mask\":true,\"diagonal_alignment\":\"BOTTOM_RIGHT\"") ==
        "mask-conflict");
  CHECK(attributes("\"causal_mask\":true,\"right_bound\":2") == "mask-conflict");
  CHECK(attributes("\"causal_mask\":true,\"right_bound\":0") == "accepted");
  CHECK(attributes("\"causal_mask_bottom_right\":true") == "accepted");
  CHECK(attributes("\"left_bound\":-1,\"right_bound\":0,\"diagonal_alignment\":\"BOTTOM_RIGHT\"") ==
        "accepted");
  CHECK(attributes("\"left_bound\":0") == "left-bound");
  CHECK(attributes("\"left_bound\":-2") == "out-of-range");
  CHECK(attributes("\"attn_scale_value\":1e39") == "out-of-range");
  CHECK(attributes("\"dropout_probability\":0.0") == "accepted");
  CHECK(attributes("\"dropout_probability\":1.0") == "dropout");
  CHECK(attributes("\"dropout_probability\":0.5") == "dropout");
  CHECK(attributes("\"padding_mask\":true") == "missing-role");
  CHECK(attributes("\"generate_stats\":true") == "stats-conflict");
  CHECK(attributes("\"generate_stats\":1") == "wrong-type");
  CHECK(refusal(replaced(sample("sdpa"), "\"generate_stats\":true", "\"generate_stats\":false")) ==
        "stats-conflict");
  CHECK(refusal(replaced(sample("sdpa"), "\"generate_stats\":true", "\"generate_stats\":null")) ==
        "accepted");
  CHECK(refusal(reshaped(sample("sdpa"), 5, {2, 6, 5, 2})) == "output-dims");
  CHECK(refusal(sdpa_sample(",\"scale_tensor_uid\":5", "", "\"attn_scale_value\":1.0",
                            {tensor(5, {1})})) == "scale-conflict");
  CHECK(refusal(sdpa_sample(",\"scale_tensor_uid\":5", "", "", {tensor(5, {2})})) == "input-dims");
}

TEST_CASE("attention: lengths and pages") {
  const auto lengths = [](const Dims& dims, const std::string& type) {
    return refusal(sdpa_sample(",\"seq_len_q_tensor_uid\":5,\"seq_len_kv_tensor_uid\":6", "",
                               "\"padding_mask\":true",
                               {tensor(5, dims, type), tensor(6, {2}, "int32")}));
  };
  CHECK(lengths({2}, "int32") == "accepted");
  CHECK(lengths({2, 1, 1, 1}, "int64") == "accepted");
  CHECK(lengths({3}, "int32") == "input-dims");
  CHECK(lengths({1, 2}, "int32") == "input-dims");
  CHECK(lengths({2}, "float") == "data-type");

  // 5 blocks of 7 positions; 20 positions need 3 pages per sequence.
  const auto paged = [](const Dims& table, const std::string& attributes) {
    std::string text =
        sdpa_sample(",\"page_table_k_tensor_uid\":5,\"page_table_v_tensor_uid\":6", "", attributes,
                    {tensor(5, table, "int32"), tensor(6, table, "int32")});
    text = reshaped(text, 2, {5, 3, 7, 8});
    return refusal(reshaped(text, 3, {5, 2, 7, 4}));
  };
  CHECK(paged({2, 1, 3, 1}, "\"max_seq_len_kv\":20") == "accepted");
  CHECK(paged({2, 1, 3, 1}, "\"max_seq_len_kv\":21") == "accepted");
  CHECK(paged({2, 1, 3, 1}, "\"max_seq_len_kv\":22") == "input-dims");
  CHECK(paged({1, 1, 3, 1}, "\"max_seq_len_kv\":20") == "input-dims");
  CHECK(paged({2, 1, 3, 1}, "") == "missing-key");
  CHECK(refusal(sdpa_sample(",\"page_table_k_tensor_uid\":5", "", "\"max_seq_len_kv\":7",
                            {tensor(5, {2, 1, 1, 1}, "int32")})) == "missing-role");
}

TEST_CASE("reduction, resampling, block scales, grouped products") {
  CHECK(refusal(reshaped(sample("reduction"), 2, {8, 64})) == "accepted");
  CHECK(refusal(reshaped(sample("reduction"), 2, {8, 2})) == "output-dims");
  CHECK(refusal(reshaped(sample("reduction"), 2, {8})) == "output-dims");
  CHECK(refusal(replaced(sample("reduction"), "ADD", "NOT_SET")) == "reduction-mode");
  CHECK(refusal(reshaped(sample("resample_fwd"), 2, {1, 2, 4, 4})) == "output-dims");
  CHECK(refusal(replaced(sample("resample_fwd"), "\"window\":[2,3]", "\"window\":[20,3]")) ==
        "window");
  CHECK(refusal(replaced(sample("resample_fwd"), "MAXPOOL", "NOT_SET")) == "resample-mode");
  CHECK(refusal(reshaped(sample("resample_bwd"), 2, {1, 2, 5, 5})) == "input-dims");
  CHECK(refusal(reshaped(sample("block_scale_dequantize"), 3, {4, 32})) == "output-dims");
  CHECK(refusal(reshaped(sample("block_scale_dequantize"), 2, {4, 65})) == "input-dims");
  CHECK(refusal(replaced(sample("block_scale_quantize"), "\"axis\":1", "\"axis\":2")) == "axis");
  CHECK(refusal(reshaped(sample("moe"), 2, {3, 5, 6})) == "inner-dims");
  CHECK(refusal(reshaped(sample("moe"), 4, {1, 8, 5})) == "output-dims");
  CHECK(refusal(reshaped(sample("moe_bwd"), 2, {3, 5, 6})) == "output-dims");
}

TEST_CASE("output dims that an op defines are inferred for every op that defines them") {
  size_t inferred = 0;
  for (const Sample& entry : samples()) {
    const auto graph = read(entry.text);
    REQUIRE(graph.ok());
    for (const Node& op : graph->nodes)
      for (const Reference& output : op.outputs) {
        const auto& wanted = graph->tensors[output.tensor];
        const std::string open = "{\"uid\":" + std::to_string(wanted.uid) + ",";
        const size_t at = entry.text.find(open);
        std::string text = entry.text;
        const size_t dims_at = text.find("\"dims\":", at);
        text.erase(dims_at, text.find(']', dims_at) + 2 - dims_at);
        const auto again = read(text);
        if (!again) {
          CHECK(again.error().reason == "no-dims");
          continue;
        }
        CHECK(again->tensors[output.tensor].dims == wanted.dims);
        ++inferred;
      }
  }
  CHECK(inferred >= 25);
}

}  // namespace
