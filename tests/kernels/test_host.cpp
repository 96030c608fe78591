// Every kind of kernel, compiled for the host, against plain formulas.
#include <doctest/doctest.h>

#include "host_runner.h"

using namespace hipplan::test;

TEST_CASE("pointwise kernels on the host") {
  for (const auto& test : pointwise_cases()) check_case(test, run_on_host);
}
TEST_CASE("conv_fwd kernels on the host") {
  for (const auto& test : conv_fwd_cases()) check_case(test, run_on_host);
}
TEST_CASE("matmul kernels on the host") {
  for (const auto& test : matmul_cases("")) check_case(test, run_on_host);
}
TEST_CASE("batchnorm_inference kernels on the host") {
  for (const auto& test : batchnorm_inference_cases()) check_case(test, run_on_host);
}
TEST_CASE("sdpa_fwd kernels on the host") {
  for (const auto& test : sdpa_fwd_cases()) check_case(test, run_on_host);
}
