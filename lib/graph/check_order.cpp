// Who writes and reads which tensor, and in which order.
#include <numeric>

#include "graph/shape.h"
#include "graph/uid_index.h"

namespace hipplan::graph::detail {
namespace {

constexpr size_t kNone = SIZE_MAX;

struct Flow {
  std::vector<size_t> writer;  ///< node that writes each tensor
  std::vector<bool> read;
};

Error fail(std::string place, std::string reason, std::string what, std::string expected,
           std::string found) {
  Error error;
  error.code = Code::bad_input;
  error.reason = std::move(reason);
  error.where = std::move(place);
  error.what = std::move(what);
  error.expected = std::move(expected);
  error.found = std::move(found);
  return error;
}

Result<void> collect_writers(const Graph& graph, const std::string& where, Flow& flow) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const auto* list : {&graph.nodes[n].inputs, &graph.nodes[n].outputs})
      for (const Reference& reference : *list)
        if (reference.tensor >= graph.tensors.size())
          return fail(node_place(where, graph, n), "dangling-uid",
                      cat("role ", reference.role, " refers to tensors[", reference.tensor, "]"),
                      cat("a position below ", graph.tensors.size()), cat(reference.tensor));
    for (const Reference& output : graph.nodes[n].outputs) {
      const Tensor& tensor = graph.tensors[output.tensor];
      size_t& writer = flow.writer[output.tensor];
      if (writer != kNone)
        return fail(node_place(where, graph, n), "written-twice",
                    cat("output ", output.role, " (uid ", tensor.uid, ") is written already"),
                    "one writer per tensor", cat("also written by nodes[", writer, "]"));
      if (tensor.value || tensor.runtime_pass_by_value)
        return fail(node_place(where, graph, n), "written-constant",
                    cat("output ", output.role, " (uid ", tensor.uid, ") is passed by value"),
                    "a tensor in memory", tensor.value ? "a constant" : "a run-time value");
      writer = n;
    }
  }
  return {};
}

/// Whether nodes that only wait for tensors of others can be put into some order.
bool can_be_ordered(const Graph& graph, const Flow& flow) {
  std::vector<std::vector<size_t>> readers(graph.nodes.size());
  std::vector<size_t> waiting(graph.nodes.size(), 0), ready;
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const Reference& input : graph.nodes[n].inputs)
      if (const size_t writer = flow.writer[input.tensor]; writer != kNone) {
        readers[writer].push_back(n);
        ++waiting[n];
      }
  for (size_t n = 0; n < waiting.size(); ++n)
    if (waiting[n] == 0) ready.push_back(n);
  size_t done = 0;
  while (!ready.empty()) {
    const size_t n = ready.back();
    ready.pop_back();
    ++done;
    for (const size_t reader : readers[n])
      if (--waiting[reader] == 0) ready.push_back(reader);
  }
  return done == graph.nodes.size();
}

Result<void> check_input(const Graph& graph, const std::string& where, const Flow& flow, size_t n,
                         const Reference& input) {
  const Tensor& tensor = graph.tensors[input.tensor];
  const size_t writer = flow.writer[input.tensor];
  if (writer == kNone && tensor.is_virtual)
    return fail(
        node_place(where, graph, n), "virtual-unwritten",
        cat("input ", input.role, " (uid ", tensor.uid, ") is virtual and nobody writes it"),
        "a node that writes it, or \"virtual\": false", "no writer");
  if (writer == kNone || writer < n) return {};
  if (can_be_ordered(graph, flow))
    return fail(node_place(where, graph, n), "node-order",
                cat("input ", input.role, " (uid ", tensor.uid, ") is written later"),
                "nodes in topological order", cat("writer is nodes[", writer, "]"));
  return fail(node_place(where, graph, n), "cycle",
              cat("input ", input.role, " (uid ", tensor.uid, ") depends on the node itself"),
              "a graph without cycles", cat("a cycle through nodes[", writer, "]"));
}

Result<void> check_uses(const Graph& graph, const std::string& where, const Flow& flow) {
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    const Tensor& tensor = graph.tensors[i];
    const bool written = flow.writer[i] != kNone;
    if (!flow.read[i] && !written)
      return fail(tensor_place(where, graph, i), "unused-tensor",
                  cat("tensor uid ", tensor.uid, " is used by no node"), "a reader or a writer",
                  "neither");
    if (tensor.is_virtual && !flow.read[i])
      return fail(tensor_place(where, graph, i), "virtual-unread",
                  cat("virtual tensor uid ", tensor.uid, " is read by no node"),
                  "a reader, or \"virtual\": false", "none");
    if (written && overlaps_itself(tensor))
      return fail(tensor_place(where, graph, i), "overlapping-strides",
                  cat("tensor uid ", tensor.uid, " is written and its elements overlap"),
                  cat("strides that keep the elements of dims ", dims_text(tensor.dims), " apart"),
                  dims_text(tensor.strides));
  }
  return {};
}

/// Nodes are connected through the tensors they share.
Result<void> check_connected(const Graph& graph, const std::string& where) {
  std::vector<size_t> parent(graph.nodes.size()), first_user(graph.tensors.size(), kNone);
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto root = [&](size_t n) {
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
  };
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const auto* list : {&graph.nodes[n].inputs, &graph.nodes[n].outputs})
      for (const Reference& reference : *list) {
        size_t& user = first_user[reference.tensor];
        if (user == kNone)
          user = n;
        else
          parent[root(n)] = root(user);
      }
  for (size_t n = 1; n < graph.nodes.size(); ++n)
    if (root(n) != root(0))
      return fail(node_place(where, graph, n), "not-connected",
                  "node shares no tensor, directly or through others, with nodes[0]",
                  "one connected graph", "at least two parts");
  return {};
}

}  // namespace

Result<void> check_order(const Graph& graph, const std::string& where) {
  if (graph.nodes.empty())
    return fail(where, "no-nodes", "the graph has no nodes", "at least one node", "none");
  Flow flow{std::vector<size_t>(graph.tensors.size(), kNone),
            std::vector<bool>(graph.tensors.size(), false)};
  HIPPLAN_TRY(collect_writers(graph, where, flow));
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (const Reference& input : graph.nodes[n].inputs) {
      flow.read[input.tensor] = true;
      HIPPLAN_TRY(check_input(graph, where, flow, n, input));
    }
  for (const size_t offset : ragged_offsets(graph.tensors)) {
    if (offset == kNone) continue;
    flow.read[offset] = true;
    if (flow.writer[offset] != kNone)
      return fail(tensor_place(where, graph, offset), "ragged-offset",
                  cat("tensor uid ", graph.tensors[offset].uid,
                      " holds ragged offsets and is written by the graph"),
                  "a tensor that the caller provides", "an output");
  }
  HIPPLAN_TRY(check_uses(graph, where, flow));
  return check_connected(graph, where);
}

}  // namespace hipplan::graph::detail
