// Constants in a graph: which `value_type` goes with which data type, and what fits into it.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace hipplan::graph::detail {

struct ValueTypeRow {
  std::string_view name;
  enum class Form : uint8_t { number, integer, flag } form;
  double largest;                   ///< magnitude, of numbers
  int64_t min, max;                 ///< of integers
  std::span<const DataType> types;  ///< data types it may stand for; the first is the default
};

[[nodiscard]] std::span<const ValueTypeRow> value_types();
[[nodiscard]] const ValueTypeRow* find_value_type(std::string_view name);

}  // namespace hipplan::graph::detail
