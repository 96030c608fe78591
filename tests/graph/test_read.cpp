#include <doctest/doctest.h>

#include <set>

#include "graph/schema.h"
#include "samples.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;
using namespace hipplan::test;

TEST_CASE("a sound sample of every node type is read") {
  std::set<NodeType> seen;
  for (const Sample& sample : samples()) {
    const auto graph = read(sample.text);
    CHECK_MESSAGE(graph.ok(), sample.name, ": ", graph ? "" : graph.error().text());
    if (!graph) continue;
    for (const Node& op : graph->nodes) seen.insert(op.type);
  }
  CHECK(seen.size() == 23);
  CHECK(all_schemas().size() == 23);
  for (const OpSchema& schema : all_schemas()) {
    CHECK(find_schema(schema.name) == &schema);
    CHECK(schema.type == static_cast<NodeType>(&schema - all_schemas().data()));
  }
}

TEST_CASE("what the text says stands in the graph") {
  const auto graph = read(conv_bias_sample());
  REQUIRE(graph.ok());
  CHECK(graph->name == "g");
  REQUIRE(graph->tensors.size() == 5);
  CHECK(graph->tensors[1].dims == std::vector<int64_t>{6, 2, 3, 2});
  CHECK(graph->tensors[1].strides == std::vector<int64_t>{12, 6, 2, 1});
  CHECK(graph->tensors[1].alignment == 16);
  CHECK(graph->tensors[2].is_virtual);
  REQUIRE(graph->nodes.size() == 2);
  const Node& conv = graph->nodes[0];
  CHECK(conv.type == NodeType::convolution_fwd);
  CHECK(conv.input("x") == 0);
  CHECK(conv.input("w") == 1);
  CHECK(conv.output("y") == 2);
  CHECK(*conv.list("post_padding") == std::vector<int64_t>{2, 1});
  CHECK(conv.text("conv_mode") == "CROSS_CORRELATION");
  CHECK(graph->nodes[1].text("operation") == "add");
  CHECK_FALSE(graph->nodes[1].number("relu_lower_clip").has_value());
  CHECK(graph->external_inputs() == std::vector<size_t>{0, 1, 3});
  CHECK(graph->external_outputs() == std::vector<size_t>{4});
  CHECK(graph->tensor_by_uid(5) == 4);
  CHECK(graph->nodes[1].place.line == 10);
  CHECK(graph->nodes[1].place.column == 1);
}

TEST_CASE("lists of tensors become numbered roles") {
  for (const Sample& sample : samples()) {
    if (sample.name != "custom_op") continue;
    const auto graph = read(sample.text);
    REQUIRE(graph.ok());
    CHECK(graph->nodes[0].input("input_0") == 0);
    CHECK(graph->nodes[0].input("input_1") == 1);
    CHECK(graph->nodes[0].output("output_0") == 2);
    CHECK(*graph->nodes[0].list("data") == std::vector<int64_t>{1, 2, 255});
  }
}

TEST_CASE("top-level options in every form") {
  const std::string base = relu_sample();
  const auto with = [&](const std::string& extra) {
    return replaced(base, "{", "{" + extra + ",");
  };
  auto graph =
      read(with("\"preferred_engine_id\":-3,\"is_override_shape_enabled\":true,"
                "\"id\":\"4B3A0123-578f-4e9c-a965-b010a18ff107\","
                "\"min_required_engine_api_version\":{\"major\":1,\"minor\":2,\"patch\":3}"));
  REQUIRE(graph.ok());
  CHECK(graph->preferred_engine_id == -3);
  CHECK(graph->override_shape_enabled);
  CHECK(graph->id == "4b3a0123-578f-4e9c-a965-b010a18ff107");
  CHECK(graph->min_engine_api_version == "1.2.3");
  graph = read(with("\"min_required_engine_api_version\":\"1.10.0\""));
  REQUIRE(graph.ok());
  CHECK(graph->min_engine_api_version == "1.10.0");
  graph =
      read(with("\"id\":null,\"preferred_engine_id\":null,\"is_override_shape_enabled\":null,"
                "\"min_required_engine_api_version\":null"));
  REQUIRE(graph.ok());
  CHECK_FALSE(graph->id.has_value());

  CHECK(refusal(with("\"id\":7")) == "bad-uuid");
  CHECK(refusal(with("\"id\":\"4b3a0123\"")) == "bad-uuid");
  CHECK(refusal(with("\"preferred_engine_id\":\"x\"")) == "wrong-type");
  CHECK(refusal(with("\"preferred_engine_id\":9223372036854775808")) == "integer-range");
  for (const char* version : {"\"1.0\"", "\"1.0.0.0\"", "\"1.a.0\"", "\"\"", "\"1.0.99999999999\""})
    CHECK(refusal(with(std::string("\"min_required_engine_api_version\":") + version)) ==
          "bad-version");
  CHECK(refusal(with("\"min_required_engine_api_version\":{\"major\":1}")) == "missing-key");
  CHECK(refusal(with("\"min_required_engine_api_version\":1")) == "wrong-type");
}

TEST_CASE("optional keys may be absent or null on every op") {
  for (const Sample& sample : samples()) {
    const auto graph = read(sample.text);
    REQUIRE(graph.ok());
    // print_graph writes the absent ones as null, RMSNorm's not at all; both must read the same.
    const auto printed = read(print_graph(*graph));
    REQUIRE_MESSAGE(printed.ok(), sample.name);
    CHECK(same_meaning(*graph, *printed));
  }
  for (const Sample& sample : norm_samples())
    if (sample.name == "rmsnorm")
      CHECK(read(replaced(sample.text, "\"y_tensor_uid\"", "\"x_null\":null,\"y_tensor_uid\""))
                .error()
                .reason == "unknown-key");
}

TEST_CASE("aliases and annotations are accepted with a note") {
  std::vector<std::string> notes;
  const auto sink = [&](const Diagnostic& diagnostic) {
    CHECK(diagnostic.severity == Severity::note);
    notes.push_back(diagnostic.reason + " " + diagnostic.where);
  };
  std::string text =
      replaced(relu_sample(), "\"data_type\":\"float\"", "\"data_type\":\"float16\"");
  auto graph = read(text, {}, sink);
  REQUIRE(graph.ok());
  CHECK(graph->tensors[0].type == DataType::half);
  CHECK(notes == std::vector<std::string>{"alias g.json:3:34: tensors[0].data_type"});

  notes.clear();
  graph = read(sdpa_sample("", "", "\"mma_core_mode\":\"UNSET\""), {}, sink);
  REQUIRE(graph.ok());
  CHECK(graph->nodes[0].text("mma_core_mode") == "unset");
  CHECK(notes.size() == 1);
  CHECK(refusal(replaced(relu_sample(), "\"io_data_type\":\"float\"",
                         "\"io_data_type\":\"UNSET\"")) == "unknown-enum");

  notes.clear();
  graph = read(replaced(relu_sample(), "{", "{\"_comment\":\"where it came from\","), {}, sink);
  REQUIRE(graph.ok());
  CHECK(notes == std::vector<std::string>{"annotation g.json:1:13: _comment"});
}

TEST_CASE("unknown keys are refused, or warned about on request, at every level") {
  const std::string base = conv_bias_sample();
  const std::pair<const char*, const char*> places[] = {
      {"{", "extra"},
      {"{\"uid\":2,", "tensors[1].extra"},
      {"{\"name\":\"op\",", "nodes[0].extra"},
      {"\"inputs\":{", "nodes[0].inputs.extra"},
      {"\"outputs\":{", "nodes[0].outputs.extra"},
      {"\"parameters\":{", "nodes[0].parameters.extra"}};
  for (const auto& [opening, path] : places) {
    const std::string text = replaced(
        base, opening,
        std::string(opening) + (opening[0] == '{' && opening[1] ? "\"extra\":1," : "\"extra\":1,"));
    const auto refused = read(text);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().reason == "unknown-key");
    CHECK(refused.error().where.ends_with(std::string(": ") + path));
    size_t warnings = 0;
    const auto accepted =
        read(text, {.allow_unknown_keys = true}, [&](const Diagnostic& diagnostic) {
          warnings +=
              diagnostic.severity == Severity::warning && diagnostic.reason == "unknown-key";
        });
    CHECK(accepted.ok());
    CHECK(warnings == 1);
  }
  CHECK(refusal(replaced(base, "\"inputs\":{", "\"attributes\":{},\"inputs\":{")) == "unknown-key");
  CHECK(refusal(replaced(base, "{\"uid\":2,", "{\"uid\":2,\"_comment\":\"\",")) == "unknown-key");
}

TEST_CASE("each required key must be there, not null and of its type") {
  for (const Sample& sample : samples()) {
    const auto graph = read(sample.text);
    REQUIRE(graph.ok());
    for (const char* key : {"name", "compute_data_type", "io_data_type", "intermediate_data_type",
                            "tensors", "nodes", "uid", "data_type", "strides", "virtual", "type"}) {
      const std::string quoted = std::string("\"") + key + "\":";
      CHECK(refusal(replaced(sample.text, quoted, quoted + "null,\"x\":")) == "wrong-type");
      CHECK(refusal(replaced(sample.text, quoted, "\"y\":")) == "missing-key");
    }
    for (const OpSchema& schema : all_schemas()) {
      if (schema.type != graph->nodes[0].type) continue;
      for (const auto roles : {schema.inputs, schema.outputs})
        for (const RoleSchema& role : roles) {
          const std::string quoted = "\"" + role_key(role) + "\":";
          if (sample.text.find(quoted) == std::string::npos) continue;
          const std::string wrong = refusal(replaced(sample.text, quoted, quoted + "\"1\",\"x\":"));
          CHECK_MESSAGE(wrong == "wrong-type", sample.name, " ", quoted, " ", wrong);
          if (role.required)
            CHECK(refusal(replaced(sample.text, quoted, "\"y\":")) == "missing-key");
        }
      for (const AttributeSchema& attribute : schema.attributes) {
        const std::string quoted = "\"" + std::string(attribute.key) + "\":";
        if (sample.text.find(quoted) == std::string::npos) continue;
        CHECK(refusal(replaced(sample.text, quoted, quoted + "{},\"x\":")) == "wrong-type");
        if (attribute.required)
          CHECK(refusal(replaced(sample.text, quoted, "\"y\":")) == "missing-key");
      }
    }
  }
}

TEST_CASE("unknown enum spellings are refused with the legal ones") {
  const auto error_of = [](const std::string& text) {
    const auto result = read(text);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().reason == "unknown-enum");
    return result.error();
  };
  Error error = error_of(replaced(relu_sample(), "relu_fwd", "relu"));
  CHECK(error.where == "g.json:6:93: nodes[0].inputs.operation");
  CHECK(error.found == "string \"relu\"");
  CHECK(error.expected.find("relu_bwd, relu_fwd, rsqrt") != std::string::npos);
  error = error_of(replaced(relu_sample(), "PointwiseAttributes", "pointwiseattributes"));
  CHECK(error.advice == "write \"PointwiseAttributes\"");
  error = error_of(replaced(relu_sample(), "\"float\"", "\"float32\""));
  CHECK(error.expected.find("fp8_e4m3") != std::string::npos);
  error_of(replaced(conv_bias_sample(), "CROSS_CORRELATION", "cross_correlation"));
  error_of(sdpa_sample("", "", "\"implementation\":\"FAST\""));
  error_of(sdpa_sample("", "", "\"diagonal_alignment\":\"top_left\""));
}

TEST_CASE(
    "all 48 pointwise operations and the other enums are spelled as the dialect spells them") {
  size_t operations = 0;
  for (const AttributeSchema& attribute : schema_of(NodeType::pointwise).attributes)
    if (attribute.key == "operation") operations = attribute.choices.size();
  CHECK(operations == 48);
  for (int i = 0; i <= static_cast<int>(DataType::boolean); ++i)
    CHECK(parse_data_type(data_type_name(static_cast<DataType>(i))) == static_cast<DataType>(i));
  CHECK(bits_of(DataType::fp4_e2m1) == 4);
  CHECK(bits_of(DataType::fp6_e3m2) == 6);
  CHECK(std::string(node_type_name(NodeType::rmsnorm)) == "RMSNormAttributes");
}

TEST_CASE("defaults and what an op defines are filled in; layouts are not") {
  std::string text = relu_sample();
  text = replaced(text, "\"data_type\":\"float\"", "\"data_type\":\"unset\"");
  text = replaced(text, "\"io_data_type\":\"float\"", "\"io_data_type\":\"half\"");
  auto graph = read(text);
  REQUIRE(graph.ok());
  CHECK(graph->tensors[0].type == DataType::half);

  text = replaced(conv_bias_sample(), "\"intermediate_data_type\":\"float\"",
                  "\"intermediate_data_type\":\"bfloat16\"");
  text = replaced(text, "\"t3\",\"data_type\":\"float\"", "\"t3\",\"data_type\":\"unset\"");
  text = replaced(text, "\"compute_data_type\":\"float\",\"inputs\"",
                  "\"compute_data_type\":\"unset\",\"inputs\"");
  text = replaced(text, "\"dims\":[2,6,5,7],", "");
  graph = read(text);
  REQUIRE(graph.ok());
  CHECK(graph->tensors[2].type == DataType::bfloat16);
  CHECK(graph->tensors[2].dims == std::vector<int64_t>{2, 6, 5, 7});
  CHECK(graph->nodes[0].compute_type == DataType::float32);

  text = replaced(relu_sample(), "\"data_type\":\"float\"", "\"data_type\":\"unset\"");
  CHECK(refusal(replaced(text, "\"io_data_type\":\"float\"", "\"io_data_type\":\"unset\"")) ==
        "no-data-type");
  CHECK(refusal(replaced(relu_sample(), "\"dims\":[2,3],", "")) == "no-dims");
  CHECK(refusal(replaced(relu_sample(), "\"strides\":[3,1],", "")) == "missing-key");
  CHECK(refusal(replaced(relu_sample(), "\"strides\":[3,1]", "\"strides\":[]")) == "strides");

  // A constant without a data type takes that of its value, not the graph's default.
  text = samples()[1].text;
  text = replaced(text, "\"io_data_type\":\"float\"", "\"io_data_type\":\"half\"");
  graph = read(replaced(text, "\"t6\",\"data_type\":\"float\"", "\"t6\",\"data_type\":\"unset\""));
  REQUIRE(graph.ok());
  CHECK(graph->tensors[5].type == DataType::float32);
}

TEST_CASE("layernorm settings are taken from the node or from attributes, not from both") {
  std::string text;
  for (const Sample& sample : norm_samples())
    if (sample.name == "layernorm") text = sample.text;
  const std::string moved =
      replaced(text, "\"normalized_dim_count\":2,\"forward_phase\":0",
               "\"attributes\":{\"normalized_dim_count\":2,\"forward_phase\":0}");
  const auto a = read(text), b = read(moved);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  CHECK(same_meaning(*a, *b));
  CHECK(b->nodes[0].integer("normalized_dim_count") == 2);
  CHECK(refusal(replaced(text, "\"forward_phase\":0",
                         "\"forward_phase\":0,\"attributes\":{\"normalized_dim_count\":2}")) ==
        "duplicate-key");
  CHECK(refusal(replaced(text, "\"forward_phase\":0", "\"forward_phase\":128")) == "out-of-range");
}

TEST_CASE("truncation at every length is refused with a place") {
  const std::string text = conv_bias_sample();
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    const auto result = read(text.substr(0, length));
    REQUIRE_FALSE(result.ok());
    REQUIRE(result.error().code == Code::bad_input);
    REQUIRE(result.error().where.starts_with("g.json:"));
  }
}

TEST_CASE("hostile texts are refused") {
  CHECK(refusal(std::string(1000000, '[')) == "json-depth");
  CHECK(refusal(replaced(relu_sample(), "\"g\"", "\"\xC3\x28\"")) == "not-utf8");
  CHECK(refusal("\xEF\xBB\xBF" + relu_sample()) == "byte-order-mark");
  CHECK(refusal(replaced(relu_sample(), "[2,3]", "[2,NaN]")) == "json-syntax");
  CHECK(refusal(replaced(relu_sample(), "[2,3]", "[2,Infinity]")) == "json-syntax");
  CHECK(refusal(replaced(relu_sample(), "[2,3]", "[2,3.0]")) == "wrong-type");
  CHECK(refusal(replaced(relu_sample(), "[2,3]", "[2,18446744073709551617]")) == "integer-range");
  CHECK(refusal(replaced(relu_sample(), "\"uid\":1", "\"uid\":1,\"uid\":1")) == "duplicate-key");
  CHECK(refusal("[]") == "wrong-type");
  CHECK(refusal("null") == "wrong-type");
  CHECK(refusal(replaced(relu_sample(), "\"tensors\":[", "\"tensors\":{}, \"x\":[")) ==
        "wrong-type");
  CHECK(refusal(replaced(relu_sample(), "\"nodes\":[", "\"nodes\":[7,")) == "wrong-type");
}

TEST_CASE("a dangling uid names node, role and value") {
  const auto result =
      read(replaced(relu_sample(), "\"in_0_tensor_uid\":1", "\"in_0_tensor_uid\":77"));
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().reason == "dangling-uid");
  CHECK(result.error().where == "g.json:6:122: nodes[0].inputs.in_0_tensor_uid");
  CHECK(result.error().found == "77");
}

}  // namespace
