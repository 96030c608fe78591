// Architecture strings, the compatibility rule and target descriptions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hipplan::target {

/// A normalised architecture: "gfx942", "gfx942:sramecc+:xnack-" or "sm_90".
struct Arch {
  std::string base;
  std::vector<std::pair<std::string, bool>> features;  ///< sorted by name; sign as a bool

  /// Accepts a leading "amdgcn-amd-amdhsa--" and upper case; sorts features. Fails with bad_input.
  static Result<Arch> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool is_amd() const { return base.rfind("gfx", 0) == 0; }
  [[nodiscard]] bool is_generic() const;  ///< gfx9-4-generic and its like
  friend bool operator==(const Arch&, const Arch&) = default;
};

/// Whether packed code for `code` runs on `device`: equal, or a prefix that ends before ':'.
[[nodiscard]] bool serves(const Arch& code, const Arch& device);
/// The generic family that `base` belongs to ("gfx942" -> "gfx9-4-generic"), or nothing.
[[nodiscard]] std::optional<std::string> generic_family(std::string_view base);
/// Architecture strings to look for in an archive, best first: the exact string, then fewer
/// features (dropped from the right), the base, then the generic family.
[[nodiscard]] std::vector<std::string> lookup_order(const Arch& device);

/// What selection and the emulator need to know about a device. Units are in the names.
struct Description {
  std::string name;  ///< marketing name, "AMD Instinct MI300X"
  Arch arch;
  uint32_t wavefront_size = 0;
  uint32_t compute_units = 0;
  uint32_t simds_per_compute_unit = 0;
  uint32_t max_waves_per_simd = 0;
  uint32_t max_workgroup_size = 0;
  uint32_t lds_bytes_per_workgroup = 0;
  uint32_t vgprs_per_simd_lane = 0;  ///< 32-bit registers per lane and SIMD (AccVGPRs included)
  uint32_t max_vgprs_per_wave = 0;
  uint32_t max_sgprs_per_wave = 0;
  uint64_t memory_bytes = 0;
  double memory_bandwidth_gb_per_s = 0;
  double clock_ghz = 0;
  uint64_t last_level_cache_bytes = 0;
  std::map<std::string, double> peak_tflops;  ///< "float", "half_matrix", "bfloat16_matrix", …
  std::string source;                         ///< where the figures come from
};

/// Parses a target file (docs/target-files.md). Unknown and missing keys are errors.
Result<Description> parse_description(std::string_view json_text, const std::string& where);
/// Canonical JSON of a description; its SHA-256 is the target description digest.
[[nodiscard]] std::string print_description(const Description& description);

}  // namespace hipplan::target
