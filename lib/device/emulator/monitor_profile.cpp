#include "device/emulator/monitor_profile.h"

#include <algorithm>

namespace hipplan::emulator {
namespace {

constexpr unsigned kBanks = 32;

struct Occupancy {
  uint32_t waves = 0;
  const char* limit = "device";
};

/// Wavefronts that one SIMD can hold: the least of what the device, the registers and LDS allow.
/// One compute unit's LDS is taken to be what one workgroup may have at most.
Occupancy occupancy_of(const Dispatch& dispatch, const target::Description& device) {
  const Setup& setup = dispatch.program->setup;
  Occupancy out{device.max_waves_per_simd, "device"};
  const auto limit = [&](uint64_t waves, const char* by) {
    if (waves < out.waves) out = {static_cast<uint32_t>(waves), by};
  };
  const uint64_t halves = setup.lanes > device.wavefront_size ? 2 : 1;
  // Registers are given out in 64ths of a lane's file (8 of 512, 16 of 1024, 24 of 1536).
  const uint64_t file = device.vgprs_per_simd_lane / halves;
  const uint64_t granule = std::max<uint64_t>(1, file / 64);
  const uint64_t registers = std::max(1u, setup.vgprs + setup.acc_vgprs);
  limit(file / ((registers + granule - 1) / granule * granule), "registers");
  if (dispatch.lds_bytes != 0) {
    const uint64_t groups = device.lds_bytes_per_workgroup / dispatch.lds_bytes;
    const uint64_t simds = std::max(1u, device.simds_per_compute_unit);
    limit((groups * dispatch.waves + simds - 1) / simds, "LDS");
  }
  return out;
}

}  // namespace

void ProfileCounts::add(const ProfileCounts& other) {
  for (size_t i = 0; i < instructions.size(); ++i) instructions[i] += other.instructions[i];
  active_lanes += other.active_lanes;
  lane_slots += other.lane_slots;
  lds_accesses += other.lds_accesses;
  lds_conflict_cycles += other.lds_conflict_cycles;
  global_accesses += other.global_accesses;
  global_transactions += other.global_transactions;
  for (int i = 0; i < 2; ++i) {
    global_bytes[i] += other.global_bytes[i];
    lds_bytes[i] += other.lds_bytes[i];
    private_bytes[i] += other.private_bytes[i];
  }
  scalar_bytes += other.scalar_bytes;
  for (const auto& [key, count] : other.operations) operations[key] += count;
}

uint64_t bank_conflicts(const uint64_t* offsets, uint64_t mask, unsigned bytes) {
  const unsigned pass = std::max(1u, kBanks * 4 / std::max(4u, bytes));
  uint64_t cycles = 0;
  for (unsigned first = 0; first < kMaxLanes; first += pass) {
    std::vector<uint64_t> dwords;
    for (unsigned i = first; i < std::min(kMaxLanes, first + pass); ++i)
      if (((mask >> i) & 1u) != 0)
        for (uint64_t dword = offsets[i] / 4; dword <= (offsets[i] + bytes - 1) / 4; ++dword)
          dwords.push_back(dword);
    std::sort(dwords.begin(), dwords.end());
    dwords.erase(std::unique(dwords.begin(), dwords.end()), dwords.end());
    unsigned use[kBanks] = {};
    for (const uint64_t dword : dwords) ++use[dword % kBanks];
    const unsigned most = *std::max_element(std::begin(use), std::end(use));
    cycles += most > 1 ? most - 1 : 0;
  }
  return cycles;
}

uint64_t lines_of(const uint64_t* addresses, uint64_t mask, unsigned bytes) {
  std::vector<uint64_t> lines;
  for (unsigned i = 0; i < kMaxLanes; ++i) {
    if (((mask >> i) & 1u) == 0) continue;
    const uint64_t first = addresses[i] / kLineBytes,
                   last = (addresses[i] + bytes - 1) / kLineBytes;
    for (uint64_t line = first; line <= last; ++line)
      if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return static_cast<uint64_t>(std::unique(lines.begin(), lines.end()) - lines.begin());
}

device::Profile make_profile(const Dispatch& dispatch, const ProfileCounts& counts,
                             const target::Description& device) {
  device::Profile out;
  out.kernel = dispatch.program->info.name;
  out.workgroups = dispatch.groups;
  out.wavefronts = dispatch.groups * dispatch.waves;
  out.instructions = counts.instructions;
  out.active_lanes = counts.active_lanes;
  out.lane_slots = counts.lane_slots;
  out.lds_accesses = counts.lds_accesses;
  out.lds_conflict_cycles = counts.lds_conflict_cycles;
  out.global_accesses = counts.global_accesses;
  out.global_transactions = counts.global_transactions;
  out.global_bytes_read = counts.global_bytes[0];
  out.global_bytes_written = counts.global_bytes[1];
  out.lds_bytes_read = counts.lds_bytes[0];
  out.lds_bytes_written = counts.lds_bytes[1];
  out.private_bytes_read = counts.private_bytes[0];
  out.private_bytes_written = counts.private_bytes[1];
  out.scalar_bytes_read = counts.scalar_bytes;
  for (const auto& [key, count] : counts.operations) out.operations[std::string(key)] = count;
  out.vgprs = dispatch.program->setup.vgprs + dispatch.program->setup.acc_vgprs;
  out.lds_bytes = dispatch.lds_bytes;
  const Occupancy occupancy = occupancy_of(dispatch, device);
  out.waves_per_simd = occupancy.waves;
  out.max_waves_per_simd = device.max_waves_per_simd;
  out.occupancy_limit = occupancy.limit;
  return out;
}

}  // namespace hipplan::emulator
