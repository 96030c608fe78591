// State of one wavefront and of the workgroup around it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/emulator/memory.h"
#include "device/emulator/operation.h"

namespace hipplan::emulator {

inline constexpr unsigned kMaxLanes = 64;

/// One vector register: a dword per lane. Wave32 uses the first 32.
struct alignas(64) Row {
  uint32_t lane[kMaxLanes];
};

/// `paused` is a running wavefront that left the run loop so that it goes on in another one.
enum class State : uint8_t { running, paused, barrier, ended, faulted };

class Monitor;

/// What a wave counted. Bytes are those of all memory but LDS.
struct WaveCounters {
  uint64_t instructions = 0, lane_instructions = 0;
  uint64_t bytes_read = 0, bytes_written = 0, matrix_flops = 0;
};

/// A wrong access or a forbidden state, before it becomes an Error with kernel and place around it.
struct Fault {
  std::string reason = {}, what = {}, expected = {}, found = {};
  int lane = -1;
};

struct Workgroup {
  std::vector<std::byte> lds;
  uint32_t id[3] = {0, 0, 0};
  uint64_t number = 0;  ///< x + grid.x * (y + grid.y * z)
  uint32_t waves = 0;
  uint32_t signals = 0;  ///< of the barrier that is filling up
};

/// MODE: how floating-point results are made. Bits as the hardware register has them.
struct Mode {
  uint32_t bits = 0;  ///< round 3:0 (f32 low, f16/f64 high), denorm 7:4, dx10_clamp 8, ieee 9
  [[nodiscard]] bool flush_in32() const { return (bits & 0x10) == 0; }
  [[nodiscard]] bool flush_out32() const { return (bits & 0x20) == 0; }
  [[nodiscard]] bool flush_in16_64() const { return (bits & 0x40) == 0; }
  [[nodiscard]] bool flush_out16_64() const { return (bits & 0x80) == 0; }
  /// 0 to nearest even, 1 up, 2 down, 3 to zero.
  [[nodiscard]] unsigned round32() const { return bits & 3u; }
  [[nodiscard]] unsigned round16_64() const { return (bits >> 2) & 3u; }
};

/// One wavefront. Belongs to one worker thread.
struct Wave {
  Row* rows = nullptr;  ///< kVectorRows of them
  alignas(64) uint32_t scalars[scalar::kCount] = {};
  bool scc = false;
  bool direct = true;  ///< no denormal flushing and no register indexing: simple sources are rows
  State state = State::running;
  uint8_t lanes = 64;    ///< 32 or 64
  uint32_t next = 0;     ///< operation that runs next
  uint32_t current = 0;  ///< operation that runs now, or that stopped the wave
  Mode mode;
  uint32_t index = 0;          ///< in its workgroup
  uint32_t barriers = 0;       ///< that it has passed
  bool rounds = false;         ///< MODE asks for another rounding than to nearest even
  Monitor* monitor = nullptr;  ///< looks on; null when nobody asked for checks or counts
  Workgroup* group = nullptr;
  const AddressSpace* memory = nullptr;
  /// Last allocation that an operation touched, by operation number.
  const Allocation** last_allocation = nullptr;
  std::vector<std::byte>* scratch = nullptr;  ///< lane i owns [i * scratch_lane_bytes, …)
  uint64_t scratch_lane_bytes = 0;
  /// s_set_gpr_idx_on: added to VGPR numbers of source 0, 1, 2 and the destination.
  std::array<uint16_t, 4> row_offset{};
  uint32_t vector_limit = kVectorRows;  ///< rows below kAccRow that the kernel owns
  WaveCounters counters;
  std::optional<Fault> fault;

  [[nodiscard]] uint64_t exec() const {
    uint64_t value;
    std::memcpy(&value, scalars + scalar::kExec, 8);
    return value;
  }
  void set_exec(uint64_t value) { std::memcpy(scalars + scalar::kExec, &value, 8); }
  /// EXEC with every lane of the wave on.
  [[nodiscard]] uint64_t all() const { return lanes == 64 ? ~0ull : 0xffffffffull; }
  /// Stops the wave. The first fault stays.
  void fail(Fault why) {
    if (!fault) fault = std::move(why);
    state = State::faulted;
  }
  /// Sets MODE and what follows from it.
  void set_mode(uint32_t bits);
};

/// What every clock shows that a kernel can read: the instructions that the wavefront has executed,
/// so that the same run shows the same times. Holds in operations with Op::clock.
inline uint64_t clock_of(const Wave& wave) {
  return wave.counters.instructions;
}

}  // namespace hipplan::emulator
