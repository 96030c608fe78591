// Structural differences of graphs, by tensor and by node.
#include <doctest/doctest.h>

#include "base/result.h"
#include "plan/diff.h"
#include "plan/diff_graph.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using hipplan::test::sample_plan;

namespace {

std::string tensor(int uid, const std::string& name, const std::string& dims = "[2, 3]") {
  return cat(R"({"uid": )", uid, R"(, "name": ")", name, R"(", "data_type": "float", "dims": )",
             dims, "}");
}

std::string node(const std::string& name, const std::string& type,
                 const std::string& parameters = "{}") {
  return cat(R"({"name": ")", name, R"(", "type": ")", type, R"(", "parameters": )", parameters,
             "}");
}

std::string graph(const std::string& tensors, const std::string& nodes,
                  const std::string& name = "g") {
  return cat(R"({"name": ")", name, R"(", "tensors": [)", tensors, R"(], "nodes": [)", nodes, "]}");
}

std::string told(const std::string& a, const std::string& b) {
  std::string out;
  for (const auto& d : diff_graphs(a, b)) out += cat(d.name, ": ", d.a, " -> ", d.b, "; ");
  return out;
}

}  // namespace

TEST_CASE("tensors: by uid, then by name, then on their own") {
  const std::string a = graph(tensor(1, "x") + "," + tensor(2, "y") + "," + tensor(3, "z"), "");
  CHECK(told(a, a) == "");
  CHECK(told(a, graph(tensor(3, "z") + "," + tensor(1, "x") + "," + tensor(2, "y"), "")) == "");
  CHECK(told(a, graph(tensor(1, "x", "[2, 4]") + "," + tensor(2, "y") + "," + tensor(3, "z"),
                      "")) == "tensors[1 x].dims: [2, 3] -> [2, 4]; ");
  CHECK(told(a, graph(tensor(1, "x") + "," + tensor(20, "y") + "," + tensor(3, "z"), "")) ==
        "tensors[2 y].uid: 2 -> 20; ");
  CHECK(told(a, graph(tensor(1, "x") + "," + tensor(4, "w") + "," + tensor(3, "z"), "")) ==
        "tensors[2 y]: float [2, 3] -> ; tensors[4 w]:  -> float [2, 3]; ");
}

TEST_CASE("nodes: in order, aligned by type") {
  const std::string conv = node("c", "Conv", R"({"stride": [1, 1], "mode": "X"})");
  const std::string relu = node("r", "Pointwise"), norm = node("n", "Norm");
  const std::string a = graph("", conv + "," + relu);
  CHECK(told(a, graph("", node("c", "Conv", R"({"stride": [2, 2], "mode": "X"})") + "," + relu)) ==
        "nodes[0 c].parameters.stride: [1, 1] -> [2, 2]; ");
  CHECK(told(a, graph("", conv + "," + norm + "," + relu)) == "nodes[1 n]:  -> Norm; ");
  CHECK(told(graph("", conv + "," + norm + "," + relu), a) == "nodes[1 n]: Norm -> ; ");
  CHECK(told(a, graph("", relu + "," + conv)) == "nodes[0 c]: Conv -> ; nodes[1 c]:  -> Conv; ");
  CHECK(told(graph("", ""), a) == "nodes[0 c]:  -> Conv; nodes[1 r]:  -> Pointwise; ");
}

TEST_CASE("fields: values that look alike without their quotes are told with them") {
  const auto with = [](const char* axis) {
    return graph("", node("n", "t", cat(R"({"axis": )", axis, "}")));
  };
  CHECK(told(with(R"("1")"), with("1")) == "nodes[0 n].parameters.axis: \"1\" -> 1; ");
  CHECK(told(with(R"([1, "2"])"), with("[1, 2]")) ==
        "nodes[0 n].parameters.axis: [1,\"2\"] -> [1,2]; ");
  CHECK(told(with(R"("ab")"), with("1")) == "nodes[0 n].parameters.axis: ab -> 1; ");
  CHECK(told(with(R"(["1"])"), with(R"(["1"])")).empty());
}

TEST_CASE("fields: null is absent, and what is no graph has no differences") {
  CHECK(told(graph("", "", "a"), graph("", "", "b")) == "name: a -> b; ");
  CHECK(told(R"({"x": null, "tensors": [], "nodes": []})", R"({"tensors": [], "nodes": []})") ==
        "");
  CHECK(told(R"({"x": {"y": 1}, "tensors": [], "nodes": []})",
             R"({"x": 2, "tensors": [], "nodes": []})") == "x: {\"y\":1} -> 2; ");
  CHECK(told("{}", "[]") == "");
  CHECK(told("not JSON", graph("", "")) == "");
  CHECK(told(R"({"tensors": 1, "nodes": []})", graph("", "", "b")) == "");
  CHECK(told(R"({"tensors": [1, [2]], "nodes": ["a", null]})", graph("", "")) != "");
}

TEST_CASE("files: a graph that only one file holds is compared with its like") {
  const auto with = [](unsigned seed, const std::string& text) {
    Plan plan = sample_plan(seed);
    plan.graph = text;
    return plan;
  };
  const auto open = [](std::vector<Plan> plans) {
    Writer writer({});
    for (auto& plan : plans) REQUIRE(writer.add(std::move(plan)).ok());
    const auto bytes = writer.to_bytes();
    REQUIRE(bytes.ok());
    auto file = File::parse(*bytes, "file", Check::full);
    REQUIRE(file.ok());
    return *file;
  };
  const auto graphs_of = [](const File& a, const File& b) {
    const auto diff = diff_files(a, b);
    REQUIRE(diff.ok());
    std::string out;
    for (const auto& d : diff->differences)
      if (d.area == "graph") out += d.name + "; ";
    return out;
  };
  const Plan shared = with(1, graph("", ""));
  const File one = open({shared, with(2, graph(tensor(1, "x"), "", "a"))});
  // The only ones left of each file, whatever their names are.
  CHECK(graphs_of(one, open({shared, with(3, graph(tensor(1, "y"), "", "b"))})) ==
        "name; tensors[1 x].name; ");
  // Of several, those of the same name.
  CHECK(graphs_of(one, open({shared, with(3, graph(tensor(1, "y"), "", "b")),
                             with(4, graph("", "", "a"))})) == "tensors[1 x]; ");
  CHECK(graphs_of(one, one) == "");
}
