// The dispatch handler hipplan.pointwise.dispatch.v1 (docs/dispatch-contracts.md), and the rules
// about operations and layouts that choosing a kernel shares with launching it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/dispatch.h"

namespace hipplan::engine::pointwise {

[[nodiscard]] const DispatchHandler& dispatch_handler();

/// An operation by the dialect's name. `kernel_number` never leaves the process.
struct Operation {
  std::string_view name;
  uint32_t inputs;  ///< tensors it reads: gen_index none, add 2, binary_select 3
  uint32_t kernel_number;
};
/// All operations that kernels compute, by name; "unset" is not among them.
[[nodiscard]] const std::vector<Operation>& operations();
[[nodiscard]] const Operation* find_operation(std::string_view name);

/// Whether layout "contiguous" serves: output dense in some order of its dims, each input either in
/// the output's very order or a single element. `in_strides` holds inputs * rank strides, 0 along
/// dims that an input is broadcast over.
[[nodiscard]] bool contiguous_serves(const std::vector<int64_t>& dims,
                                     const std::vector<int64_t>& out_strides,
                                     const std::vector<int64_t>& in_strides,
                                     std::string_view operation);

}  // namespace hipplan::engine::pointwise
