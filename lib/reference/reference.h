// The plain CPU answer to an operation graph, with a proven error bound for every output element.
//
// The arithmetic, the meaning of every mode and the derivation of the bounds: docs/numerics.md.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "graph/graph.h"

namespace hipplan::reference {

/// Bytes of each tensor that the caller provides, by uid, laid out by the tensor's strides
/// (at least Tensor::span_bytes() bytes). The views must outlive the call only.
using Inputs = std::map<int64_t, ByteView>;

/// One output of the graph.
struct Output {
  /// The answer in double, not yet rounded to the tensor's type: row-major over the tensor's dims,
  /// whatever its strides are.
  std::vector<double> values;
  /// Absolute bound on |got - value| for each element that a sound kernel keeps. It covers the
  /// node's compute type, the order of accumulation, the stated error of transcendentals, the
  /// rounding of intermediates and the final rounding to the tensor's type. Infinity: no bound is
  /// known there (a quotient whose denominator may be zero).
  std::vector<float> bounds;
};

/// Outputs by uid; exactly Graph::external_outputs().
using Outputs = std::map<int64_t, Output>;

/// Evaluates a checked graph on `jobs` threads (0: all). The answer does not depend on `jobs`.
///
/// Fails with negative, reason "reference-unsupported", for a node type or feature that is not
/// evaluated here (the message names it); with bad_input, reason "missing-input", "input-size" or
/// "input-value", when an input is absent, too short or holds a value outside its meaning (a page
/// number beyond the cache, a sequence length beyond the sequence). Thread-safe.
Result<Outputs> evaluate(const graph::Graph& graph, const Inputs& inputs, unsigned jobs = 0);

/// Whether evaluate() knows every node of the graph; the same error as evaluate() when it does not.
Result<void> supported(const graph::Graph& graph);

}  // namespace hipplan::reference
