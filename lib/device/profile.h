// What one launch did, counted by devices that can look.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace hipplan::device {

/// Kinds of instructions that are counted apart.
enum class InstructionClass : uint8_t {
  vector,          ///< vector arithmetic
  matrix,          ///< MFMA, SMFMAC, WMMA
  scalar,          ///< scalar arithmetic
  scalar_memory,   ///< s_load, s_buffer_load
  global_memory,   ///< global, flat and buffer
  private_memory,  ///< scratch
  lds,             ///< ds_*
  branch,          ///< branches, calls
  other,           ///< waits, barriers, hints
};
inline constexpr size_t kInstructionClasses = 9;
/// "vector", "matrix", … in the order of InstructionClass.
inline constexpr std::array<const char*, kInstructionClasses> kInstructionClassNames = {
    "vector",         "matrix", "scalar", "scalar_memory", "global_memory",
    "private_memory", "lds",    "branch", "other"};

/// One launch. Bytes count every active lane's bytes.
struct Profile {
  std::string kernel;
  uint64_t workgroups = 0, wavefronts = 0;
  std::array<uint64_t, kInstructionClasses> instructions{};  ///< of wavefronts, by class
  uint64_t active_lanes = 0;  ///< summed over vector, matrix and memory instructions
  uint64_t lane_slots = 0;    ///< the same had every lane been on

  uint64_t lds_accesses = 0;         ///< wavefront instructions that touched LDS
  uint64_t lds_conflict_cycles = 0;  ///< cycles beyond the conflict-free ones; 32 banks of 4 bytes
  uint64_t global_accesses = 0;      ///< wavefront instructions that touched global memory
  uint64_t global_transactions = 0;  ///< cache lines of 128 bytes after coalescing, per instruction
  uint64_t footprint_bytes = 0;      ///< in distinct cache lines over the launch

  uint64_t global_bytes_read = 0, global_bytes_written = 0;
  uint64_t lds_bytes_read = 0, lds_bytes_written = 0;
  uint64_t private_bytes_read = 0, private_bytes_written = 0;
  uint64_t scalar_bytes_read = 0;

  /// Floating-point (for int8_matrix integer) operations by the keys of a target file's
  /// peak_tflops: "float", "double", "half_matrix", … Half vector arithmetic is "half".
  std::map<std::string, uint64_t> operations;

  uint32_t vgprs = 0;           ///< per lane, AccVGPRs included
  uint64_t lds_bytes = 0;       ///< per workgroup
  uint32_t waves_per_simd = 0;  ///< that registers, LDS and the device allow at once
  uint32_t max_waves_per_simd = 0;
  std::string occupancy_limit;  ///< "registers", "LDS" or "device"
};

}  // namespace hipplan::device
