// Which code an NVIDIA GPU can run.
//
//   code        runs on                        because
//   sm_80       sm_80, sm_86, sm_89            machine code: same major, not an older minor
//   sm_90       sm_90                          not on sm_100: another major; not on sm_89: older
//   sm_90a      sm_90                          architecture-specific: no other GPU
//   sm_100f     sm_100, sm_103                 family-specific: like machine code
//   compute_80  sm_80, sm_86, sm_90, sm_120    PTX, which the driver compiles: not an older GPU
//   compute_90a sm_90                          PTX that is architecture-specific
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hipplan::target {

/// An NVIDIA architecture taken apart: "sm_90a" is machine code, 9.0, suffix a.
struct NvidiaArch {
  bool ptx = false;  ///< compute_…: PTX
  unsigned major = 0, minor = 0;
  char suffix = 0;  ///< 'a', 'f' or 0
};

/// Nothing when `base` is no such name.
[[nodiscard]] std::optional<NvidiaArch> parse_nvidia(std::string_view base);

/// The rule of the table above. False when either is no NVIDIA architecture, or `device` is PTX.
[[nodiscard]] bool nvidia_runs(std::string_view code, std::string_view device);

/// The virtual architecture that stands for every NVIDIA GPU from 8.0 on: what a generic family is
/// to AMD GPUs.
inline constexpr std::string_view kNvidiaFamily = "compute_80";

/// Base architectures whose code `base` can run, best first: itself, then the older minors of the
/// same NVIDIA GPU generation, then its generic family.
[[nodiscard]] std::vector<std::string> base_order(const std::string& base);

}  // namespace hipplan::target
