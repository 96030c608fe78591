// Options structures of callers that were built against an older or newer header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "api/fence.h"
#include "base/bytes.h"
#include "hipplan/hipplan.h"
#include "hipplan/tools.h"

namespace hipplan::api {

/// The sizes that a structure has had, the last of which it has. Padding at the end would hold
/// anything in an older caller's structure and a new member in this one's, so there is none.
template <class Struct>
struct Grown;
#define HIPPLAN_GROWN(type, last, ...)                                                           \
  template <>                                                                                    \
  struct Grown<type> {                                                                           \
    static constexpr size_t kSizes[] = {__VA_ARGS__};                                            \
    static_assert(kSizes[std::size(kSizes) - 1] == sizeof(type), "each size is listed");         \
    static_assert(offsetof(type, last) + sizeof(type::last) == sizeof(type), "ends in padding"); \
  }
HIPPLAN_GROWN(hipplan_bake_options, reserved, 56);
HIPPLAN_GROWN(hipplan_device_options, reserved, 56);
HIPPLAN_GROWN(hipplan_tool_io, cuda_library, 88);
HIPPLAN_GROWN(hipplan_build_options, reserved, 152);
HIPPLAN_GROWN(hipplan_inspect_options, reserved, 128);
HIPPLAN_GROWN(hipplan_verify_options, format, 104);
HIPPLAN_GROWN(hipplan_run_options, trust, 224);
HIPPLAN_GROWN(hipplan_pack_options, cache, 112);
#undef HIPPLAN_GROWN

/// More than any version's structure: a size beyond it was not set by the caller.
constexpr size_t kLargestOptions = 4096;

/// The caller's structure as this library's: members that the caller's header did not have are 0,
/// members that only the caller's header has must be.
template <class Struct>
Result<Struct> taken(const Struct* given, const char* name) {
  if (given == nullptr) return null_argument(name);
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  const auto& sizes = Grown<Struct>::kSizes;
  const bool had = std::find(std::begin(sizes), std::end(sizes), size) != std::end(sizes);
  // Later ones end where a pointer may.
  const bool later = size > sizeof(Struct) && size <= kLargestOptions && size % sizeof(void*) == 0;
  Error refused{.code = Code::bad_input, .reason = "struct-size", .where = name};
  refused.found = cat("struct_size ", size);
  if (!had && !later) {
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
  if constexpr (requires { out.reserved; }) {
    // It may get a meaning, which is not to be what happened to lie there.
    if (out.reserved != 0) {
      refused.what = "sets its reserved member";
      refused.expected = "0";
      refused.found = cat(out.reserved);
      return refused;
    }
  }
  return out;
}

}  // namespace hipplan::api
