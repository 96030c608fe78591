// Look-up of many uids in one list of tensors. Internal to lib/graph.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace hipplan::graph::detail {

/// uid -> position. Of a uid that is used twice, the first position.
class UidIndex {
 public:
  explicit UidIndex(const std::vector<Tensor>& tensors);
  [[nodiscard]] std::optional<size_t> find(int64_t uid) const;

 private:
  std::vector<std::pair<int64_t, size_t>> sorted_;
};

/// Position of the tensor that holds each tensor's ragged offsets; SIZE_MAX for none or unknown.
[[nodiscard]] std::vector<size_t> ragged_offsets(const std::vector<Tensor>& tensors);

}  // namespace hipplan::graph::detail
