// The order of decisions and their record.
#include <doctest/doctest.h>

#include <map>

#include "../descriptor/tree.h"
#include "../match/support.h"
#include "json/json.h"
#include "select/select.h"

using namespace hipplan;
using namespace hipplan::test;
using select::Rule;

namespace {

/// Times by kernel name.
class FixedTimings final : public select::Timings {
 public:
  explicit FixedTimings(std::map<std::string, double> seconds) : seconds_(std::move(seconds)) {}
  std::optional<double> seconds(const match::Candidate& candidate) const override {
    const auto at = seconds_.find(candidate.kernel->kernel->name);
    return at == seconds_.end() ? std::nullopt : std::optional<double>(at->second);
  }

 private:
  std::map<std::string, double> seconds_;
};

Result<select::Selection> choose(
    const std::string& json, const select::Request& request,
    std::shared_ptr<const descriptor::DescriptorSet> set = authored_set(),
    const std::string& stem = "mi300x") {
  const auto graph = graph_of(json);
  const auto target = target_of(stem);
  return select::select(match::match(graph, std::move(set), target), graph, target, request);
}

select::Selection chosen(const std::string& json, const select::Request& request = {},
                         std::shared_ptr<const descriptor::DescriptorSet> set = authored_set()) {
  auto out = choose(json, request, std::move(set));
  REQUIRE_MESSAGE(out.ok(), (out.ok() ? "" : out.error().text()));
  return std::move(out).value();
}

/// relu over four million elements, where estimates differ.
std::string big_relu_json() {
  std::string json = relu_json();
  for (int tensor = 0; tensor < 2; ++tensor)
    json = edited(edited(json, "2,500", "2048,2048"), "500,1", "2048,1");
  return json;
}

std::string kernel_of(const select::Selection& selection) {
  return selection.chosen.kernel->kernel->name;
}

/// The pointwise descriptors, edited; with `without_heuristic` priority and id rank.
class PointwiseSet : public Tree {
 public:
  PointwiseSet() {
    const auto from = std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors/pointwise";
    for (const auto& entry : std::filesystem::directory_iterator(from))
      write(entry.path().filename().string(), file_text(entry.path()));
  }
  PointwiseSet& edit(const std::string& file, const std::string& from, const std::string& to) {
    write(file, edited(file_text(root() / file), from, to));
    return *this;
  }
  PointwiseSet& without_heuristic() {
    return edit("pointwise.ued.json", "\"heuristic\": \"a24bdad0-dcf1-480b-9a7b-7e8ecf40cf87\",",
                "");
  }
  std::shared_ptr<const descriptor::DescriptorSet> load() const { return load_set({root()}); }
};

}  // namespace

TEST_CASE("knobs are read as the JSON value they look like") {
  const auto value = [](const char* text) {
    auto knob = select::parse_knob(text);
    REQUIRE(knob.ok());
    CHECK(knob->name == "k");
    return knob->value;
  };
  CHECK(value("k=64") == ValueData(int64_t{64}));
  CHECK(value("k=-1") == ValueData(int64_t{-1}));
  CHECK(value("k=true") == ValueData(true));
  CHECK(value("k=0.5") == ValueData(0.5));
  CHECK(value("k=float") == ValueData(std::string("float")));
  CHECK(value("k=a=b") == ValueData(std::string("a=b")));
  for (const char* bad : {"", "k", "=1", "k="}) {
    const auto knob = select::parse_knob(bad);
    REQUIRE_FALSE(knob.ok());
    CHECK(knob.error().code == Code::bad_input);
  }
}

TEST_CASE("without anything else the heuristic decides and the ranking follows its estimates") {
  const auto selection = chosen(big_relu_json());
  CHECK(selection.kernel_rule == Rule::heuristic);
  CHECK(selection.engine_rule == Rule::only);
  CHECK(selection.score_unit == "microseconds");
  CHECK_FALSE(selection.score_maximize);
  REQUIRE(selection.ranking.size() == 4);
  CHECK(selection.ranking[0].candidate->kernel == selection.chosen.kernel);
  for (size_t i = 1; i < selection.ranking.size(); ++i) {
    REQUIRE(selection.ranking[i].score.has_value());
    CHECK(*selection.ranking[i - 1].score <= *selection.ranking[i].score);
  }
}

TEST_CASE("knobs leave only kernels that have the value") {
  SUBCASE("one knob") {
    for (const int64_t block : {64, 256}) {
      const auto selection = chosen(relu_json(), {.knobs = {{"block_size", block}}});
      CHECK(selection.ranking.size() == 2);
      CHECK(engine::integer(selection.chosen.values, "block_size") == block);
    }
  }
  SUBCASE("a value that no kernel has lists the legal ones") {
    const auto refused = choose(relu_json(), {.knobs = {{"block_size", int64_t{128}}}});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == Code::bad_input);
    CHECK(refused.error().reason == "knob-value");
    CHECK(refused.error().expected == "one of 64, 256");
    CHECK(refused.error().found == "128");
  }
  SUBCASE("a knob that the engine does not have") {
    const auto refused = choose(relu_json(), {.knobs = {{"tile", int64_t{1}}}});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().reason == "unknown-knob");
    CHECK(refused.error().expected == "one of block_size");
  }
  SUBCASE("knobs that leave one kernel decide") {
    PointwiseSet tree;
    tree.edit("pointwise.ued.json", "\"block_size\"", "\"block_size\", \"layout\"");
    const auto selection = chosen(
        relu_json(), {.knobs = {{"block_size", int64_t{64}}, {"layout", std::string("strided")}}},
        tree.load());
    CHECK(kernel_of(selection) == "pointwise.strided_float_b64");
    CHECK(selection.kernel_rule == Rule::pinned);
    CHECK(selection.ranking.size() == 1);
  }
}

TEST_CASE("engines are pinned by name and id") {
  const std::string name = "hipplan:Pointwise";
  const int64_t id = engine_id(name);
  std::string lower = engine_id_text(id);
  for (char& c : lower) c = static_cast<char>(std::tolower(c));
  for (const auto& text : {name, std::to_string(id), engine_id_text(id), lower}) {
    const auto selection = chosen(relu_json(), {.engine = text});
    CHECK(selection.chosen.engine->name == name);
    CHECK(selection.engine_rule == Rule::pinned);
  }
  const auto unknown = choose(relu_json(), {.engine = "hipplan:Nothing"});
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == Code::bad_input);
  CHECK(unknown.error().expected.find("hipplan:Matmul, hipplan:Pointwise") != std::string::npos);
  const auto other = choose(relu_json(), {.engine = "hipplan:Matmul"});
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Code::negative);
  CHECK(other.error().text().find("this engine serves MatmulAttributes") != std::string::npos);
  CHECK(other.error().what.find("ConvolutionFwd") == std::string::npos);
}

TEST_CASE("measured times decide before the heuristic when every survivor has one") {
  const std::map<std::string, double> all = {{"pointwise.contiguous_float_b64", 4e-6},
                                             {"pointwise.contiguous_float_b256", 3e-6},
                                             {"pointwise.strided_float_b64", 1e-6},
                                             {"pointwise.strided_float_b256", 2e-6}};
  SUBCASE("all measured") {
    const FixedTimings timings(all);
    const auto selection = chosen(big_relu_json(), {.timings = &timings});
    CHECK(kernel_of(selection) == "pointwise.strided_float_b64");
    CHECK(selection.kernel_rule == Rule::measured);
    CHECK(selection.ranking[1].measured_seconds == 2e-6);
    CHECK(selection.ranking[3].candidate->kernel->kernel->name == "pointwise.contiguous_float_b64");
  }
  SUBCASE("one missing: times are reported, the heuristic decides") {
    auto some = all;
    some.erase("pointwise.contiguous_float_b64");
    const FixedTimings timings(some);
    const auto selection = chosen(big_relu_json(), {.timings = &timings});
    CHECK(selection.kernel_rule == Rule::heuristic);
    CHECK(kernel_of(selection) == kernel_of(chosen(big_relu_json())));
  }
  SUBCASE("missing among those that knobs remove does not matter") {
    auto some = all;
    some.erase("pointwise.contiguous_float_b64");
    const FixedTimings timings(some);
    const auto selection =
        chosen(big_relu_json(), {.knobs = {{"block_size", int64_t{256}}}, .timings = &timings});
    CHECK(kernel_of(selection) == "pointwise.strided_float_b256");
    CHECK(selection.kernel_rule == Rule::measured);
  }
  SUBCASE("equal times fall through to the heuristic") {
    auto same = all;
    for (auto& [kernel, seconds] : same) seconds = 1e-6;
    const FixedTimings timings(same);
    const auto selection = chosen(big_relu_json(), {.timings = &timings});
    CHECK(selection.kernel_rule == Rule::heuristic);
  }
}

TEST_CASE("without a heuristic the higher priority wins, then the smaller id") {
  PointwiseSet tree;
  tree.without_heuristic();
  const auto by_id = chosen(relu_json(), {}, tree.load());
  CHECK(by_id.kernel_rule == Rule::id);
  CHECK(by_id.score_unit.empty());
  for (size_t i = 1; i < by_id.ranking.size(); ++i) {
    CHECK(by_id.ranking[i - 1].candidate->kernel->kernel->id <
          by_id.ranking[i].candidate->kernel->kernel->id);
    CHECK_FALSE(by_id.ranking[i].score.has_value());
  }
  // The kernel with the largest id gets the highest priority.
  const auto& last = *by_id.ranking.back().candidate->kernel->kernel;
  std::string pack = file_text(tree.root() / "pointwise.kdp.json");
  const size_t at = pack.find("\"priority\": 0", pack.find(last.id.text()));
  REQUIRE(at != std::string::npos);
  tree.write("pointwise.kdp.json", pack.replace(at, 13, "\"priority\": 7"));
  const auto by_priority = chosen(relu_json(), {}, tree.load());
  CHECK(kernel_of(by_priority) == last.name);
  CHECK(by_priority.kernel_rule == Rule::priority);
}

TEST_CASE("several engines: pinned, preferred by the graph, better estimate, id") {
  // The same engine a second time under another name and other ids.
  PointwiseSet tree;
  std::string engine = file_text(tree.root() / "pointwise.ued.json"),
              pack = file_text(tree.root() / "pointwise.kdp.json");
  const std::string id = "e61b3917-cf40-43de-81fa-f113c98dadc8",
                    second = "e61b3917-cf40-43de-81fa-000000000001";
  engine = edited(edited(engine, id, second), "hipplan:Pointwise", "test:Second");
  pack = edited(edited(pack, id, second), "32109957-6a95-44f9-a1f5-32f78cb053c4",
                "32109957-6a95-44f9-a1f5-000000000001");
  tree.write("second/e.ued.json", engine).write("second/p.kdp.json", pack);
  const auto set = tree.load();
  SUBCASE("equal in everything: the smaller id") {
    const auto selection = chosen(relu_json(), {}, set);
    CHECK(selection.chosen.engine->name == "test:Second");
    CHECK(selection.engine_rule == Rule::id);
    CHECK(selection.other_engines == std::vector<std::string>{"hipplan:Pointwise"});
  }
  SUBCASE("the graph's preference") {
    const std::string preference = std::to_string(engine_id("hipplan:Pointwise"));
    const auto selection = chosen(edited(relu_json(), R"("name":"g",)",
                                         R"("name":"g","preferred_engine_id":)" + preference + ","),
                                  {}, set);
    CHECK(selection.chosen.engine->name == "hipplan:Pointwise");
    CHECK(selection.engine_rule == Rule::preferred);
  }
  SUBCASE("a preference for an engine that is not there changes nothing") {
    const auto selection = chosen(
        edited(relu_json(), R"("name":"g",)", R"("name":"g","preferred_engine_id":5,)"), {}, set);
    CHECK(selection.engine_rule == Rule::id);
  }
  SUBCASE("the request is before the preference") {
    const std::string preference = std::to_string(engine_id("hipplan:Pointwise"));
    const auto selection = chosen(edited(relu_json(), R"("name":"g",)",
                                         R"("name":"g","preferred_engine_id":)" + preference + ","),
                                  {.engine = "test:Second"}, set);
    CHECK(selection.chosen.engine->name == "test:Second");
    CHECK(selection.engine_rule == Rule::pinned);
  }
}

TEST_CASE("what nothing serves is a negative answer that names the feature") {
  const auto dropout = choose(sdpa_json("", "", "", R"("alibi_mask":true)"), {});
  REQUIRE_FALSE(dropout.ok());
  CHECK(dropout.error().code == Code::negative);
  CHECK(dropout.error().reason == "not-served");
  CHECK(dropout.error().what == "no kernel serves it on gfx942:sramecc+:xnack-");
  CHECK(dropout.error().details ==
        std::vector<std::string>{"hipplan:SdpaFwd: alibi_mask is not served"});
  CHECK(dropout.error().advice.empty());
  std::string wide = sdpa_json();
  for (int tensor = 0; tensor < 2; ++tensor) {
    wide = edited(edited(wide, "2,4,16,32", "2,4,16,512"), "2048,512,32,1", "32768,8192,512,1");
    wide = edited(edited(wide, "2,2,24,32", "2,2,24,512"), "1536,768,32,1", "24576,12288,512,1");
  }
  const auto head = choose(wide, {});
  REQUIRE_FALSE(head.ok());
  REQUIRE(head.error().details.size() == 1);
  CHECK(head.error().details[0].find("head size 512 is above the kernel's 256") !=
        std::string::npos);
}

TEST_CASE("the record of a decision") {
  const auto selection = chosen(big_relu_json(), {.knobs = {{"block_size", int64_t{64}}}});
  const auto parsed = json::parse(select::print_reasons(selection), "reasons");
  REQUIRE(parsed.ok());
  CHECK(parsed->find("schema")->string == "hipplan.reasons/1");
  CHECK(parsed->find("engine")->find("name")->string == "hipplan:Pointwise");
  CHECK(parsed->find("engine")->find("id")->string ==
        engine_id_text(engine_id("hipplan:Pointwise")));
  CHECK(parsed->find("knobs")->find("block_size")->integer == 64);
  CHECK(parsed->find("rule")->string == "heuristic");
  CHECK(parsed->find("objective")->find("best")->string == "smallest");
  const auto& ranking = parsed->find("ranking")->items;
  REQUIRE(ranking.size() == 2);
  CHECK(ranking[0].find("kernel")->string == kernel_of(selection));
  CHECK(ranking[0].find("lost_by") == nullptr);
  CHECK(ranking[1].find("lost_by")->string == "heuristic");
  // Each refusal once, with the kernels it is about.
  size_t kernels = 0;
  for (const auto& group : parsed->find("refused")->items)
    if (const auto* list = group.find("kernels")) kernels += list->items.size();
  CHECK(kernels == 8);
  CHECK(parsed->find("refused")->items.size() == 4 + 2);
  CHECK(select::print_reasons(selection) ==
        select::print_reasons(chosen(big_relu_json(), {.knobs = {{"block_size", int64_t{64}}}})));
  const std::string text = select::explain(selection);
  CHECK(text.find("engine hipplan:Pointwise") != std::string::npos);
  CHECK(text.find("  1. " + kernel_of(selection)) != std::string::npos);
  CHECK(text.find("knob block_size = 64") != std::string::npos);
  CHECK(text.find("this engine serves MatmulAttributes") != std::string::npos);
  const auto other = select::explain_record(R"({"schema": "hipplan.reasons/2"})", "file");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().reason == "reasons-version");
  CHECK_FALSE(select::explain_record("{", "file").ok());
}
