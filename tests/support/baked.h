// A plan baked from a sample graph with the kernels of this build, for tests of what comes after
// baking.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include "base/file.h"
#include "graph/graph.h"
#include "pipeline/pipeline.h"

namespace hipplan::test {

inline std::filesystem::path share_folder() {
  return std::filesystem::path(HIPPLAN_BINARY_DIR) / "share" / "hipplan";
}

/// False, with a message, when this build has no kernel archives.
inline bool have_kernels() {
  const bool there = std::filesystem::is_directory(share_folder() / "kernels" / "gfx942");
  if (!there) MESSAGE("skipped: this build has no kernel archives");
  return there;
}

inline graph::Graph sample_graph(const std::string& name = "conv_fwd") {
  const auto path =
      std::filesystem::path(HIPPLAN_SOURCE_DIR) / "samples" / "graphs" / (name + ".json");
  const auto text = read_file(path);
  REQUIRE(text.ok());
  auto graph = graph::read_graph(as_text(*text), path.string(), {}, {});
  REQUIRE(graph.ok());
  return *graph;
}

inline target::Description target_of(const std::string& name) {
  const auto targets = pipeline::Targets::load(std::filesystem::path(HIPPLAN_SOURCE_DIR) /
                                               "descriptors" / "targets");
  REQUIRE(targets.ok());
  auto found = targets->find(name);
  REQUIRE(found.ok());
  return *found;
}

inline plan::Plan baked_plan(const graph::Graph& graph, const std::string& target) {
  pipeline::Catalog catalog(share_folder() / "kernels", 1);
  capture::Capturer capturer;
  auto baked = pipeline::bake(graph, target_of(target), catalog, capturer, {}, {}, nullptr);
  REQUIRE_MESSAGE(baked.ok(), (baked.ok() ? "" : baked.error().text()));
  return baked->plan;
}

}  // namespace hipplan::test
