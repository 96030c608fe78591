// Buffers for a graph's tensors: random inputs that are the same everywhere, and poisoned outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "graph/graph.h"
#include "reference/reference.h"

namespace hipplan::run {

/// Host memory of tensors by uid, each laid out by its tensor's strides.
using Buffers = std::map<int64_t, Bytes>;

/// Whether to go on; an error says why not.
using Check = std::function<Result<void>()>;

/// Random bytes for every external input of a checked graph. The content of a tensor depends on
/// `seed`, its uid, type, dims and its part in the graph, never on strides, threads or machine
/// (docs/numerics.md, "Random inputs"). Elements between the strided ones are 0.
/// Tensors in `given` are taken as they are (the caller has them from files).
/// `check` is asked often, from any thread; its error ends the filling.
/// Fails with bad_input, reason "too-large", for a tensor beyond 2^40 bytes.
Result<Buffers> random_inputs(const graph::Graph& graph, uint64_t seed, unsigned jobs = 0,
                              const Buffers* given = nullptr, const Check& check = {});

/// Bytes that a kernel must overwrite. 0xff reads as NaN in every floating type.
inline constexpr std::byte kPoison{0xff};
inline constexpr std::byte kSecondPoison{0xa5};

/// Buffers for every external output, filled with `poison`.
Result<Buffers> poisoned_outputs(const graph::Graph& graph, std::byte poison = kPoison);

/// Whether the bytes that belong to no element still hold `poison`; a kernel must not touch them.
/// Gives the offset of the first changed byte, or nothing. Always nothing for types below 8 bits.
[[nodiscard]] std::optional<uint64_t> touched_gap(const graph::Tensor& tensor, ByteView bytes,
                                                  std::byte poison);

/// The buffers as the reference takes them.
[[nodiscard]] reference::Inputs views(const Buffers& buffers);

}  // namespace hipplan::run
