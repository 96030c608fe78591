// Graphs and buffers for tests, made by code.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "reference/element.h"
#include "reference/reference.h"

namespace hipplan::test {

using graph::DataType;
using graph::NodeType;
using Dims = std::vector<int64_t>;
using Numbers = std::vector<double>;

inline Dims dense_strides(const Dims& dims) {
  Dims out(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) out[i] = stride;
  return out;
}

/// A graph under construction with the numbers of its inputs. Tensor uids count from 1.
class GraphBuilder {
 public:
  explicit GraphBuilder(DataType compute = DataType::float32) { graph.compute_type = compute; }

  int64_t tensor(DataType type, Dims dims, Dims strides = {}) {
    graph::Tensor t;
    t.uid = static_cast<int64_t>(graph.tensors.size()) + 1;
    t.name = "t" + std::to_string(t.uid);
    t.type = type;
    t.strides = strides.empty() ? dense_strides(dims) : std::move(strides);
    t.dims = std::move(dims);
    graph.tensors.push_back(t);
    return t.uid;
  }
  /// A tensor with these numbers, row-major, as an input.
  int64_t input(DataType type, Dims dims, const Numbers& values, Dims strides = {}) {
    const int64_t uid = tensor(type, std::move(dims), std::move(strides));
    set(uid, values);
    return uid;
  }
  void set(int64_t uid, const Numbers& values) {
    Bytes bytes(static_cast<size_t>(at(uid).span_bytes()));
    reference::pack(at(uid), values, bytes.data(), 1);
    data[uid] = bytes;
  }
  int64_t intermediate(DataType type, Dims dims) {
    const int64_t uid = tensor(type, std::move(dims));
    at(uid).is_virtual = true;
    return uid;
  }
  graph::Tensor& at(int64_t uid) { return graph.tensors[static_cast<size_t>(uid - 1)]; }

  using Roles = std::vector<std::pair<std::string, int64_t>>;
  graph::Node& node(NodeType type, const Roles& in, const Roles& out,
                    std::vector<graph::Attribute> attributes = {}) {
    graph::Node n;
    n.name = "n" + std::to_string(graph.nodes.size());
    n.type = type;
    n.compute_type = graph.compute_type;
    for (const auto& [role, uid] : in) n.inputs.push_back({role, static_cast<size_t>(uid - 1)});
    for (const auto& [role, uid] : out) n.outputs.push_back({role, static_cast<size_t>(uid - 1)});
    n.attributes = std::move(attributes);
    graph.nodes.push_back(std::move(n));
    return graph.nodes.back();
  }
  [[nodiscard]] reference::Inputs inputs() const {
    reference::Inputs out;
    for (const auto& [uid, bytes] : data) out[uid] = bytes;
    return out;
  }
  [[nodiscard]] Result<reference::Outputs> run(unsigned jobs = 1) const {
    return reference::evaluate(graph, inputs(), jobs);
  }
  /// The values of one output; empty when the evaluation failed.
  [[nodiscard]] reference::Output answer(int64_t uid, unsigned jobs = 1) const {
    auto all = run(jobs);
    return all ? all->at(uid) : reference::Output{};
  }

  graph::Graph graph;
  std::map<int64_t, Bytes> data;
};

/// Numbers in (-1, 1), the same every time: a full-period congruential sequence.
inline Numbers noise(size_t count, uint32_t seed = 1) {
  Numbers out(count);
  uint32_t state = seed * 2654435761u + 12345u;
  for (auto& v : out) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<double>(static_cast<float>(state >> 8) / 8388608.0f - 1.0f);
  }
  return out;
}

/// |got - value| / bound of the worst element; infinity when sizes differ.
inline double worst_ratio(const reference::Output& expected, const Numbers& got) {
  if (expected.values.size() != got.size() || expected.bounds.size() != got.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::fabs(got[i] - expected.values[i]);
    if (error == 0) continue;
    worst = std::fmax(worst, error / static_cast<double>(expected.bounds[i]));
  }
  return worst;
}

/// Largest |a - b| over the largest |b|.
inline double distance(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return INFINITY;
  double error = 0, size = 1e-300;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) != std::isnan(b[i])) return INFINITY;
    if (a[i] == b[i]) continue;
    error = std::fmax(error, std::fabs(a[i] - b[i]));
    size = std::fmax(size, std::fabs(b[i]));
  }
  return error / size;
}

}  // namespace hipplan::test
