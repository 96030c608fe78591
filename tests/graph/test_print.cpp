#include <doctest/doctest.h>

#include "json/json.h"
#include "samples.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;
using namespace hipplan::test;

TEST_CASE("print reads back to the same graph, and to the same text") {
  for (const Sample& entry : samples()) {
    const auto graph = read(entry.text);
    REQUIRE(graph.ok());
    const std::string once = print_graph(*graph);
    const auto again = read(once);
    REQUIRE_MESSAGE(again.ok(), entry.name, ": ", again ? "" : again.error().text());
    CHECK(same_meaning(*graph, *again));
    CHECK(print_graph(*again) == once);
    for (size_t i = 0; i < graph->tensors.size(); ++i) {
      CHECK(again->tensors[i].uid == graph->tensors[i].uid);
      CHECK(again->tensors[i].name == graph->tensors[i].name);
    }
  }
}

TEST_CASE("options, constants and strange names survive") {
  std::string text = samples()[1].text;
  text =
      replaced(text, "{\"name\":\"g\"",
               "{\"name\":\"q\\\"\\\\\\u0001\\u00e9\",\"preferred_engine_id\":-9223372036854775808,"
               "\"is_override_shape_enabled\":true,\"id\":\"4b3a0123-578f-4e9c-a965-b010a18ff107\","
               "\"min_required_engine_api_version\":\"1.20.3\"");
  const auto graph = read(text);
  REQUIRE(graph.ok());
  const auto again = read(print_graph(*graph));
  REQUIRE(again.ok());
  CHECK(again->name == graph->name);
  CHECK(again->preferred_engine_id == INT64_MIN);
  CHECK(again->override_shape_enabled);
  CHECK(again->id == graph->id);
  CHECK(again->min_engine_api_version == "1.20.3");
  CHECK(again->tensors[5].value == graph->tensors[5].value);
  CHECK(again->tensors[5].value_type == "Float32Value");
}

TEST_CASE("every setting of a tensor survives") {
  const std::string text = graph_text(
      {tensor(1, {1}, "half", false, ",\"alignment\":64,\"is_runtime_pass_by_value\":true"),
       tensor(2, {1}, "half", false,
              ",\"ragged_offset_tensor_uid\":3,\"ragged_offset_multiplier\":8"),
       tensor(3, {2}, "int64")},
      {node("PointwiseAttributes",
            in_out("\"operation\":\"abs\",\"in_0_tensor_uid\":1", "\"out_0_tensor_uid\":2"))});
  const auto graph = read(text);
  REQUIRE(graph.ok());
  const auto again = read(print_graph(*graph));
  REQUIRE(again.ok());
  CHECK(same_meaning(*graph, *again));
  CHECK(again->tensors[0].alignment == 64);
  CHECK(again->tensors[0].runtime_pass_by_value);
  CHECK(again->tensors[1].ragged_offset_uid == 3);
  CHECK(again->tensors[1].ragged_offset_multiplier == 8);
}

TEST_CASE("every key of the ops whose readers demand them is written; RMSNorm's are left out") {
  const auto print_of = [](const std::string& text) {
    const auto graph = read(text);
    REQUIRE(graph.ok());
    const auto value = json::parse(print_graph(*graph), "p");
    REQUIRE(value.ok());
    return *value;
  };
  const json::Value sdpa = print_of(sdpa_sample());
  const json::Value& op = sdpa.find("nodes")->items[0];
  CHECK(op.find("inputs")->members.size() == 21);
  CHECK(op.find("outputs")->members.size() == 7);
  CHECK(op.find("attributes")->members.size() == 13);
  CHECK(op.find("inputs")->find("attn_mask_tensor_uid")->is_null());
  const json::Value relu = print_of(relu_sample());
  CHECK(relu.find("nodes")->items[0].find("inputs")->members.size() == 11);
  CHECK(relu.find("is_override_shape_enabled")->boolean == false);
  CHECK(relu.find("tensors")->items[0].find("is_runtime_pass_by_value")->boolean == false);
  for (const Sample& entry : norm_samples()) {
    if (entry.name != "rmsnorm") continue;
    const json::Value rms = print_of(entry.text);
    CHECK(rms.find("nodes")->items[0].find("inputs")->members.size() == 3);
  }
}

}  // namespace
