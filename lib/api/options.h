// Options structures of callers that were built against an older or newer header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "api/fence.h"
#include "base/bytes.h"
#include "hipplan/hipplan.h"
#include "hipplan/tools.h"

namespace hipplan::api {

/// The size of a structure in the first release, and where its last member ends now. Padding at the
/// end would hold anything in an older caller's structure and a new member in this one's, so there
/// is none.
template <class Struct>
struct Grown;
#define HIPPLAN_GROWN(type, first_bytes, last)                                                   \
  template <>                                                                                    \
  struct Grown<type> {                                                                           \
    static constexpr size_t kFirst = first_bytes;                                                \
    static_assert(sizeof(type) >= kFirst, "structures only grow");                               \
    static_assert(offsetof(type, last) + sizeof(type::last) == sizeof(type), "ends in padding"); \
  }
HIPPLAN_GROWN(hipplan_bake_options, 56, reserved);
HIPPLAN_GROWN(hipplan_device_options, 56, reserved);
HIPPLAN_GROWN(hipplan_tool_io, 88, cuda_library);
HIPPLAN_GROWN(hipplan_build_options, 152, reserved);
HIPPLAN_GROWN(hipplan_inspect_options, 128, reserved);
HIPPLAN_GROWN(hipplan_verify_options, 104, format);
HIPPLAN_GROWN(hipplan_run_options, 224, trust);
HIPPLAN_GROWN(hipplan_pack_options, 112, cache);
#undef HIPPLAN_GROWN

/// More than any version's structure: a size beyond it was not set by the caller.
constexpr size_t kLargestOptions = 4096;

/// The caller's structure as this library's: members that the caller's header did not have are 0,
/// members that only the caller's header has must be.
template <class Struct>
Result<Struct> taken(const Struct* given, const char* name) {
  if (given == nullptr) return null_argument(name);
  const size_t size = given->struct_size;
  Error refused{.code = Code::bad_input, .reason = "struct-size", .where = name};
  refused.found = cat("struct_size ", size);
  if (size < Grown<Struct>::kFirst || size > kLargestOptions) {
    refused.what = "does not say its size";
    refused.expected = cat(sizeof(Struct), ", its size in this library");
    refused.advice = "set struct_size to the structure's sizeof";
    return refused;
  }
  const auto* first = reinterpret_cast<const std::byte*>(given);
  for (size_t i = sizeof(Struct); i < size; ++i) {
    if (first[i] == std::byte{0}) continue;
    refused.what = "sets a member that this library does not know";
    refused.expected = cat("zeros behind byte ", sizeof(Struct));
    refused.advice = "update the library, or leave members of newer headers 0";
    return refused;
  }
  Struct out{};
  std::memcpy(&out, given, std::min(size, sizeof(Struct)));
  out.struct_size = sizeof(Struct);
  return out;
}

}  // namespace hipplan::api
