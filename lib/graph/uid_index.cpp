#include "graph/uid_index.h"

#include <algorithm>

namespace hipplan::graph::detail {

UidIndex::UidIndex(const std::vector<Tensor>& tensors) {
  sorted_.reserve(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) sorted_.emplace_back(tensors[i].uid, i);
  std::sort(sorted_.begin(), sorted_.end());
}

std::optional<size_t> UidIndex::find(int64_t uid) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(uid, size_t{0}));
  if (found == sorted_.end() || found->first != uid) return std::nullopt;
  return found->second;
}

std::vector<size_t> ragged_offsets(const std::vector<Tensor>& tensors) {
  std::vector<size_t> out(tensors.size(), SIZE_MAX);
  std::optional<UidIndex> index;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].ragged_offset_uid) continue;
    if (!index) index.emplace(tensors);
    out[i] = index->find(*tensors[i].ragged_offset_uid).value_or(SIZE_MAX);
  }
  return out;
}

}  // namespace hipplan::graph::detail
