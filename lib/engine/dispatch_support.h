// Pieces that the handlers share: byte spans of strided tensors, division constants, launch limits
// and argument buffers. Part of the restore half: no graph here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/dispatch.h"

namespace hipplan::engine {

/// Ranks and extents that the kernels of this catalogue take.
inline constexpr int64_t kMaxRank = 8;
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;
inline constexpr int64_t kMaxStride = int64_t{1} << 48;

/// An unusable Error with reason "launch-values" for the handler `alias`.
[[nodiscard]] Error launch_error(std::string_view alias, std::string what,
                                 std::string expected = {}, std::string found = {});

/// Bytes of one element of "float", "half" or "bfloat16"; 0 for any other word.
[[nodiscard]] uint32_t element_bytes(std::string_view dtype);

/// Product of extents, or nothing on overflow of int64.
[[nodiscard]] std::optional<int64_t> product(const std::vector<int64_t>& extents);

/// Bytes from the pointer up to and with the last element that dims and strides reach. Both lists
/// have one length, dims are >= 1, strides >= 0. Nothing when the result does not fit into int64.
[[nodiscard]] std::optional<uint64_t> span_bytes(const std::vector<int64_t>& dims,
                                                 const std::vector<int64_t>& strides,
                                                 uint32_t bytes_per_element);

/// q = n / divisor for every n < 2^31 as the kernels compute it: (mulhi(n, multiplier) + n) >>
/// shift, in 32 bits. `divisor` is 1..2^31-1.
struct FastDivisor {
  uint32_t divisor = 1, multiplier = 0, shift = 0;
};
[[nodiscard]] FastDivisor fast_divisor(uint32_t divisor);

/// Most workgroups along y and z; along x it is the work-items, 2^32-1 in all, that count.
inline constexpr uint64_t kMaxGridYZ = 65535;
/// Most workgroups along x for workgroups of `block_size` work-items.
[[nodiscard]] uint64_t max_grid_x(uint32_t block_size);

/// One strided tensor view, several of which are walked together.
struct StridedViews {
  std::vector<int64_t> dims;                  ///< first dim varies slowest
  std::vector<std::vector<int64_t>> strides;  ///< [view][dim], elements
};
/// Drops dims of extent 1 and joins neighbours that every view walks without a gap. Dims are first
/// sorted by falling stride of view 0 unless `keep_order`. Gives at least one dim.
[[nodiscard]] StridedViews collapse(StridedViews views, bool keep_order = false);

/// How the strided kernels walk views: an inner index below 2^31 over up to 7 dims, taken apart by
/// division, and an outer index over at most one more.
struct Walk {
  static constexpr size_t kInnerDims = 7;
  uint32_t count = 1, outer_count = 1, rank = 1;
  std::array<FastDivisor, kInnerDims>
      extents{};  ///< from the fastest; those past `rank` divide by 1
  std::vector<std::array<int64_t, kInnerDims + 1>> strides;  ///< [view]; the outer index last
  std::vector<size_t> slot_of_dim;                           ///< place of each dim in those lists
};
/// Nothing when the dims do not fit: all but the outermost must hold fewer than 2^31 elements
/// together, in 7 dims, and so must the outermost.
[[nodiscard]] std::optional<Walk> plan_walk(const StridedViews& views);

/// a / b rounded up.
[[nodiscard]] inline uint64_t divide_up(uint64_t a, uint64_t b) {
  return a / b + (a % b != 0);
}

/// Patches that put binding i into pointer argument i, for the first `count` arguments.
[[nodiscard]] std::vector<PreparedLaunch::Patch> pointer_patches(size_t count);

/// Explicit kernel arguments: `pointers` addresses of 8 bytes, then one by-value block.
template <class Block>
[[nodiscard]] Bytes argument_bytes(size_t pointers, const Block& block) {
  static_assert(std::is_trivially_copyable_v<Block> && sizeof(Block) % 8 == 0);
  Bytes out(pointers * 8);
  append(out, block);
  return out;
}
/// Their signature as code-object metadata lists it.
[[nodiscard]] std::vector<codeobject::Argument> argument_signature(size_t pointers,
                                                                   size_t block_bytes);

/// Rules for values that most contracts have.
[[nodiscard]] ValueRule text_rule(std::string name, std::vector<std::string> choices);
[[nodiscard]] ValueRule integer_rule(std::string name, int64_t min, int64_t max);
[[nodiscard]] ValueRule uid_rule(std::string name);
/// A uid list of 0..max entries: an optional tensor when max is 1.
[[nodiscard]] ValueRule uids_rule(std::string name, size_t min_length, size_t max_length);
[[nodiscard]] ValueRule extents_rule(std::string name, size_t min_length, size_t max_length);
[[nodiscard]] ValueRule strides_rule(std::string name, size_t min_length, size_t max_length);
[[nodiscard]] ValueRule float_rule(std::string name);
[[nodiscard]] ValueRule flag_rule(std::string name);
[[nodiscard]] ValueRule dtype_rule(std::string name = "dtype");

}  // namespace hipplan::engine
