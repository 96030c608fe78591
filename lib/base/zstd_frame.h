// Reading one zstd frame of known size out of an untrusted file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include "base/bytes.h"

namespace hipplan {

/// Caps on what a frame may decompress to.
inline constexpr uint64_t kMostFrameBytes = 2ull << 30;
inline constexpr uint64_t kMostFrameRatio = 4096;

/// Why a frame is not read.
struct FrameFault {
  bool beyond_caps = false;  ///< the announced size alone is too much
  std::string what, expected, found;
};

/// What was found in the place of a sound frame: the zstd library's error in words of ours.
[[nodiscard]] std::string zstd_fault(size_t error_code);

/// Whether a frame has to say how large its content is.
enum class FrameSize { announced, optional };

/// The content of `stored`, which is exactly one frame, and whose content is exactly `raw_bytes`
/// long; what the frame says of its size must agree. At most 2 GiB and 4096 times the stored size;
/// nothing is allocated before these are checked.
[[nodiscard]] std::variant<Bytes, FrameFault> read_zstd_frame(
    ByteView stored, uint64_t raw_bytes, FrameSize size = FrameSize::announced);

}  // namespace hipplan
