#include <doctest/doctest.h>

#include <map>

#include "samples.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;
using namespace hipplan::test;

Graph sound(const std::string& text) {
  auto graph = read(text);
  REQUIRE(graph.ok());
  return std::move(*graph);
}

TEST_CASE("names, uids, defaults and options leave the key alone") {
  const Graph base = sound(conv_bias_sample());
  Graph other = base;
  other.name = "another";
  other.id = "4b3a0123-578f-4e9c-a965-b010a18ff107";
  other.preferred_engine_id = 7;
  other.override_shape_enabled = true;
  other.min_engine_api_version = "2.0.0";
  other.compute_type = other.io_type = other.intermediate_type = DataType::half;
  for (Node& op : other.nodes) op.name += "x", op.place = {};
  for (Tensor& tensor : other.tensors) {
    tensor.uid = 1000 - 3 * tensor.uid;
    tensor.name.clear();
    tensor.place = {};
  }
  CHECK(content_key(other) == content_key(base));
  CHECK(same_meaning(other, base));
}

TEST_CASE("the order of keys in the file and absent defaults leave the key alone") {
  const std::string base = sdpa_sample();
  const std::string swapped =
      replaced(base, "\"q_tensor_uid\":1,\"k_tensor_uid\":2,\"v_tensor_uid\":3",
               "\"v_tensor_uid\":3,\"k_tensor_uid\":2,\"q_tensor_uid\":1");
  CHECK(content_key(sound(swapped)) == content_key(sound(base)));
  const std::string spelled =
      sdpa_sample(",\"attn_mask_tensor_uid\":null", "",
                  "\"alibi_mask\":false,\"causal_mask\":false,\"diagonal_alignment\":\"TOP_LEFT\","
                  "\"mma_core_mode\":\"unset\",\"implementation\":\"AUTO\",\"left_bound\":null");
  CHECK(content_key(sound(spelled)) == content_key(sound(base)));
  CHECK(same_meaning(sound(spelled), sound(base)));
  const std::string grouped =
      replaced(conv_bias_sample(), "\"dilation\"", "\"group_count\":2,\"dilation\"");
  CHECK(content_key(sound(grouped)) == content_key(sound(conv_bias_sample())));
}

TEST_CASE("renumbering ragged offset tensors keeps the key, rewiring them changes it") {
  const auto text = [](int first, int second, int used) {
    return graph_text(
        {tensor(1, {4}, "float", false, ",\"ragged_offset_tensor_uid\":" + std::to_string(used)),
         tensor(2, {4}), tensor(first, {5}, "int32"), tensor(second, {5}, "int32"),
         tensor(3, {5}, "int32")},
        {node("PointwiseAttributes",
              in_out("\"operation\":\"abs\",\"in_0_tensor_uid\":1", "\"out_0_tensor_uid\":2")),
         node("PointwiseAttributes",
              in_out("\"operation\":\"add\",\"in_0_tensor_uid\":" + std::to_string(first) +
                         ",\"in_1_tensor_uid\":" + std::to_string(second),
                     "\"out_0_tensor_uid\":3"))});
  };
  const auto key = [](const std::string& json) {
    // The two nodes share no tensor, so check() would refuse the graph: only the key is wanted.
    const auto graph = read(json);
    return graph ? content_key(*graph).hex() : graph.error().reason;
  };
  CHECK(key(text(7, 8, 7)) == "not-connected");
  Graph a;
  a.tensors.resize(3);
  for (int64_t i = 0; i < 3; ++i) a.tensors[static_cast<size_t>(i)].uid = i;
  a.tensors[0].ragged_offset_uid = 1;
  a.nodes.resize(1);
  Graph renumbered = a, rewired = a;
  renumbered.tensors[1].uid = 50;
  renumbered.tensors[0].ragged_offset_uid = 50;
  rewired.tensors[0].ragged_offset_uid = 2;
  CHECK(content_key(a) == content_key(renumbered));
  CHECK(content_key(a) != content_key(rewired));
}

TEST_CASE("everything else changes the key, each change to a key of its own") {
  const Graph base = sound(conv_bias_sample());
  std::map<std::string, std::string> seen{{content_key(base).hex(), "base"}};
  const auto differs = [&](const std::string& what, auto&& change) {
    Graph other = base;
    change(other);
    const std::string key = content_key(other).hex();
    CHECK_MESSAGE(seen.emplace(key, what).second, what, " has the key of ", seen[key]);
    CHECK_FALSE(same_meaning(base, other));
  };
  differs("dims", [](Graph& g) { g.tensors[0].dims[0] = 3; });
  differs("strides", [](Graph& g) { g.tensors[0].strides[0] = 300; });
  differs("type", [](Graph& g) { g.tensors[0].type = DataType::half; });
  differs("virtual", [](Graph& g) { g.tensors[2].is_virtual = false; });
  differs("by value", [](Graph& g) { g.tensors[3].runtime_pass_by_value = true; });
  differs("alignment", [](Graph& g) { g.tensors[0].alignment = 32; });
  differs("multiplier", [](Graph& g) { g.tensors[0].ragged_offset_multiplier = 2; });
  differs("value",
          [](Graph& g) { g.tensors[3].value = 1.0, g.tensors[3].value_type = "Float32Value"; });
  differs("value 0",
          [](Graph& g) { g.tensors[3].value = 0.0, g.tensors[3].value_type = "Float32Value"; });
  differs("compute type", [](Graph& g) { g.nodes[0].compute_type = DataType::half; });
  differs("attribute", [](Graph& g) { g.nodes[1].attributes[0].value = std::string("sub"); });
  differs("attribute more", [](Graph& g) { g.nodes[1].attributes.push_back({"elu_alpha", 1.0}); });
  differs("list", [](Graph& g) { std::get<4>(g.nodes[0].attributes[1].value)[0] = 7; });
  differs("rewired", [](Graph& g) { g.nodes[1].inputs[1].tensor = 1; });
  differs("swapped roles",
          [](Graph& g) { std::swap(g.nodes[1].inputs[0].tensor, g.nodes[1].inputs[1].tensor); });
  differs("reference less", [](Graph& g) { g.nodes[1].inputs.pop_back(); });
  differs("node type", [](Graph& g) { g.nodes[0].type = NodeType::convolution_bwd; });
  differs("node order", [](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); });
  differs("tensor order", [](Graph& g) { std::swap(g.tensors[0], g.tensors[1]); });
  differs("tensor less", [](Graph& g) { g.tensors.pop_back(); });
  differs("node less", [](Graph& g) { g.nodes.pop_back(); });
}

TEST_CASE("every sample has a key of its own") {
  std::map<std::string, std::string> seen;
  for (const Sample& entry : samples()) {
    const auto key = content_key(sound(entry.text)).hex();
    CHECK_MESSAGE(seen.emplace(key, entry.name).second, entry.name, " and ", seen[key]);
  }
}

TEST_CASE("an empty graph equals nothing, not even itself") {
  CHECK_FALSE(same_meaning(Graph{}, Graph{}));
}

TEST_CASE("the key is stable") {
  // The value was computed from docs/graph-dialect.md by another program. A change of it breaks
  // every stored plan and cache: it needs a new version of the encoding and an entry in
  // docs/graph-dialect.md.
  CHECK(content_key(sound(relu_sample())).hex() ==
        "2810d7aba54cf4bc0c9a170b103d6e7ff9f7c09f0714ed07628e3e12dab12d3f");
}

}  // namespace
