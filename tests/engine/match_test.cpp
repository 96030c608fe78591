// The graph halves of the engines: what is served, what is refused by which name, and the values.
#include <doctest/doctest.h>

#include <cmath>

#include "../match/support.h"
#include "engine/check.h"
#include "engine/dispatch.h"
#include "engine/registry.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

engine::GraphMatch ask(const std::string& matcher, const std::string& json) {
  const auto judge = engine::find_graph_matcher(matcher);
  REQUIRE(bool(judge));
  return judge(graph_of(json));
}

struct Refused {
  const char* family;
  std::string json;
  const char* reason;
  const char* text;  ///< part of the message
};

std::string scalar(int uid, const std::string& type = "float") {
  return tensor_json(uid, type, "1", "1");
}

std::vector<Refused> refusals() {
  const std::string mask = tensor_json(9, "half", "2,4,16,24", "1536,384,24,1");
  return {
      {"pointwise", conv_json(), "nodes",
       "ConvolutionFwdAttributes; this engine serves PointwiseAttributes"},
      {"conv_fwd", relu_json(), "nodes",
       "PointwiseAttributes; this engine serves ConvolutionFwdAttributes"},
      {"pointwise",
       edited(relu_json(), R"("name":"g")", R"("name":"g","is_override_shape_enabled":true)"),
       "override-shape", "is_override_shape_enabled"},
      {"pointwise",
       edited(edited(relu_json(), R"("data_type":"float")", R"("data_type":"double")"),
              R"("data_type":"float")", R"("data_type":"double")"),
       "data-type", "tensor 2 't2' is double; this engine serves float, half, bfloat16"},
      {"pointwise", edited(relu_json(), R"("data_type":"float")", R"("data_type":"half")"),
       "mixed-types", "tensor 1 't1' is half and tensor 2 't2' is float"},
      {"pointwise",
       edited(relu_json(), R"(Attributes","compute_data_type":"float")",
              R"(Attributes","compute_data_type":"double")"),
       "compute-type", "computes in double"},
      {"pointwise",
       edited(add_json(), tensor_json(2, "float", "1,6", "6,1"),
              tensor_json(2, "float", "1", "1", R"(,"value_type":"Float32Value","value":2.5)")),
       "constant-tensor", "tensor 2 't2' (in_1) is a constant"},
      {"pointwise",
       edited(add_json(), tensor_json(2, "float", "1,6", "6,1"),
              tensor_json(2, "float", "1,1", "1,1", R"(,"is_runtime_pass_by_value":true)")),
       "pass-by-value", "passed by value at run time"},
      {"conv_fwd", edited(conv_bias_json(), R"("operation":"add")", R"("operation":"mul")"),
       "operation", "operation mul after a convolution is not served"},
      {"conv_fwd", edited(conv_bias_json(), R"("virtual":true)", R"("virtual":false)"),
       "intermediate", "tensor 3 't3' between the nodes is not virtual"},
      {"conv_fwd",
       edited(conv_json(), tensor_json(2, "float", "8,2,3,3", "18,9,3,1"),
              tensor_json(2, "half", "8,2,3,3", "18,9,3,1")),
       "mixed-types", "tensor 2"},
      {"matmul",
       edited(matmul_json(), tensor_json(3, "half", "3,16,8", "128,8,1"),
              tensor_json(3, "float", "3,16,8", "128,8,1")),
       "mixed-types", "tensor 3"},
      {"matmul", matmul_json("int8"), "data-type", "int8"},
      {"batchnorm_inference",
       edited(batchnorm_json(), tensor_json(3, "float", "1,3,1,1", "3,1,1,1"),
              tensor_json(3, "half", "1,3,1,1", "3,1,1,1")),
       "mixed-types", "tensor 3"},
      {"sdpa_fwd",
       sdpa_json(scalar(9, "int64") + "," + scalar(10, "int64"),
                 R"("seed_tensor_uid":9,"offset_tensor_uid":10)", "",
                 R"("dropout_probability":0.1)"),
       "dropout", "dropout_probability 0.1 is not served"},
      {"sdpa_fwd", sdpa_json("", "", "", R"("alibi_mask":true)"), "alibi", "alibi_mask"},
      {"sdpa_fwd",
       sdpa_json(tensor_json(9, "half", "1,4,1,1", "4,1,1,1"), R"("sink_token_tensor_uid":9)"),
       "sink-token", "a sink token (sink_token, tensor 9 't9')"},
      {"sdpa_fwd", sdpa_json(scalar(9), R"("descale_q_tensor_uid":9)"), "fp8-scaling", "descale_q"},
      {"sdpa_fwd", sdpa_json(scalar(9), "", R"("amax_o_tensor_uid":9)"), "extra-output", "amax_o"},
      {"sdpa_fwd",
       sdpa_json(tensor_json(9, "float", "2,4,16,1", "64,16,1,1"), "", R"("max_tensor_uid":9)"),
       "extra-output", "row maxima"},
      {"sdpa_fwd", sdpa_json(scalar(9), R"("scale_tensor_uid":9)"), "scale-tensor", "is in memory"},
      {"sdpa_fwd", sdpa_json("", "", "", R"("attn_scale_value":17.0)"), "scale-range",
       "17 is outside 2^-64..2^4"},
      {"sdpa_fwd", sdpa_json("", "", "", R"("attn_scale_value":0.0)"), "scale-range",
       "0 is outside"},
      {"sdpa_fwd", sdpa_json(edited(mask, "half", "bfloat16"), R"("attn_mask_tensor_uid":9)"),
       "mask-type", "bfloat16; this engine adds masks of float or half"},
      {"sdpa_fwd", sdpa_json(tensor_json(9, "int64", "2", "1"), R"("seq_len_kv_tensor_uid":9)"),
       "lengths-type", "int64"},
      {"sdpa_fwd",
       sdpa_json(tensor_json(9, "half", "2,4,16,1", "64,16,1,1"), "", R"("stats_tensor_uid":9)"),
       "stats", "half; this engine writes float"},
  };
}

}  // namespace

TEST_CASE("what is not served is refused by the name of the feature") {
  for (const Refused& entry : refusals()) {
    CAPTURE(entry.reason);
    CAPTURE(entry.text);
    const auto answer = ask(std::string("hipplan.") + entry.family + ".graph_match", entry.json);
    const auto* refusal = std::get_if<engine::Refusal>(&answer);
    REQUIRE(refusal != nullptr);
    CHECK(refusal->reason == entry.reason);
    CHECK_MESSAGE(refusal->text.find(entry.text) != std::string::npos, refusal->text);
  }
}

namespace {

/// The values of the only engine's first candidate.
LaunchValues values_of(const std::string& json, const std::string& engine,
                       const std::string& target = "mi300x") {
  const auto result = match::match(graph_of(json), authored_set(), target_of(target));
  const auto& matched = engine_of(result, engine);
  REQUIRE(!matched.candidates.empty());
  return matched.candidates.front().values;
}

}  // namespace

TEST_CASE("launch values say what the graph says") {
  SUBCASE("pointwise: strides are 0 where an input is broadcast, settings have their defaults") {
    const auto values = values_of(add_json(), "hipplan:Pointwise");
    CHECK(engine::text(values, "operation") == "add");
    CHECK(engine::list(values, "inputs") == std::vector<int64_t>{1, 2});
    CHECK(engine::list(values, "in_strides") == std::vector<int64_t>{6, 1, 0, 1});
    CHECK(engine::integer(values, "output.uid") == 3);
    CHECK(engine::number(values, "elu_alpha") == 1);
    CHECK_FALSE(engine::flag(values, "relu_has_upper_clip"));
  }
  SUBCASE("pointwise: settings are rounded to float") {
    const auto values = values_of(edited(relu_json(), R"("operation":"relu_fwd")",
                                         R"("operation":"relu_fwd","relu_upper_clip":0.1)"),
                                  "hipplan:Pointwise");
    CHECK(engine::flag(values, "relu_has_upper_clip"));
    CHECK(engine::number(values, "relu_upper_clip") == static_cast<double>(0.1f));
  }
  SUBCASE("convolution: groups come from the channels") {
    const auto values = values_of(conv_json(), "hipplan:ConvFwd");
    CHECK(engine::integer(values, "groups") == 2);
    CHECK(engine::list(values, "bias").empty());
    CHECK(engine::list(values, "w_dims") == std::vector<int64_t>{8, 2, 3, 3});
  }
  SUBCASE("convolution and bias become one launch that writes the sum") {
    const auto values = values_of(conv_bias_json(), "hipplan:ConvFwd");
    CHECK(engine::integer(values, "y.uid") == 5);
    CHECK(engine::list(values, "bias") == std::vector<int64_t>{4});
    CHECK(engine::list(values, "bias_strides") == std::vector<int64_t>{0, 1, 0, 0});
    const auto swapped = edited(edited(edited(conv_bias_json(), "in_0_tensor_uid", "tmp"),
                                       "in_1_tensor_uid", "in_0_tensor_uid"),
                                "tmp", "in_1_tensor_uid");
    CHECK(values_of(swapped, "hipplan:ConvFwd") == values);
  }
  SUBCASE("matmul: batch strides are 0 where an operand is broadcast") {
    const auto values = values_of(matmul_json(), "hipplan:Matmul");
    CHECK(engine::list(values, "batch_dims") == std::vector<int64_t>{3});
    CHECK(engine::list(values, "a_strides") == std::vector<int64_t>{512, 32, 1});
    CHECK(engine::list(values, "b_strides") == std::vector<int64_t>{0, 8, 1});
    CHECK(engine::integer(values, "m") == 16);
    CHECK(engine::integer(values, "n") == 8);
    CHECK(engine::integer(values, "k") == 32);
  }
  SUBCASE("batchnorm: one channel stride a parameter") {
    const auto values = values_of(batchnorm_json(), "hipplan:BatchnormInference");
    CHECK(engine::list(values, "param_strides") == std::vector<int64_t>{1, 1, 1, 1});
    CHECK(engine::integer(values, "bias.uid") == 4);
  }
  SUBCASE("attention: default scale, no bounds") {
    const auto values = values_of(sdpa_json(), "hipplan:SdpaFwd");
    CHECK(engine::number(values, "scale") ==
          static_cast<double>(static_cast<float>(1 / std::sqrt(32.0))));
    CHECK(engine::list(values, "left_bound").empty());
    CHECK(engine::list(values, "right_bound").empty());
    CHECK(engine::integer(values, "heads_k") == 2);
    CHECK(engine::integer(values, "seq_kv") == 24);
  }
  SUBCASE("attention: the flags for causal masks are bounds, negative bounds are none") {
    const auto top = values_of(sdpa_json("", "", "", R"("causal_mask":true,"left_bound":-1)"),
                               "hipplan:SdpaFwd");
    CHECK(engine::list(top, "right_bound") == std::vector<int64_t>{0});
    CHECK(engine::list(top, "left_bound").empty());
    CHECK(engine::text(top, "diagonal_alignment") == "TOP_LEFT");
    const auto bottom =
        values_of(sdpa_json("", "", "", R"("causal_mask_bottom_right":true,"left_bound":5)"),
                  "hipplan:SdpaFwd");
    CHECK(engine::text(bottom, "diagonal_alignment") == "BOTTOM_RIGHT");
    CHECK(engine::list(bottom, "left_bound") == std::vector<int64_t>{5});
  }
  SUBCASE("attention: mask, lengths, statistics, constant scale") {
    const std::string tensors =
        tensor_json(9, "float", "1,1,16,24", "384,384,24,1") + "," +
        tensor_json(10, "int32", "2", "3") + "," +
        tensor_json(11, "float", "2,4,16,1", "64,16,1,1") + "," +
        tensor_json(12, "float", "1", "1", R"(,"value_type":"Float32Value","value":0.25)");
    const auto values = values_of(
        sdpa_json(tensors,
                  R"("attn_mask_tensor_uid":9,"seq_len_kv_tensor_uid":10,"scale_tensor_uid":12)",
                  R"("stats_tensor_uid":11)"),
        "hipplan:SdpaFwd");
    CHECK(engine::list(values, "mask") == std::vector<int64_t>{9});
    CHECK(engine::list(values, "mask_strides") == std::vector<int64_t>{0, 0, 24, 1});
    CHECK(engine::text(values, "mask_dtype") == "float");
    CHECK(engine::list(values, "seq_len_q").empty());
    CHECK(engine::list(values, "seq_len_kv") == std::vector<int64_t>{10});
    CHECK(engine::integer(values, "seq_len_kv_stride") == 3);
    CHECK(engine::list(values, "stats_strides") == std::vector<int64_t>{64, 16, 1});
    CHECK(engine::number(values, "scale") == 0.25);
  }
}

TEST_CASE("values come in the order of their contracts") {
  const struct {
    std::string json, engine;
  } cases[] = {{add_json(), "hipplan:Pointwise"},
               {conv_json(), "hipplan:ConvFwd"},
               {matmul_json(), "hipplan:Matmul"},
               {batchnorm_json(), "hipplan:BatchnormInference"},
               {sdpa_json(), "hipplan:SdpaFwd"}};
  for (const auto& entry : cases) {
    CAPTURE(entry.engine);
    const auto result = match::match(graph_of(entry.json), authored_set(), target_of("mi300x"));
    const auto& candidate = engine_of(result, entry.engine).candidates.at(0);
    const auto& contract = candidate.handler->contract();
    REQUIRE(candidate.values.size() == contract.size());
    for (size_t i = 0; i < contract.size(); ++i)
      CHECK(candidate.values[i].name == contract[i].name);
  }
}

TEST_CASE("every native name is its own and the shipped set uses only registered ones") {
  const auto names = engine::native_names();
  CHECK(names.size() == 20);
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  CHECK(!engine::find_graph_matcher("hipplan.pointwise.rank"));
  CHECK(!engine::find_kernel_matcher(""));
  for (const auto& entry : engine::check_natives(*authored_set())) FAIL_CHECK(entry.text);
}

TEST_CASE("estimates favour the kernel that fits the work") {
  const auto target = target_of("mi300x");
  const auto score = [&](const std::string& json, const std::string& engine,
                         const std::string& field, int64_t value) {
    const auto result = match::match(graph_of(json), authored_set(), target);
    const auto& matched = engine_of(result, engine);
    const auto* scorer = engine::find_scorer(matched.engine->heuristic->symbol);
    REQUIRE(scorer != nullptr);
    CHECK_FALSE(scorer->maximize);
    double best = 1e300;
    for (const auto& candidate : matched.candidates) {
      const engine::Metadata metadata(*matched.engine->schema, candidate.kernel->values);
      if (metadata.integer(field) == value)
        best = std::min(best, scorer->score(*matched.problem, metadata, target).value());
    }
    return best;
  };
  const auto big = [](const std::string& n) {
    return graph_json(
        tensor_json(1, "half", n + "," + n, n + ",1") + "," +
            tensor_json(2, "half", n + "," + n, n + ",1") + "," +
            tensor_json(3, "half", n + "," + n, n + ",1"),
        R"({"name":"mm","type":"MatmulAttributes","compute_data_type":"float","inputs":{"a_tensor_uid":1,"b_tensor_uid":2},"outputs":{"c_tensor_uid":3}})");
  };
  CHECK(score(big("4096"), "hipplan:Matmul", "tile_m", 64) <
        score(big("4096"), "hipplan:Matmul", "tile_m", 32));
  CHECK(score(big("32"), "hipplan:Matmul", "tile_m", 32) <=
        score(big("32"), "hipplan:Matmul", "tile_m", 64));
}
