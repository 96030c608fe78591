// What the evaluation of one node sees and gives back. Internal to lib/reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hipplan::reference {

/// All elements of a tensor, row-major, with a bound on how far a kernel's value may be from each.
struct Dense {
  std::vector<double> values;
  std::vector<float> errors;  ///< empty: the values are exact
};

/// One tensor of the graph during evaluation: bytes of the caller, or numbers computed before.
struct Operand {
  const graph::Tensor* tensor = nullptr;
  const std::byte* bytes = nullptr;
  std::shared_ptr<const Dense> dense;  ///< set when bytes is null

  [[nodiscard]] bool ready() const { return bytes != nullptr || dense != nullptr; }
  [[nodiscard]] bool exact() const { return dense == nullptr || dense->errors.empty(); }
  /// Stride of dim i in the store that read() uses: the tensor's, or row-major.
  [[nodiscard]] std::vector<int64_t> strides() const;
  void read(int64_t first, int64_t stride, int64_t count, double* out) const;
  /// Errors of the same elements; zeros when exact.
  void read_errors(int64_t first, int64_t stride, int64_t count, double* out) const;
};

/// A computed tensor: its position in Graph::tensors, values before rounding to the tensor's type,
/// and errors that do not cover that rounding.
struct Computed {
  size_t tensor = 0;
  Dense data;
};

struct Context {
  const graph::Graph& graph;
  const graph::Node& node;
  const std::vector<Operand>& operands;  ///< by tensor position
  double roundoff;                       ///< of the node's arithmetic
  unsigned jobs;
  std::string where;  ///< "node 'name'"

  [[nodiscard]] const Operand* input(std::string_view role) const;
  [[nodiscard]] const graph::Tensor* output(std::string_view role) const;
  /// input() that must be there; bad_input "missing-tensor" otherwise.
  [[nodiscard]] Result<const Operand*> required(std::string_view role) const;
  [[nodiscard]] Result<size_t> required_output(std::string_view role) const;
  /// All elements of an operand; converts at most once. An operand of a wider type than the
  /// arithmetic carries the error of converting it.
  [[nodiscard]] std::shared_ptr<const Dense> load(const Operand& operand) const;
  /// The value of a one-element operand.
  [[nodiscard]] Result<double> scalar(std::string_view role, const Operand& operand) const;
  [[nodiscard]] Error unsupported(const std::string& what) const;
  [[nodiscard]] Error bad_shape(std::string_view role, const std::string& expected,
                                const std::vector<int64_t>& found) const;
};

using Evaluated = Result<std::vector<Computed>>;
Evaluated evaluate_pointwise(const Context& context);
Evaluated evaluate_convolution_fwd(const Context& context);
Evaluated evaluate_matmul(const Context& context);
Evaluated evaluate_batchnorm_inference(const Context& context);
Evaluated evaluate_layernorm(const Context& context);
Evaluated evaluate_rmsnorm(const Context& context);
Evaluated evaluate_reduction(const Context& context);
Evaluated evaluate_sdpa(const Context& context);
/// The settings of an SDPA node that have no answer here.
Result<void> sdpa_supported(const graph::Graph& graph, const graph::Node& node);

/// "[2,3,4]".
[[nodiscard]] std::string dims_text(const std::vector<int64_t>& dims);
[[nodiscard]] std::vector<int64_t> row_major(const std::vector<int64_t>& dims);
/// All row-major positions that the axes with chosen[d] == which reach, the others at 0.
[[nodiscard]] std::vector<int64_t> positions_along(const std::vector<int64_t>& dims,
                                                   const std::vector<bool>& chosen, bool which);
[[nodiscard]] int64_t product(const std::vector<int64_t>& dims);
/// `strides` of a tensor of `dims` seen with the shape `target`, aligned at the last dim: 0 where
/// it is repeated. Nothing when a dim is neither 1 nor the target's.
[[nodiscard]] std::optional<std::vector<int64_t>> broadcast_strides(
    const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
    const std::vector<int64_t>& target);

}  // namespace hipplan::reference
