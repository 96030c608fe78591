// Graphs, descriptor sets and targets for tests of matching, selection and capture.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "descriptor/loader.h"
#include "graph/graph.h"
#include "match/match.h"
#include "target/target.h"

namespace hipplan::test {

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

inline graph::Graph graph_of(const std::string& json) {
  auto graph = graph::read_graph(json, "graph.json", {.allow_unknown_keys = true}, {});
  if (!graph) throw std::runtime_error(graph.error().text());
  return std::move(graph).value();
}

/// `text` with the first `from` replaced; the test is wrong when it is not there.
inline std::string edited(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("nothing to replace: " + from);
  return text.replace(at, from.size(), to);
}

/// A target that ships, by file stem.
inline target::Description target_of(const std::string& stem) {
  const auto path =
      std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors/targets" / (stem + ".json");
  auto out = target::parse_description(file_text(path), path.string());
  if (!out) throw std::runtime_error(out.error().text());
  return std::move(out).value();
}

/// Folders of the authored descriptors, one per op.
inline std::vector<std::filesystem::path> authored_roots() {
  const std::filesystem::path root = std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors";
  return {root / "batchnorm_inference", root / "conv_fwd", root / "matmul", root / "pointwise",
          root / "sdpa_fwd"};
}

inline std::shared_ptr<const descriptor::DescriptorSet> load_set(
    const std::vector<std::filesystem::path>& roots) {
  auto loaded = descriptor::load(roots);
  if (!loaded) throw std::runtime_error(loaded.error().text());
  for (const auto& entry : loaded->diagnostics) MESSAGE(entry.where << ": " << entry.text);
  return loaded->set;
}

/// The set that ships, in its authored form.
inline std::shared_ptr<const descriptor::DescriptorSet> authored_set() {
  static const auto set = load_set(authored_roots());
  return set;
}

/// The first reason about an engine, or nothing.
inline const match::Reason* reason_of(const match::MatchResult& result, const std::string& engine) {
  for (const auto& reason : result.reasons)
    if (reason.engine == engine) return &reason;
  return nullptr;
}

inline const match::EngineMatch& engine_of(const match::MatchResult& result,
                                           const std::string& name) {
  for (const auto& engine : result.engines)
    if (engine.engine->name == name) return engine;
  throw std::runtime_error("no engine " + name);
}

inline std::string tensor_json(int uid, const std::string& type, const std::string& dims,
                               const std::string& strides, const std::string& more = "") {
  return R"({"uid":)" + std::to_string(uid) + R"(,"name":"t)" + std::to_string(uid) +
         R"(","data_type":")" + type + R"(","dims":[)" + dims + R"(],"strides":[)" + strides +
         R"(],"virtual":false)" + more + "}";
}

inline std::string graph_json(const std::string& tensors, const std::string& nodes,
                              const std::string& more = "") {
  return R"({"name":"g","compute_data_type":"float","io_data_type":"float","intermediate_data_type":"float",)" +
         more + R"("tensors":[)" + tensors + R"(],"nodes":[)" + nodes + "]}";
}

/// out(2) = relu(in(1)), 1000 contiguous elements.
inline std::string relu_json() {
  return graph_json(
      tensor_json(1, "float", "2,500", "500,1") + "," + tensor_json(2, "float", "2,500", "500,1"),
      R"({"name":"relu","type":"PointwiseAttributes","compute_data_type":"float",
    "inputs":{"operation":"relu_fwd","in_0_tensor_uid":1},"outputs":{"out_0_tensor_uid":2}})");
}
/// out(3) = a(1) + b(2), b broadcast along the first dim.
inline std::string add_json() {
  return graph_json(tensor_json(1, "float", "4,6", "6,1") + "," +
                        tensor_json(2, "float", "1,6", "6,1") + "," +
                        tensor_json(3, "float", "4,6", "6,1"),
                    R"({"name":"sum","type":"PointwiseAttributes","compute_data_type":"float",
    "inputs":{"operation":"add","in_0_tensor_uid":1,"in_1_tensor_uid":2},"outputs":{"out_0_tensor_uid":3}})");
}
inline std::string conv_json() {
  return graph_json(tensor_json(1, "float", "1,4,6,6", "144,36,6,1") + "," +
                        tensor_json(2, "float", "8,2,3,3", "18,9,3,1") + "," +
                        tensor_json(3, "float", "1,8,4,4", "128,16,4,1"),
                    R"({"name":"conv","type":"ConvolutionFwdAttributes","compute_data_type":"float",
    "inputs":{"x_tensor_uid":1,"w_tensor_uid":2},"outputs":{"y_tensor_uid":3},
    "parameters":{"conv_mode":"CROSS_CORRELATION","pre_padding":[0,0],"post_padding":[0,0],"stride":[1,1],"dilation":[1,1]}})");
}
/// y(5) = conv(1, 2) + bias(4), the sum before it (3) virtual.
inline std::string conv_bias_json() {
  return graph_json(tensor_json(1, "float", "1,4,6,6", "144,36,6,1") + "," +
                        tensor_json(2, "float", "8,2,3,3", "18,9,3,1") + "," +
                        edited(tensor_json(3, "float", "1,8,4,4", "128,16,4,1"), "false", "true") +
                        "," + tensor_json(4, "float", "1,8,1,1", "8,1,1,1") + "," +
                        tensor_json(5, "float", "1,8,4,4", "128,16,4,1"),
                    R"({"name":"conv","type":"ConvolutionFwdAttributes","compute_data_type":"float",
    "inputs":{"x_tensor_uid":1,"w_tensor_uid":2},"outputs":{"y_tensor_uid":3},
    "parameters":{"conv_mode":"CROSS_CORRELATION","pre_padding":[0,0],"post_padding":[0,0],"stride":[1,1],"dilation":[1,1]}},
    {"name":"bias","type":"PointwiseAttributes","compute_data_type":"float",
    "inputs":{"operation":"add","in_0_tensor_uid":3,"in_1_tensor_uid":4},"outputs":{"out_0_tensor_uid":5}})");
}
inline std::string matmul_json(const std::string& type = "half") {
  return graph_json(tensor_json(1, type, "3,16,32", "512,32,1") + "," +
                        tensor_json(2, type, "1,32,8", "256,8,1") + "," +
                        tensor_json(3, type, "3,16,8", "128,8,1"),
                    R"({"name":"mm","type":"MatmulAttributes","compute_data_type":"float",
    "inputs":{"a_tensor_uid":1,"b_tensor_uid":2},"outputs":{"c_tensor_uid":3}})");
}
inline std::string batchnorm_json() {
  const std::string parameter_dims = "1,3,1,1", parameter_strides = "3,1,1,1";
  std::string tensors = tensor_json(0, "float", "2,3,4,4", "48,16,4,1");
  for (int uid = 1; uid <= 4; ++uid)
    tensors += "," + tensor_json(uid, "float", parameter_dims, parameter_strides);
  tensors += "," + tensor_json(5, "float", "2,3,4,4", "48,16,4,1");
  return graph_json(
      tensors, R"({"name":"bn","type":"BatchnormInferenceAttributes","compute_data_type":"float",
    "inputs":{"x_tensor_uid":0,"mean_tensor_uid":1,"inv_variance_tensor_uid":2,"scale_tensor_uid":3,"bias_tensor_uid":4},
    "outputs":{"y_tensor_uid":5}})");
}
/// Attention with hooks for edits: "/*t*/" more tensors, "/*i*/" inputs, "/*o*/" outputs, "/*a*/"
/// attributes.
inline std::string sdpa_json(const std::string& extra_tensors = "", const std::string& inputs = "",
                             const std::string& outputs = "", const std::string& attributes = "") {
  const auto comma = [](const std::string& text) { return text.empty() ? text : "," + text; };
  return graph_json(tensor_json(1, "half", "2,4,16,32", "2048,512,32,1") + "," +
                        tensor_json(2, "half", "2,2,24,32", "1536,768,32,1") + "," +
                        tensor_json(3, "half", "2,2,24,32", "1536,768,32,1") + "," +
                        tensor_json(4, "half", "2,4,16,32", "2048,512,32,1") + comma(extra_tensors),
                    R"({"name":"attention","type":"SdpaAttributes","compute_data_type":"float",
    "inputs":{"q_tensor_uid":1,"k_tensor_uid":2,"v_tensor_uid":3)" +
                        comma(inputs) + R"(},"outputs":{"o_tensor_uid":4)" + comma(outputs) + R"(},
    "attributes":{"diagonal_alignment":"TOP_LEFT")" +
                        comma(attributes) + "}}");
}

}  // namespace hipplan::test
