// Code objects for tests: small ones that are checked in as fuzzing seeds, made from the source
// below.
#pragma once

#include <cstring>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "base/file.h"

namespace hipplan::test {

/// The source of the seeds tests/fuzz/corpus/fuzz_codeobject/{gfx942,gfx1100,gfx11-generic}. `add`
/// has five explicit arguments and 64 floats of LDS, `nop` none; `call` calls through a table of
/// functions, which needs relocations.
inline constexpr const char* kSampleSource = R"(
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
typedef float (*Function)(float);
__device__ __attribute__((noinline)) float first(float x) { return x + 1; }
__device__ __attribute__((noinline)) float second(float x) { return x * 2; }
__device__ Function table[2] = {first, second};
extern "C" __global__ void add(const float* a, const float* b, float* c, int n, float s) {
  __shared__ float t[64];
  const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  t[i % 64] = a[i];
  __builtin_amdgcn_s_barrier();
  if (i < (unsigned)n) c[i] = t[63 - i % 64] + b[i] * s;
}
extern "C" __global__ void call(float* a, int i) { a[i] = table[i & 1](a[i]); }
extern "C" __global__ void nop() {}
)";

inline Bytes sample(const std::string& name) {
  auto bytes =
      read_file(std::string(HIPPLAN_SOURCE_DIR) + "/tests/fuzz/corpus/fuzz_codeobject/" + name);
  return bytes ? std::move(bytes).value() : Bytes();
}

template <class T>
void store(Bytes& bytes, size_t offset, T value) {
  REQUIRE(offset + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

inline bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace hipplan::test
