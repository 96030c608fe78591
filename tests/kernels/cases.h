// Launches with inputs and with results from plain formulas, for any device that runs kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/launch_value.h"
#include "base/result.h"
#include "engine/dispatch.h"

namespace hipplan::test {

using List = std::vector<int64_t>;

/// A tensor as it lies in memory; elements that no index reaches stay as they are.
struct Tensor {
  int64_t uid = 0;
  std::string dtype;  ///< "float", "half", "bfloat16", "int32"
  List dims, strides;
  std::vector<double> memory;  ///< one number for each element of the span, exactly as stored
  [[nodiscard]] double at(const List& index) const { return memory[offset(index)]; }
  [[nodiscard]] size_t offset(const List& index) const;
};

/// What an output element must be, within `tolerance`. NaN and infinity are compared as such.
struct Expected {
  size_t offset = 0;
  double value = 0, tolerance = 0;
};

struct Case {
  std::string kernel;  ///< descriptor's name
  std::string alias;
  LaunchValues values;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;                  ///< memory is poison
  std::vector<std::vector<Expected>> expected;  ///< one list for each output
};

/// Runs a prepared kernel on buffers, in the order of its bindings.
using Runner =
    std::function<Result<void>(const std::string& kernel, const engine::PreparedKernel& prepared,
                               std::vector<Bytes>& buffers)>;

/// Prepares, runs and checks with doctest: results, elements that must stay untouched, binding
/// sizes.
void check_case(const Case& test, const Runner& runner);

// Makers. Random numbers are the same in every run.
[[nodiscard]] List packed_strides(const List& dims);
[[nodiscard]] Tensor random_tensor(int64_t uid, const std::string& dtype, List dims, List strides,
                                   double low, double high);
[[nodiscard]] Tensor poisoned_tensor(int64_t uid, const std::string& dtype, List dims,
                                     List strides);
/// Calls visit(index) for every index of dims.
void for_each_index(const List& dims, const std::function<void(const List&)>& visit);
/// The number that memory of this type keeps.
[[nodiscard]] double stored(const std::string& dtype, double value);
/// Half a unit in the last place at 1.
[[nodiscard]] double roundoff(const std::string& dtype);

// The catalogue's cases; `matrix` is "", "mfma" or "wmma" for the matrix kernels of a target.
[[nodiscard]] std::vector<Case> pointwise_cases();
[[nodiscard]] std::vector<Case> conv_fwd_cases();
[[nodiscard]] std::vector<Case> matmul_cases(const std::string& matrix);
[[nodiscard]] std::vector<Case> batchnorm_inference_cases();
[[nodiscard]] std::vector<Case> sdpa_fwd_cases();

}  // namespace hipplan::test
