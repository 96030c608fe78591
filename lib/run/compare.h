// Comparison of a kernel's output with the CPU reference, or with an expected buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "graph/graph.h"
#include "reference/reference.h"

namespace hipplan::run {

/// Replaces the derived bounds where set: |got - expected| <= atol + rtol * |expected|. With only
/// one of them set the other is 0.
struct Tolerance {
  std::optional<double> atol, rtol;
};

/// The element with the largest error in units of its bound.
struct Worst {
  std::vector<int64_t> index;  ///< one number per dim; empty when there is no element
  double expected = 0, got = 0;
  double bound = 0;
  double ratio =
      0;  ///< |got - expected| / bound; infinity for a NaN or infinity that is not expected
};

struct Comparison {
  bool pass = false;
  uint64_t elements = 0;
  uint64_t failed = 0;
  uint64_t wrong_nan = 0;    ///< NaN on one side only (part of `failed`)
  uint64_t both_nan = 0;     ///< NaN expected and found: equal
  uint64_t unbounded = 0;    ///< elements whose bound is infinite: not judged
  uint64_t not_finite = 0;   ///< NaN or infinity found, expected or not
  double max_abs_error = 0;  ///< over elements that are finite on both sides
  double rms_error = 0;      ///< over the same
  double max_abs_expected = 0;
  Worst worst;

  /// One line: "4096 elements, worst 0.31 of its bound at [0,3,2] (expected …, got …, bound …)".
  [[nodiscard]] std::string text() const;
};

/// Compares against the reference with its derived bounds, or with `tolerance` where that is set.
/// Rules for NaN, infinities and overflow: docs/numerics.md, "Comparison". Fails with bad_input,
/// reason "input-size", when a buffer is too short.
Result<Comparison> compare(const graph::Tensor& tensor, const reference::Output& expected,
                           ByteView got, const Tolerance& tolerance = {}, unsigned jobs = 0);
/// Compares two buffers of the same tensor. Without a tolerance the elements must be equal as
/// numbers (-0 equals 0, NaN equals NaN).
Result<Comparison> compare_buffers(const graph::Tensor& tensor, ByteView expected, ByteView got,
                                   const Tolerance& tolerance = {}, unsigned jobs = 0);

}  // namespace hipplan::run
