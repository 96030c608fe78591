// The real descriptor sets that other projects ship.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "descriptor/loader.h"
#include "shared_data.h"

using namespace hipplan;
namespace fs = std::filesystem;

namespace {

const char* const kSets =
    "dnn-providers/hip-kernel-provider/src/engines/kernel_ingestor_engine/descriptors";

/// How often each "severity reason" was told.
std::map<std::string, int> told(const descriptor::Loaded& loaded) {
  std::map<std::string, int> out;
  for (const auto& entry : loaded.diagnostics)
    ++out[(entry.severity == Severity::error ? "error " : "warning ") + entry.reason];
  return out;
}

using Told = std::map<std::string, int>;

descriptor::Loaded load(const std::vector<fs::path>& roots) {
  auto loaded = descriptor::load(roots);
  REQUIRE(loaded.ok());
  for (const auto& entry : loaded->diagnostics) INFO(entry.where, " ", entry.text);
  return std::move(loaded).value();
}

}  // namespace

TEST_CASE(
    "upstream: batchnorm_inference and asm_sdpa_fwd are whole, the tree-model heuristic stands "
    "alone") {
  const fs::path data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const auto loaded = load(
      {data / "rocm-libraries" / kSets, data / "rocm-libraries-fork" / kSets / "asm_sdpa_fwd"});
  CHECK(loaded.diagnostics.empty());
  REQUIRE(loaded.set->engines.size() == 2);
  CHECK(loaded.set->engines[0]->name == "hipkernel:AsmSdpaForward");
  CHECK(loaded.set->engines[1]->name == "hipkernel:BatchnormInference");
  const auto& asm_pack = *loaded.set->engines[0]->packs.at(0);
  CHECK(asm_pack.arch == std::vector<std::string>{"gfx942"});
  CHECK(asm_pack.kernels.at(0).kernel->sources.at(0).kind == descriptor::SourceKind::hsaco_file);
  CHECK(asm_pack.kernels.at(0).values.size() == 8);
  const auto& batchnorm = *loaded.set->engines[1]->packs.at(0);
  CHECK(batchnorm.kernels.size() == 9);
  CHECK(batchnorm.kernels[1].values[0] == ValueData(int64_t{256}));
  const auto tree =
      std::find_if(loaded.set->heuristics.begin(), loaded.set->heuristics.end(),
                   [](const auto& h) { return h->adapter == descriptor::Adapter::tree_data; });
  REQUIRE(tree != loaded.set->heuristics.end());
  CHECK((*tree)->metric == "tflops");
  CHECK((*tree)->logarithmic);
}

TEST_CASE("upstream: the pack of asm_sdpa_fwd alone misses its schema, matcher and dispatch") {
  const fs::path data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const auto loaded = load({data / "rocm-libraries" / kSets / "asm_sdpa_fwd"});
  CHECK(told(loaded) == Told{{"error dangling-reference", 2}, {"error orphan-pack", 1}});
}

TEST_CASE("upstream: conv_fwd refers to a heuristic that is not there") {
  const fs::path data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const auto loaded = load({data / "rocm-libraries-fork" / kSets / "conv_fwd"});
  CHECK(told(loaded) == Told{{"error dangling-reference", 1}, {"error orphan-pack", 1}});
  CHECK(loaded.diagnostics[0].text.find("e8066dca-b56e-4dfa-8755-a1e1bcadf09f") !=
        std::string::npos);
  CHECK(loaded.set->engines.empty());
}

TEST_CASE("upstream: an engine whose pack is not stored, authoring fixtures, dangling fixtures") {
  const fs::path data = test::upstream_data();
  if (data.empty()) {
    MESSAGE("no upstream data; skipped");
    return;
  }
  const fs::path packaging =
      data / "rocm-libraries/dnn-providers/hip-kernel-provider/descriptor-packaging";
  const fs::path fixtures =
      data /
      "rocm-libraries/projects/hipdnn/tools/IngestorGenerator/tests/fixtures/validate_descriptors";
  CHECK(told(load({packaging / "examples"})) == Told{{"error engine-without-pack", 1}});
  // Version 0.1 is skipped before its ids are looked at; the engine is version 1.0 with ids that
  // are no UUIDs: its own and that of its schema.
  CHECK(told(load({packaging / "tests"})) ==
        Told{{"warning version-unsupported", 2}, {"error bad-uuid", 2}});
  CHECK(told(load({fixtures / "dangling_uuid"})) == Told{{"error dangling-reference", 2}});
  CHECK(told(load({fixtures / "l1_static_order"})) == Told{{"error dangling-reference", 1}});
  // Both at once: one id with two contents in one root.
  CHECK(told(load({fixtures})) == Told{{"error contradicting-descriptors", 1}});
}
