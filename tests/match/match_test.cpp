// Matching against edited copies of the set that ships.
#include <doctest/doctest.h>

#include "../descriptor/tree.h"
#include "support.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// The pointwise descriptors in a temporary tree, one file of them edited.
class PointwiseTree : public Tree {
 public:
  explicit PointwiseTree(const std::string& folder = "pointwise") {
    const auto from = std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(from))
      write(entry.path().filename().string(), file_text(entry.path()));
  }
  PointwiseTree& edit(const std::string& file, const std::string& from, const std::string& to) {
    write(file, edited(file_text(root() / file), from, to));
    return *this;
  }
  match::MatchResult match(const std::string& json, const target::Description& target) const {
    return match::match(graph_of(json), load_set({root()}), target);
  }
};

const char* const kPack = "pointwise.kdp.json";
const char* const kEngine = "hipplan:Pointwise";

std::vector<std::string> kernel_names(const match::MatchResult& result) {
  std::vector<std::string> out;
  for (const auto& candidate : engine_of(result, kEngine).candidates)
    out.push_back(candidate.kernel->kernel->name);
  std::sort(out.begin(), out.end());
  return out;
}

using Names = std::vector<std::string>;
const Names kFloatKernels = {"pointwise.contiguous_float_b256", "pointwise.contiguous_float_b64",
                             "pointwise.strided_float_b256", "pointwise.strided_float_b64"};

}  // namespace

TEST_CASE("a graph keeps the kernels of its type and says why the others are out") {
  const PointwiseTree tree;
  const auto result = tree.match(relu_json(), target_of("mi300x"));
  CHECK(result.served());
  CHECK(kernel_names(result) == kFloatKernels);
  CHECK(result.reasons.size() == 8);
  for (const auto& reason : result.reasons) {
    CHECK(reason.stage == match::Stage::kernel);
    CHECK(reason.reason == "kernel-dtype");
    CHECK(reason.by == "hipplan.pointwise.kernel_matches_graph");
    CHECK(reason.text.find("the graph needs float") != std::string::npos);
  }
  for (const auto& candidate : result.engines[0].candidates) {
    REQUIRE(candidate.prepared != nullptr);
    CHECK(candidate.prepared->bindings.size() == 2);
    CHECK(candidate.handler->alias() == "hipplan.pointwise.dispatch.v1");
  }
}

TEST_CASE("a layout that does not serve the strides is refused for its kernels alone") {
  const PointwiseTree tree;
  const auto result = tree.match(add_json(), target_of("mi300x"));  // in_1 is broadcast along a dim
  CHECK(kernel_names(result) ==
        Names{"pointwise.strided_float_b256", "pointwise.strided_float_b64"});
}

TEST_CASE("a graph's own alignment is all that a kernel may count on") {
  const PointwiseTree tree;
  const std::string json =
      edited(relu_json(), R"("virtual":false)", R"("virtual":false,"alignment":4)");
  const auto result = tree.match(json, target_of("mi300x"));
  CHECK(kernel_names(result) ==
        Names{"pointwise.strided_float_b256", "pointwise.strided_float_b64"});
  const bool told =
      std::any_of(result.reasons.begin(), result.reasons.end(), [](const auto& reason) {
        return reason.reason == "alignment" &&
               reason.text == "tensor 1 't1' is aligned to 4 bytes, the kernel needs 16";
      });
  CHECK(told);
}

TEST_CASE("workgroups must fit the target") {
  const PointwiseTree tree;
  auto target = target_of("mi300x");
  target.max_workgroup_size = 128;
  CHECK(kernel_names(tree.match(relu_json(), target)) ==
        Names{"pointwise.contiguous_float_b64", "pointwise.strided_float_b64"});
}

TEST_CASE("architectures of packs: base, family, shards") {
  PointwiseTree tree;
  const auto with_arch = [](const std::string& text, const std::string& list) {
    return edited(text, R"("name": "pointwise operations",)",
                  R"("name": "pointwise operations", "arch": [)" + list + "],");
  };
  const std::string pack = file_text(tree.root() / kPack);
  SUBCASE("another architecture refuses the pack") {
    tree.write(kPack, with_arch(pack, R"("gfx942", "gfx950")"));
    const auto result = tree.match(relu_json(), target_of("rx7900xtx"));
    CHECK_FALSE(result.served());
    REQUIRE(reason_of(result, kEngine) != nullptr);
    CHECK(reason_of(result, kEngine)->stage == match::Stage::pack);
    CHECK(reason_of(result, kEngine)->text ==
          "the pack is for gfx942, gfx950, the target is gfx1100");
  }
  SUBCASE("features of the device do not matter") {
    tree.write(kPack, with_arch(pack, R"("gfx942")"));
    CHECK(tree.match(relu_json(), target_of("mi300x")).served());  // gfx942:sramecc+:xnack-
  }
  SUBCASE("the generic family serves, the base's own shard is taken before it") {
    tree.write(kPack, with_arch(pack, R"("gfx11-generic")"));
    CHECK(tree.match(relu_json(), target_of("rx7900xtx")).served());
    CHECK_FALSE(tree.match(relu_json(), target_of("mi300x")).served());
    tree.write("own/" + std::string(kPack), with_arch(pack, R"("gfx1100")"));
    const auto result = tree.match(relu_json(), target_of("rx7900xtx"));
    CHECK(kernel_names(result) == kFloatKernels);
    for (const auto& candidate : result.engines[0].candidates)
      CHECK(candidate.pack->arch == Names{"gfx1100"});
    CHECK(reason_of(result, kEngine)->reason == "arch-shard");
  }
}

TEST_CASE("symbols that nothing is registered under refuse their part") {
  PointwiseTree tree;
  std::string expected_stage;
  SUBCASE("graph matcher of the engine") {
    tree.edit("pointwise.ued.json", "hipplan.pointwise.graph_match", "hipplan.other.graph_match");
    expected_stage = "engine";
  }
  SUBCASE("graph-scope matcher of the pack") {
    tree.edit("pointwise.umd.json", "hipplan.pointwise.graph_match", "hipplan.other.graph_match");
    expected_stage = "pack";
  }
  SUBCASE("kernel-scope matcher") {
    tree.edit("kernel_matches_graph.umd.json", "hipplan.pointwise.kernel_matches_graph",
              "hipplan.other.kernel");
    expected_stage = "kernel";
  }
  SUBCASE("dispatch") {
    tree.edit("pointwise.udd.json", "hipplan.pointwise.dispatch", "hipplan.other.dispatch");
    expected_stage = "pack";
  }
  const auto result = tree.match(relu_json(), target_of("mi300x"));
  CHECK_FALSE(result.served());
  REQUIRE(!result.reasons.empty());
  CHECK(result.reasons[0].reason == "unregistered-symbol");
  CHECK(match::stage_name(result.reasons[0].stage) == expected_stage);
}

TEST_CASE("a pack's own graph matcher serves for an engine without one") {
  PointwiseTree tree;
  const std::string engine = file_text(tree.root() / "pointwise.ued.json");
  const std::string without = engine.substr(0, engine.find(",\n  \"graph_match\"")) + "\n}\n";
  tree.write("pointwise.ued.json", without);
  const auto result = tree.match(relu_json(), target_of("mi300x"));
  CHECK(kernel_names(result) == kFloatKernels);
  CHECK(result.engines[0].problem != nullptr);
  tree.edit(kPack, "\"224b4fe4-aa56-41c6-84ec-cdca3bb3f233\",", "");
  const auto none = tree.match(relu_json(), target_of("mi300x"));
  CHECK_FALSE(none.served());
  CHECK(reason_of(none, kEngine)->reason == "no-graph-matcher");
}

TEST_CASE("a graph that needs a newer interface is declined") {
  PointwiseTree tree;
  const auto asking = [](int minor) {
    return edited(relu_json(), R"("name":"g")",
                  R"("name":"g","min_required_engine_api_version":{"major":1,"minor":)" +
                      std::to_string(minor) + R"(,"patch":0})");
  };
  CHECK(tree.match(asking(0), target_of("mi300x")).served());
  const auto result = tree.match(asking(10), target_of("mi300x"));
  CHECK_FALSE(result.served());
  CHECK(reason_of(result, kEngine)->reason == "engine-too-old");
  tree.edit("pointwise.ued.json", "\"knobs\"", "\"sdk_version\": \"1.10.0\", \"knobs\"");
  CHECK(tree.match(asking(10), target_of("mi300x")).served());
  CHECK(tree.match(asking(9), target_of("mi300x")).served());
  CHECK_FALSE(tree.match(asking(11), target_of("mi300x")).served());
}

TEST_CASE("a kernel-scope matcher of another family refuses") {
  PointwiseTree tree;
  tree.edit("kernel_matches_graph.umd.json", "hipplan.pointwise.kernel_matches_graph",
            "hipplan.matmul.kernel_matches_graph");
  const auto result = tree.match(relu_json(), target_of("mi300x"));
  CHECK_FALSE(result.served());
  CHECK(result.reasons[0].reason == "other-family");
}

TEST_CASE("matrix instructions need their wavefront size") {
  const PointwiseTree tree("matmul");
  auto target = target_of("mi300x");
  const auto served = [&](const target::Description& on) {
    size_t matrix = 0;
    const auto result = tree.match(matmul_json(), on);
    for (const auto& candidate : engine_of(result, "hipplan:Matmul").candidates) {
      const engine::Metadata metadata(*candidate.engine->schema, candidate.kernel->values);
      matrix += *metadata.text("math") != "vector";
    }
    return matrix;
  };
  CHECK(served(target) == 2);
  CHECK(served(target_of("rx7900xtx")) == 2);
  target.wavefront_size = 32;
  CHECK(served(target) == 0);
}

TEST_CASE("matching twice gives the same answer") {
  const auto target = target_of("mi300x");
  const auto a = match::match(graph_of(sdpa_json()), authored_set(), target);
  const auto b = match::match(graph_of(sdpa_json()), authored_set(), target);
  REQUIRE(a.reasons.size() == b.reasons.size());
  for (size_t i = 0; i < a.reasons.size(); ++i) {
    CHECK(a.reasons[i].text == b.reasons[i].text);
    CHECK(a.reasons[i].kernel == b.reasons[i].kernel);
  }
}
