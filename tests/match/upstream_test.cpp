// The real graphs of other projects against the set that ships.
#include <doctest/doctest.h>

#include "select/select.h"
#include "shared_data.h"
#include "support.h"
#include "template_fill.h"

using namespace hipplan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

/// Files below `folder` that are complete graphs: they have nodes and no placeholders.
std::vector<fs::path> complete_graphs(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = file_text(entry.path());
    if (text.find("\"nodes\"") != std::string::npos && text.find("${") == std::string::npos)
      out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

struct Expected {
  const char* file;
  const char* engine;
};
constexpr Expected kServed[] = {
    {"sample_mha_sdpa.json", "hipplan:SdpaFwd"},
    {"sample_sdpa.json", "hipplan:SdpaFwd"},
    {"sample_batchnorm.json", "hipplan:BatchnormInference"},
    {"sample_conv_fwd.json", "hipplan:ConvFwd"},
    {"sample_relu.json", "hipplan:Pointwise"},
    {"Small.json", "hipplan:SdpaFwd"},
    {"gqa_fp16_b1_qh10_kvh2_sq4_skv4_d8_causal_off.json", "hipplan:SdpaFwd"},
    {"varlen_padded_fp16_h3_n5_d8_causal_off.json", "hipplan:SdpaFwd"},
    {"ckdsl_sdpa_correctness_bf16causalgqad128.json", "hipplan:SdpaFwd"},
};

std::string engine_for(const fs::path& file) {
  for (const Expected& entry : kServed)
    if (file.filename() == entry.file) return entry.engine;
  return {};
}

}  // namespace

TEST_CASE("upstream: every complete graph is served on gfx942 and gfx1100 by its engine") {
  const fs::path data = upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const auto files = complete_graphs(data);
  CHECK(files.size() == 10);
  for (const char* stem : {"mi300x", "rx7900xtx"}) {
    const auto target = target_of(stem);
    for (const fs::path& file : files) {
      CAPTURE(file);
      CAPTURE(stem);
      const graph::Graph graph = graph_of(file_text(file));
      auto matched = match::match(graph, authored_set(), target);
      // The engines of other ops say that the nodes are not theirs, and nothing else.
      for (const auto& reason : matched.reasons) {
        const bool own = reason.engine == engine_for(file);
        const bool expected = own ? reason.stage != match::Stage::engine : reason.reason == "nodes";
        CHECK_MESSAGE(expected, reason.engine << ": " << reason.text);
      }
      const auto selection = select::select(std::move(matched), graph, target, {});
      REQUIRE_MESSAGE(selection.ok(), (selection.ok() ? "" : selection.error().text()));
      CHECK(selection->chosen.engine->name == engine_for(file));
    }
  }
}

TEST_CASE("upstream: the cases of the templates are served") {
  const fs::path data = upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const fs::path bundles =
      data / "rocm-libraries/dnn-providers/integration-tests/integration-test-bundles/quick";
  const struct {
    fs::path folder;
    const char* engine;
    size_t cases;
  } templates[] = {{bundles / "ConvolutionFwdPointwise/ConvBiasNchw", "hipplan:ConvFwd", 8},
                   {bundles / "Pointwise/Nchw", "hipplan:Pointwise", 1}};
  for (const auto& entry : templates) {
    const auto graphs = fill_template(file_text(entry.folder / "graph.template.json"),
                                      file_text(entry.folder / "sweep.json"));
    CHECK(graphs.size() == entry.cases);
    for (const FilledGraph& filled : graphs) {
      CAPTURE(filled.case_id);
      const graph::Graph graph = graph_of(filled.text);
      for (const char* stem : {"mi300x", "rx7900xtx"}) {
        const auto target = target_of(stem);
        const auto selection =
            select::select(match::match(graph, authored_set(), target), graph, target, {});
        REQUIRE_MESSAGE(selection.ok(), (selection.ok() ? "" : selection.error().text()));
        CHECK(selection->chosen.engine->name == entry.engine);
      }
    }
  }
}
