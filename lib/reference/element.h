// Elements of every data type in memory: to double, from double, and the facts the bounds need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/bytes.h"
#include "graph/graph.h"

namespace hipplan::reference {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What is known of a type's numbers.
struct TypeFacts {
  bool integer = false;       ///< integers and booleans
  bool has_nan = false;       ///< a NaN can be stored
  bool has_infinity = false;  ///< else values beyond `largest` saturate
  double unit_roundoff = 0;   ///< largest relative error of rounding to nearest; 0 for integers
  double half_tiny = 0;       ///< largest absolute error near zero: half the smallest subnormal
  double min_normal = 0;      ///< smallest positive value of full precision
  double lowest = 0;          ///< smallest finite value
  double largest = 0;         ///< largest finite value
};
[[nodiscard]] const TypeFacts& facts(graph::DataType type);

/// Reads `count` elements at element offsets first, first+stride, … Types of 4 and 6 bits are
/// packed little-endian: element i lies at bit i*bits. The caller has checked that all of them are
/// inside.
void decode(graph::DataType type, const std::byte* bytes, int64_t first, int64_t stride,
            int64_t count, double* out);
/// Writes `count` elements, rounding to nearest even. Integers truncate towards zero and saturate,
/// NaN becomes 0; booleans become value != 0. Calls for one buffer may run side by side only for
/// types of whole bytes.
void encode(graph::DataType type, std::byte* bytes, int64_t first, int64_t stride, int64_t count,
            const double* from);
/// A float from which a later rounding to fewer bits gives what rounding `value` at once would
/// give.
[[nodiscard]] float round_to_odd(double value);
/// The value as it reads back after a store.
[[nodiscard]] double rounded(graph::DataType type, double value);
/// Largest distance between `value` and what a store of a number within `error` of it makes of it,
/// less `error` itself.
[[nodiscard]] double store_error(graph::DataType type, double value, double error);

/// All elements of a tensor, row-major over its dims, from a buffer laid out by its strides.
/// Precondition: the buffer holds span_bytes() bytes.
[[nodiscard]] std::vector<double> unpack(const graph::Tensor& tensor, const std::byte* bytes,
                                         unsigned jobs = 0);
/// The reverse, into a buffer of span_bytes() bytes; bytes between elements stay as they are.
void pack(const graph::Tensor& tensor, const std::vector<double>& values, std::byte* bytes,
          unsigned jobs = 0);

/// A tensor as runs along its last dim.
struct RowShape {
  int64_t rows = 1;    ///< product of all dims but the last
  int64_t length = 1;  ///< the last dim
  int64_t stride = 1;  ///< of the last dim
};
[[nodiscard]] RowShape row_shape(const graph::Tensor& tensor);
/// Element offset of row `row` in the tensor's buffer.
[[nodiscard]] int64_t row_offset(const graph::Tensor& tensor, int64_t row);

}  // namespace hipplan::reference
