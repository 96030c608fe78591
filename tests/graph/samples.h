// Small graphs in the dialect: one sound sample per node type, and the means to spoil them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace hipplan::test {

inline std::string list_text(const std::vector<int64_t>& list) {
  std::string out = "[";
  for (size_t i = 0; i < list.size(); ++i) out += (i ? "," : "") + std::to_string(list[i]);
  return out + "]";
}

/// A packed tensor. `more` is put behind the other keys: ",\"alignment\":64".
inline std::string tensor(int64_t uid, const std::vector<int64_t>& dims,
                          const std::string& type = "float", bool is_virtual = false,
                          const std::string& more = "") {
  std::vector<int64_t> strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return "{\"uid\":" + std::to_string(uid) + ",\"name\":\"t" + std::to_string(uid) +
         "\",\"data_type\":\"" + type + "\",\"dims\":" + list_text(dims) +
         ",\"strides\":" + list_text(strides) + ",\"virtual\":" + (is_virtual ? "true" : "false") +
         more + "}";
}

/// A constant of one element.
inline std::string constant(int64_t uid, double value) {
  return tensor(uid, {1}, "float", false,
                ",\"value_type\":\"Float32Value\",\"value\":" + std::to_string(value));
}

inline std::string node(const std::string& type, const std::string& rest) {
  return "{\"name\":\"op\",\"type\":\"" + type + "\",\"compute_data_type\":\"float\"," + rest + "}";
}
inline std::string in_out(const std::string& inputs, const std::string& outputs) {
  return "\"inputs\":{" + inputs + "},\"outputs\":{" + outputs + "}";
}

inline std::string join(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ",\n") + part;
  return out;
}
inline std::string graph_text(const std::vector<std::string>& tensors,
                              const std::vector<std::string>& nodes) {
  return "{\"name\":\"g\",\"compute_data_type\":\"float\",\"io_data_type\":\"float\","
         "\"intermediate_data_type\":\"float\",\n\"tensors\":[\n" +
         join(tensors) + "],\n\"nodes\":[\n" + join(nodes) + "]}\n";
}

/// `text` with the first `from` replaced; an empty result when it does not occur.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return {};
  return text.replace(at, from.size(), to);
}

struct Sample {
  std::string name;
  std::string text;
};

inline const std::string kConvParameters =
    ",\"parameters\":{\"conv_mode\":\"CROSS_CORRELATION\",\"pre_padding\":[1,0],"
    "\"post_padding\":[2,1],\"stride\":[2,1],\"dilation\":[1,2]}";
inline const std::string kPoolParameters =
    ",\"parameters\":{\"resample_mode\":\"MAXPOOL\",\"padding_mode\":\"NEG_INF_PAD\","
    "\"pre_padding\":[0,1],\"post_padding\":[0,1],\"stride\":[2,2],\"window\":[2,3]}";

/// x [2,4,9,8], w [6,2,3,2] in two groups: y is (9+1+2-3)/2+1 = 5 by (8+0+1-3)/1+1 = 7.
inline std::vector<std::string> conv_tensors() {
  return {tensor(1, {2, 4, 9, 8}), tensor(2, {6, 2, 3, 2}), tensor(3, {2, 6, 5, 7})};
}

inline std::string relu_sample() {
  return graph_text(
      {tensor(1, {2, 3}), tensor(2, {2, 3})},
      {node("PointwiseAttributes",
            in_out("\"operation\":\"relu_fwd\",\"in_0_tensor_uid\":1", "\"out_0_tensor_uid\":2"))});
}

/// conv -> virtual y -> add bias -> out.
inline std::string conv_bias_sample() {
  auto tensors = conv_tensors();
  tensors[2] = tensor(3, {2, 6, 5, 7}, "float", true);
  tensors.push_back(tensor(4, {1, 6, 1, 1}));
  tensors.push_back(tensor(5, {2, 6, 5, 7}));
  return graph_text(
      tensors, {node("ConvolutionFwdAttributes",
                     in_out("\"x_tensor_uid\":1,\"w_tensor_uid\":2", "\"y_tensor_uid\":3") +
                         kConvParameters),
                node("PointwiseAttributes",
                     in_out("\"operation\":\"add\",\"in_0_tensor_uid\":3,\"in_1_tensor_uid\":4",
                            "\"out_0_tensor_uid\":5"))});
}

/// q [2,6,5,8], k [2,3,7,8], v [2,2,7,4].
inline std::string sdpa_sample(const std::string& inputs = "", const std::string& outputs = "",
                               const std::string& attributes = "",
                               const std::vector<std::string>& more_tensors = {}) {
  std::vector<std::string> tensors{tensor(1, {2, 6, 5, 8}), tensor(2, {2, 3, 7, 8}),
                                   tensor(3, {2, 2, 7, 4}), tensor(4, {2, 6, 5, 4})};
  tensors.insert(tensors.end(), more_tensors.begin(), more_tensors.end());
  return graph_text(
      tensors, {node("SdpaAttributes",
                     in_out("\"q_tensor_uid\":1,\"k_tensor_uid\":2,\"v_tensor_uid\":3" + inputs,
                            "\"o_tensor_uid\":4" + outputs) +
                         ",\"attributes\":{" + attributes + "}")});
}

inline std::vector<Sample> norm_samples() {
  const auto x = tensor(1, {2, 3, 4, 5}), y = tensor(9, {2, 3, 4, 5});
  const auto c = [](int64_t uid) { return tensor(uid, {1, 3, 1, 1}); };
  const auto last = [](int64_t uid) { return tensor(uid, {1, 1, 4, 5}); };
  const auto first = [](int64_t uid) { return tensor(uid, {2, 3, 1, 1}); };
  const std::string five =
      "\"x_tensor_uid\":1,\"mean_tensor_uid\":2,\"scale_tensor_uid\":4,\"bias_tensor_uid\":5";
  const std::string norm4 =
      "\"x_tensor_uid\":1,\"scale_tensor_uid\":2,\"bias_tensor_uid\":3,\"epsilon_tensor_uid\":4";
  return {
      {"batchnorm_inference",
       graph_text({x, c(2), c(3), c(4), c(5), y},
                  {node("BatchnormInferenceAttributes",
                        in_out(five + ",\"inv_variance_tensor_uid\":3", "\"y_tensor_uid\":9"))})},
      {"batchnorm_variance_ext",
       graph_text({x, c(2), c(3), c(4), c(5), constant(6, 0.001), y},
                  {node("BatchnormInferenceAttributesVarianceExt",
                        in_out(five + ",\"variance_tensor_uid\":3,\"epsilon_tensor_uid\":6",
                               "\"y_tensor_uid\":9"))})},
      {"batchnorm",
       graph_text({x, c(2), c(3), constant(4, 0.001), constant(5, 0.1), c(6), c(7), c(8), y, c(10),
                   c(11), c(12), c(13)},
                  {node("BatchnormAttributes",
                        in_out(norm4 + ",\"peer_stats_tensor_uid\":[8],\"momentum_tensor_uid\":5,"
                                       "\"prev_running_mean_tensor_uid\":6,"
                                       "\"prev_running_variance_tensor_uid\":7",
                               "\"y_tensor_uid\":9,\"mean_tensor_uid\":10,"
                               "\"inv_variance_tensor_uid\":11,\"next_running_mean_tensor_uid\":12,"
                               "\"next_running_variance_tensor_uid\":13"))})},
      {"batchnorm_backward",
       graph_text({x, tensor(2, {2, 3, 4, 5}), c(3), c(4), c(5), y, c(10), c(11)},
                  {node("BatchnormBackwardAttributes",
                        in_out("\"dy_tensor_uid\":2,\"x_tensor_uid\":1,\"scale_tensor_uid\":3,"
                               "\"mean_tensor_uid\":4,\"inv_variance_tensor_uid\":5",
                               "\"dx_tensor_uid\":9,\"dscale_tensor_uid\":10,"
                               "\"dbias_tensor_uid\":11"))})},
      {"layernorm", graph_text({x, last(2), last(3), constant(4, 1e-5), y, first(10), first(11)},
                               {node("LayernormAttributes",
                                     in_out(norm4,
                                            "\"y_tensor_uid\":9,\"mean_tensor_uid\":10,"
                                            "\"inv_variance_tensor_uid\":11") +
                                         ",\"normalized_dim_count\":2,\"forward_phase\":0")})},
      {"layernorm_backward",
       graph_text({x, tensor(2, {2, 3, 4, 5}), last(3), first(4), first(5), y, last(10), last(11)},
                  {node("LayernormBackwardAttributes",
                        in_out("\"dy_tensor_uid\":2,\"x_tensor_uid\":1,\"scale_tensor_uid\":3,"
                               "\"mean_tensor_uid\":4,\"inv_variance_tensor_uid\":5",
                               "\"dx_tensor_uid\":9,\"dscale_tensor_uid\":10,"
                               "\"dbias_tensor_uid\":11") +
                            ",\"normalized_dim_count\":2")})},
      {"rmsnorm",
       graph_text({x, last(2), constant(4, 1e-5), y, first(10)},
                  {node("RMSNormAttributes",
                        in_out("\"x_tensor_uid\":1,\"scale_tensor_uid\":2,\"epsilon_tensor_uid\":4",
                               "\"y_tensor_uid\":9,\"inv_rms_tensor_uid\":10"))})},
      {"rmsnorm_backward",
       graph_text({x, tensor(2, {2, 3, 4, 5}), last(3), first(4), y, last(10)},
                  {node("RMSNormBackwardAttributes",
                        in_out("\"dy_tensor_uid\":2,\"x_tensor_uid\":1,\"scale_tensor_uid\":3,"
                               "\"inv_rms_tensor_uid\":4",
                               "\"dx_tensor_uid\":9,\"dscale_tensor_uid\":10"))})},
  };
}

inline std::vector<Sample> product_samples() {
  auto conv = conv_tensors();
  const auto conv_graph = [&](const std::string& type, const std::string& io) {
    return graph_text(conv, {node(type, io + kConvParameters)});
  };
  return {
      {"convolution_fwd",
       conv_graph("ConvolutionFwdAttributes",
                  in_out("\"x_tensor_uid\":1,\"w_tensor_uid\":2", "\"y_tensor_uid\":3"))},
      {"convolution_bwd",
       conv_graph("ConvolutionBwdAttributes",
                  in_out("\"dy_tensor_uid\":3,\"w_tensor_uid\":2", "\"dx_tensor_uid\":1"))},
      {"convolution_wrw",
       conv_graph("ConvolutionWrwAttributes",
                  in_out("\"x_tensor_uid\":1,\"dy_tensor_uid\":3", "\"dw_tensor_uid\":2"))},
      {"matmul",
       graph_text({tensor(1, {3, 1, 4, 5}), tensor(2, {1, 2, 5, 6}), tensor(3, {3, 2, 4, 6})},
                  {node("MatmulAttributes",
                        in_out("\"a_tensor_uid\":1,\"b_tensor_uid\":2", "\"c_tensor_uid\":3"))})},
      {"moe", graph_text({tensor(1, {1, 8, 4}), tensor(2, {3, 4, 6}), tensor(3, {3, 1, 1}, "int32"),
                          tensor(4, {1, 8, 6})},
                         {node("MoeGroupedMatmulAttributes",
                               in_out("\"token_tensor_uid\":1,\"weight_tensor_uid\":2,"
                                      "\"first_token_offset_tensor_uid\":3",
                                      "\"output_tensor_uid\":4") +
                                   ",\"parameters\":{\"mode\":\"GATHER\",\"top_k\":2}")})},
      {"moe_bwd", graph_text({tensor(1, {1, 8, 4}), tensor(2, {3, 4, 6}),
                              tensor(3, {3, 1, 1}, "int32"), tensor(4, {1, 8, 6})},
                             {node("MoeGroupedMatmulBwdAttributes",
                                   in_out("\"token_tensor_uid\":1,\"doutput_tensor_uid\":4,"
                                          "\"first_token_offset_tensor_uid\":3",
                                          "\"dweight_tensor_uid\":2"))})},
  };
}

inline std::vector<Sample> other_samples() {
  const std::string uids = "\"x_tensor_uid\":1";
  return {
      {"pointwise", relu_sample()},
      {"conv_bias", conv_bias_sample()},
      {"sdpa", sdpa_sample("", ",\"stats_tensor_uid\":5",
                           "\"generate_stats\":true,\"right_bound\":0,\"left_bound\":3",
                           {tensor(5, {2, 6, 5, 1})})},
      {"sdpa_backward",
       graph_text({tensor(1, {2, 6, 5, 8}), tensor(2, {2, 3, 7, 8}), tensor(3, {2, 2, 7, 4}),
                   tensor(4, {2, 6, 5, 4}), tensor(5, {2, 6, 5, 4}), tensor(6, {2, 6, 5, 1}),
                   tensor(7, {2, 6, 5, 8}), tensor(8, {2, 3, 7, 8}), tensor(9, {2, 2, 7, 4})},
                  {node("SdpaBackwardAttributes",
                        in_out("\"q_tensor_uid\":1,\"k_tensor_uid\":2,\"v_tensor_uid\":3,"
                               "\"o_tensor_uid\":4,\"do_tensor_uid\":5,\"stats_tensor_uid\":6",
                               "\"dq_tensor_uid\":7,\"dk_tensor_uid\":8,\"dv_tensor_uid\":9") +
                            ",\"attributes\":{\"causal_mask\":true}")})},
      {"reduction",
       graph_text({tensor(1, {8, 64}), tensor(2, {8, 1})},
                  {node("ReductionAttributes",
                        "\"mode\":\"ADD\",\"in_tensor_uid\":1,\"out_tensor_uid\":2")})},
      {"resample_fwd",
       graph_text(
           {tensor(1, {1, 2, 8, 9}), tensor(2, {1, 2, 4, 5}), tensor(3, {1, 2, 4, 5}, "int8")},
           {node("ResampleFwdAttributes",
                 in_out(uids, "\"y_tensor_uid\":2,\"index_tensor_uid\":3") + kPoolParameters)})},
      {"resample_bwd",
       graph_text({tensor(1, {1, 2, 8, 9}), tensor(2, {1, 2, 4, 5})},
                  {node("ResampleBwdAttributes",
                        in_out("\"dy_tensor_uid\":2", "\"dx_tensor_uid\":1") + kPoolParameters)})},
      {"block_scale_dequantize",
       graph_text(
           {tensor(1, {4, 64}, "fp4_e2m1"), tensor(2, {4, 2}, "fp8_e8m0"), tensor(3, {4, 64})},
           {node("BlockScaleDequantizeAttributes",
                 in_out(uids + ",\"scale_tensor_uid\":2", "\"y_tensor_uid\":3") +
                     ",\"parameters\":{\"block_size\":[32]}")})},
      {"block_scale_quantize",
       graph_text(
           {tensor(1, {4, 64}), tensor(2, {4, 2}, "fp8_e8m0"), tensor(3, {4, 64}, "fp4_e2m1")},
           {node("BlockScaleQuantizeAttributes",
                 in_out(uids, "\"y_tensor_uid\":3,\"scale_tensor_uid\":2") +
                     ",\"parameters\":{\"block_size\":32,\"axis\":1}")})},
      {"custom_op",
       graph_text({tensor(1, {4}), tensor(2, {5}), tensor(3, {6})},
                  {node("CustomOpAttributes",
                        in_out("\"input_tensor_uids\":[1,2]", "\"output_tensor_uids\":[3]") +
                            ",\"custom_op_id\":\"my.op\",\"data\":[1,2,255]")})},
  };
}

/// At least one sound graph of every node type.
inline std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const auto& part : {norm_samples(), product_samples(), other_samples()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Result<graph::Graph> read(const std::string& text, const graph::ReadOptions& options = {},
                                 const DiagnosticSink& sink = {}) {
  return graph::read_graph(text, "g.json", options, sink);
}

/// Reason of the refusal; "accepted" when there is none, "no such text" for an empty text.
inline std::string refusal(const std::string& text) {
  if (text.empty()) return "no such text";
  const auto result = read(text);
  return result ? "accepted" : result.error().reason;
}

}  // namespace hipplan::test
