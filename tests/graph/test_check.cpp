// Uids, order, layouts, constants, types: the rules that hold for every op.
#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "graph/shape.h"
#include "samples.h"
#include "sanitized.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;
using namespace hipplan::test;

std::string unary(const std::string& operation, int64_t in, int64_t out) {
  return node("PointwiseAttributes", in_out("\"operation\":\"" + operation +
                                                "\",\"in_0_tensor_uid\":" + std::to_string(in),
                                            "\"out_0_tensor_uid\":" + std::to_string(out)));
}
std::string add(int64_t a, int64_t b, int64_t out) {
  return node("PointwiseAttributes",
              in_out("\"operation\":\"add\",\"in_0_tensor_uid\":" + std::to_string(a) +
                         ",\"in_1_tensor_uid\":" + std::to_string(b),
                     "\"out_0_tensor_uid\":" + std::to_string(out)));
}
std::string plain(int64_t uid) {
  return tensor(uid, {4});
}
std::string hidden(int64_t uid) {
  return tensor(uid, {4}, "float", true);
}

TEST_CASE("uids are unique") {
  const std::string text = graph_text({plain(1), plain(2), plain(1)}, {unary("abs", 1, 2)});
  const auto result = read(text);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().reason == "duplicate-uid");
  CHECK(result.error().where == "g.json:5:1: tensors[2] \"t1\"");
  CHECK(result.error().text().find("tensors[0]") != std::string::npos);
}

TEST_CASE("order, cycles and virtual tensors") {
  CHECK(refusal(graph_text({plain(1), hidden(2), plain(3)},
                           {unary("abs", 1, 2), unary("neg", 2, 3)})) == "accepted");
  CHECK(refusal(graph_text({plain(1), hidden(2), plain(3)},
                           {unary("neg", 2, 3), unary("abs", 1, 2)})) == "node-order");
  CHECK(refusal(graph_text({plain(1), hidden(2), hidden(3), plain(4)},
                           {add(1, 3, 2), unary("abs", 2, 3), unary("neg", 3, 4)})) == "cycle");
  CHECK(refusal(graph_text({plain(1)}, {unary("abs", 1, 1)})) == "cycle");
  CHECK(refusal(graph_text({hidden(1), plain(2)}, {unary("abs", 1, 2)})) == "virtual-unwritten");
  CHECK(refusal(graph_text({plain(1), hidden(2)}, {unary("abs", 1, 2)})) == "virtual-unread");
  CHECK(refusal(graph_text({plain(1), plain(2), plain(3)}, {unary("abs", 1, 2)})) ==
        "unused-tensor");
  CHECK(refusal(graph_text({plain(1), plain(2)}, {unary("abs", 1, 2), unary("neg", 1, 2)})) ==
        "written-twice");
  CHECK(refusal(graph_text({plain(1), plain(2)}, {})) == "no-nodes");
  // An output that is read again is no input of the caller.
  const auto graph =
      read(graph_text({plain(1), plain(2), plain(3)}, {unary("abs", 1, 2), unary("neg", 2, 3)}));
  REQUIRE(graph.ok());
  CHECK(graph->external_inputs() == std::vector<size_t>{0});
  CHECK(graph->external_outputs() == std::vector<size_t>{1, 2});
}

TEST_CASE("nodes are connected") {
  const std::string apart = graph_text({plain(1), plain(2), plain(3), plain(4)},
                                       {unary("abs", 1, 2), unary("abs", 3, 4)});
  CHECK(refusal(apart) == "not-connected");
  const std::string shared_input =
      graph_text({plain(1), plain(2), plain(4)}, {unary("abs", 1, 2), unary("neg", 1, 4)});
  CHECK(refusal(shared_input) == "accepted");
}

/// A unary op over tensors of these dims and layouts.
std::string layout(const std::string& dims, const std::string& strides_in,
                   const std::string& strides_out) {
  const auto row = [&](const std::string& uid, const std::string& strides) {
    return "{\"uid\":" + uid + ",\"name\":\"\",\"data_type\":\"float\",\"dims\":" + dims +
           ",\"strides\":" + strides + ",\"virtual\":false}";
  };
  return graph_text({row("1", strides_in), row("2", strides_out)}, {unary("abs", 1, 2)});
}

TEST_CASE("dims and strides") {
  CHECK(refusal(layout("[2,3]", "[3,1]", "[3,1]")) == "accepted");
  CHECK(refusal(layout("[2,0]", "[3,1]", "[3,1]")) == "dims");
  CHECK(refusal(layout("[2,-3]", "[3,1]", "[3,1]")) == "dims");
  CHECK(refusal(layout("[2,3]", "[-3,1]", "[3,1]")) == "strides");
  CHECK(refusal(layout("[2,3]", "[1]", "[3,1]")) == "strides");
  CHECK(refusal(layout("[2,3]", "[3,1,1]", "[3,1]")) == "strides");
  CHECK(refusal(layout("[1,1,1,1,1,1,1,1,1]", "[1,1,1,1,1,1,1,1,1]", "[1,1,1,1,1,1,1,1,1]")) ==
        "rank");
}

TEST_CASE("a written tensor must not overlap itself; a read one may") {
  CHECK(refusal(layout("[2,3]", "[0,1]", "[3,1]")) == "accepted");
  CHECK(refusal(layout("[2,3]", "[1,1]", "[3,1]")) == "accepted");
  CHECK(refusal(layout("[2,3]", "[3,1]", "[0,1]")) == "overlapping-strides");
  CHECK(refusal(layout("[2,3]", "[3,1]", "[2,1]")) == "overlapping-strides");
  CHECK(refusal(layout("[2,3]", "[3,1]", "[1,1]")) == "overlapping-strides");
  CHECK(refusal(layout("[2,3]", "[3,1]", "[1,2]")) == "accepted");
  CHECK(refusal(layout("[2,3]", "[3,1]", "[10,3]")) == "accepted");
  CHECK(refusal(layout("[2,2]", "[2,1]", "[2,3]")) == "accepted");
  CHECK(refusal(layout("[3,2]", "[2,1]", "[2,4]")) == "overlapping-strides");
  CHECK(refusal(layout("[1,3]", "[3,1]", "[0,1]")) == "accepted");
}

TEST_CASE("overlap agrees with enumeration of all elements on random layouts") {
  std::mt19937 random(5);
  size_t overlapping = 0;
  for (int round = 0; round < 20000; ++round) {
    Tensor tensor;
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      tensor.dims.push_back(1 + static_cast<int64_t>(random() % 5));
      tensor.strides.push_back(static_cast<int64_t>(random() % 12));
    }
    std::vector<int> hits(static_cast<size_t>(tensor.span_elements()), 0);
    const auto count = [&](auto&& self, size_t axis, int64_t at) -> void {
      if (axis == tensor.dims.size()) {
        ++hits[static_cast<size_t>(at)];
        return;
      }
      for (int64_t i = 0; i < tensor.dims[axis]; ++i)
        self(self, axis + 1, at + i * tensor.strides[axis]);
    };
    count(count, 0, 0);
    const bool expected = *std::max_element(hits.begin(), hits.end()) > 1;
    overlapping += expected;
    REQUIRE(graph::detail::overlaps_itself(tensor) == expected);
  }
  CHECK(overlapping > 1000);
  CHECK(overlapping < 19000);
}

TEST_CASE("spans that overflow are refused") {
  CHECK(refusal(layout("[2,3]", "[4611686018427387904,1]", "[3,1]")) == "size-overflow");
  CHECK(refusal(layout("[2,3]", "[9223372036854775807,9223372036854775807]", "[3,1]")) ==
        "size-overflow");
  CHECK(refusal(layout("[4294967296,4294967296]", "[0,0]", "[1,1]")) == "size-overflow");
  CHECK(refusal(layout("[9223372036854775807]", "[1]", "[1]")) == "size-overflow");
  CHECK(refusal(layout("[9223372036854775807,2]", "[0,1]", "[0,1]")) == "size-overflow");
  CHECK(refusal(layout("[2]", "[100000000000000]", "[100000000000000]")) == "accepted");
}

TEST_CASE("span and bytes follow the strides and the width of an element") {
  Tensor tensor;
  tensor.dims = {2, 3, 4};
  tensor.strides = {100, 0, 7};
  tensor.type = DataType::half;
  CHECK(tensor.element_count() == 24);
  CHECK(tensor.span_elements() == 1 + 100 + 21);
  CHECK(tensor.span_bytes() == 244);
  tensor.type = DataType::int4;
  CHECK(tensor.span_bytes() == 61);
  tensor.type = DataType::fp6_e2m3;
  CHECK(tensor.span_bytes() == 92);  // 732 bits
}

std::string with(const std::string& more) {
  return replaced(relu_sample(), "\"virtual\":false", "\"virtual\":false," + more);
}

TEST_CASE("alignment and run-time values") {
  CHECK(refusal(with("\"alignment\":1")) == "accepted");
  CHECK(refusal(with("\"alignment\":4096")) == "accepted");
  for (const char* bad : {"0", "-16", "3", "24", "9223372036854775807"})
    CHECK(refusal(with(std::string("\"alignment\":") + bad)) == "alignment");
  CHECK(refusal(with("\"alignment\":\"16\"")) == "wrong-type");
  CHECK(refusal(with("\"is_runtime_pass_by_value\":true")) == "pass-by-value");
  const auto by_value = [](const std::string& out) {
    return graph_text({tensor(1, {1}, "float", false, ",\"is_runtime_pass_by_value\":true"),
                       tensor(2, {1}, "float", false, out)},
                      {unary("abs", 1, 2)});
  };
  CHECK(refusal(by_value("")) == "accepted");
  CHECK(refusal(by_value(",\"is_runtime_pass_by_value\":true")) == "written-constant");
}

TEST_CASE("constants fit their type, their tensor and the data type") {
  const auto scalar = [](const std::string& type, const std::string& value_type,
                         const std::string& value) {
    return graph_text(
        {tensor(1, {1}, type, false, ",\"value_type\":\"" + value_type + "\",\"value\":" + value),
         tensor(2, {1}, type)},
        {unary("abs", 1, 2)});
  };
  CHECK(refusal(scalar("float", "Float32Value", "1")) == "accepted");
  CHECK(refusal(scalar("double", "Float64Value", "-1.5e300")) == "accepted");
  CHECK(refusal(scalar("half", "Float16Value", "65504")) == "accepted");
  CHECK(refusal(scalar("half", "Float16Value", "65505")) == "out-of-range");
  CHECK(refusal(scalar("float", "Float32Value", "3.5e38")) == "out-of-range");
  CHECK(refusal(scalar("bfloat16", "BFloat16Value", "3.3e38")) == "accepted");
  CHECK(refusal(scalar("int32", "Int32Value", "2147483648")) == "out-of-range");
  CHECK(refusal(scalar("int32", "Int32Value", "1.0")) == "wrong-type");
  CHECK(refusal(scalar("int64", "Int64Value", "-9223372036854775808")) == "accepted");
  CHECK(refusal(scalar("fp8_e4m3", "Float8Value", "255")) == "accepted");
  CHECK(refusal(scalar("fp8_e4m3", "Float8Value", "256")) == "out-of-range");
  CHECK(refusal(scalar("boolean", "BoolValue", "true")) == "accepted");
  CHECK(refusal(scalar("boolean", "BoolValue", "1")) == "wrong-type");
  CHECK(refusal(scalar("half", "Float32Value", "1")) == "value-type");
  CHECK(refusal(scalar("float", "Int32Value", "1")) == "value-type");
  CHECK(refusal(scalar("float", "FloatValue", "1")) == "unknown-enum");
  CHECK(refusal(scalar("float", "NONE", "null")) == "accepted");
  CHECK(refusal(scalar("float", "NONE", "1")) == "value-pair");
  CHECK(refusal(scalar("float", "Float32Value", "null")) == "value-pair");
  CHECK(refusal(with("\"value\":1")) == "value-pair");
  CHECK(refusal(with("\"value_type\":\"Float32Value\",\"value\":1")) == "value-dims");
  const std::string written = graph_text({tensor(1, {1}), constant(2, 1)}, {unary("abs", 1, 2)});
  CHECK(refusal(written) == "written-constant");
}

TEST_CASE("ragged offsets") {
  const auto ragged = [](const std::string& more, const std::string& type) {
    return graph_text({tensor(1, {4}, "float", false, more), tensor(2, {4}), tensor(3, {5}, type)},
                      {unary("abs", 1, 2)});
  };
  const auto graph =
      read(ragged(",\"ragged_offset_tensor_uid\":3,\"ragged_offset_multiplier\":8", "int64"));
  REQUIRE_MESSAGE(graph.ok(), graph.error().text());
  CHECK(graph->tensors[0].ragged_offset_uid == 3);
  CHECK(graph->tensors[0].ragged_offset_multiplier == 8);
  CHECK(graph->external_inputs() == std::vector<size_t>{0, 2});
  CHECK(refusal(ragged(",\"ragged_offset_tensor_uid\":3", "float")) == "ragged-offset");
  CHECK(refusal(ragged(",\"ragged_offset_tensor_uid\":1", "int32")) == "ragged-offset");
  CHECK(refusal(ragged(",\"ragged_offset_tensor_uid\":9", "int32")) == "dangling-uid");
  CHECK(refusal(ragged(",\"ragged_offset_tensor_uid\":3,\"ragged_offset_multiplier\":0",
                       "int32")) == "ragged-offset");
}

TEST_CASE("data types that an op does not take are refused") {
  for (const char* type : {"fp4_e2m1", "int4", "fp6_e2m3", "fp6_e3m2", "fp8_e8m0"})
    CHECK(refusal(replaced(relu_sample(), "\"data_type\":\"float\"",
                           std::string("\"data_type\":\"") + type + "\"")) == "data-type");
  CHECK(refusal(replaced(samples()[0].text, "\"data_type\":\"float\"",
                         "\"data_type\":\"int32\"")) == "data-type");
  const auto result = read(replaced(relu_sample(), "\"compute_data_type\":\"float\",\"inputs\"",
                                    "\"compute_data_type\":\"uint8\",\"inputs\""));
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().reason == "data-type");
  CHECK(result.error().where == "g.json:6:1: nodes[0] \"op\"");
}

TEST_CASE("graphs built by code are checked against the same table") {
  const auto sound = read(conv_bias_sample());
  REQUIRE(sound.ok());
  CHECK(check(*sound, "code").ok());
  const auto reason = [&](auto&& spoil) {
    Graph graph = *sound;
    spoil(graph);
    const auto result = check(graph, "code");
    return result ? std::string("accepted") : result.error().reason;
  };
  CHECK(reason([](Graph& g) { g.nodes[0].inputs[0].tensor = 99; }) == "dangling-uid");
  CHECK(reason([](Graph& g) { g.nodes[0].inputs[0].role = "z"; }) == "unknown-role");
  CHECK(reason([](Graph& g) { g.nodes[0].inputs[0].role = "w"; }) == "duplicate-role");
  CHECK(reason([](Graph& g) { g.nodes[1].inputs.erase(g.nodes[1].inputs.begin() + 1); }) ==
        "unused-tensor");
  CHECK(reason([](Graph& g) { g.nodes[0].attributes.pop_back(); }) == "missing-key");
  CHECK(reason([](Graph& g) { g.nodes[0].attributes[0].value = std::string("ROUND"); }) ==
        "attribute");
  CHECK(reason([](Graph& g) { g.nodes[0].attributes[0].value = int64_t{1}; }) == "attribute");
  CHECK(reason([](Graph& g) { g.nodes[0].attributes[0].key = "x"; }) == "unknown-key");
  CHECK(reason([](Graph& g) { g.nodes[1].attributes.push_back({"elu_alpha", std::nan("")}); }) ==
        "attribute");
  CHECK(reason([](Graph& g) { g.nodes[0].compute_type = DataType::unset; }) == "no-data-type");
  CHECK(reason([](Graph& g) { g.tensors[0].value_type = "Float32Value"; }) == "value-pair");
  CHECK(reason([](Graph& g) {
          g.tensors[3].value = INFINITY, g.tensors[3].value_type = "Float32Value";
        }) == "value-dims");
  // Without places the message still names file, list and name.
  Graph graph = *sound;
  graph.tensors[0].place = {};
  graph.tensors[0].dims[0] = 0;
  CHECK(check(graph, "code").error().where == "code: tensors[0] \"t1\"");
}

TEST_CASE("checks stay linear on large graphs") {
  constexpr int64_t count = test::kSanitized ? 4000 : 20000;
  std::vector<std::string> tensors{plain(0)}, nodes;
  for (int64_t i = 0; i < count; ++i) {
    tensors.push_back(i + 1 < count ? hidden(i + 1) : plain(i + 1));
    nodes.push_back(unary("abs", i, i + 1));
  }
  CHECK(refusal(graph_text(tensors, nodes)) == "accepted");
}

}  // namespace
