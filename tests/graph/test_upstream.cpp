// Graphs that other projects wrote.
#include <doctest/doctest.h>

#include <set>

#include "base/file.h"
#include "samples.h"
#include "shared_data.h"
#include "template_fill.h"

namespace {

using namespace hipplan;
using namespace hipplan::graph;

std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  REQUIRE(bytes.ok());
  return std::string(as_text(*bytes));
}

/// Complete graphs: JSON files with "tensors" and "nodes" and no placeholders.
std::vector<std::filesystem::path> graph_files(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    const std::string text = text_of(entry.path());
    if (text.find("\"nodes\"") != std::string::npos && text.find("${case.") == std::string::npos)
      out.push_back(entry.path());
  }
  return out;
}

void read_and_read_back(const std::string& text, const std::string& name) {
  const auto graph = read_graph(text, name, {}, {});
  CHECK_MESSAGE(graph.ok(), name, ": ", graph ? "" : graph.error().text());
  if (!graph) return;
  const std::string printed = print_graph(*graph);
  const auto again = read_graph(printed, "printed", {}, {});
  REQUIRE(again.ok());
  CHECK(same_meaning(*graph, *again));
  CHECK(content_key(*graph) == content_key(*again));
  CHECK(print_graph(*again) == printed);
}

TEST_CASE("every complete graph is read, and its print has the same meaning") {
  const auto root = test::upstream_data();
  if (root.empty()) {
    MESSAGE("no upstream data: skipped");
    return;
  }
  const auto files = graph_files(root);
  CHECK(files.size() >= 10);
  for (const auto& path : files) read_and_read_back(text_of(path), path.filename().string());
}

TEST_CASE("every case of every stored template is read") {
  const auto root = test::upstream_data();
  if (root.empty()) {
    MESSAGE("no upstream data: skipped");
    return;
  }
  size_t cases = 0;
  std::set<std::string> keys;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "graph.template.json") continue;
    const auto sweep = entry.path().parent_path() / "sweep.json";
    for (const auto& filled : test::fill_template(text_of(entry.path()), text_of(sweep))) {
      read_and_read_back(filled.text, filled.case_id);
      keys.insert(content_key(*read_graph(filled.text, "g", {}, {})).hex());
      ++cases;
    }
  }
  CHECK(cases == 9);
  CHECK(keys.size() == 9);
}

TEST_CASE("known graphs have the shapes that their names say") {
  const auto root = test::upstream_data();
  if (root.empty()) {
    MESSAGE("no upstream data: skipped");
    return;
  }
  for (const auto& path : graph_files(root)) {
    if (path.filename() != "gqa_fp16_b1_qh10_kvh2_sq4_skv4_d8_causal_off.json") continue;
    const auto graph = read_graph(text_of(path), "g", {}, {});
    REQUIRE(graph.ok());
    const Node& sdpa = graph->nodes.at(0);
    CHECK(graph->tensors[*sdpa.input("q")].dims == std::vector<int64_t>{1, 10, 4, 8});
    CHECK(graph->tensors[*sdpa.input("k")].dims == std::vector<int64_t>{1, 2, 4, 8});
    CHECK(sdpa.number("attn_scale_value") == 0.125);
    CHECK(sdpa.flag("causal_mask") == false);
    CHECK(graph->tensors[*sdpa.output("o")].type == DataType::half);
    CHECK(graph->external_inputs().size() == 3);
  }
}

}  // namespace
