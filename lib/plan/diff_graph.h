// What differs between the graphs of two plans, as their JSON tells it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hipplan::plan {

/// One difference; a value that one graph does not have is empty.
struct GraphDifference {
  std::string name;  ///< "tensors[3 y].dims", "nodes[0 conv].parameters.stride"
  std::string a, b;
};

/// Differences of two graphs in hipDNN's JSON: fields of the graph, tensors by uid (then by name),
/// nodes in their order, aligned by type. A null and a missing field are the same. Empty when a
/// text is no graph, or when they differ in their form only.
[[nodiscard]] std::vector<GraphDifference> diff_graphs(std::string_view a, std::string_view b);

}  // namespace hipplan::plan
