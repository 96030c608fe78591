#include "device/emulator/dispatch.h"

#include <algorithm>
#include <cstring>

#include "device/errors.h"

namespace hipplan::emulator {
namespace {

constexpr uint32_t kPoison = 0x7fc0dead;
constexpr size_t kPacketBytes = 64;

Error bad(const char* reason, std::string what, std::string expected, std::string found) {
  return {.code = Code::bad_input,
          .reason = reason,
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found)};
}
std::string text(const device::Dim3& d) {
  return cat(d.x, "x", d.y, "x", d.z);
}

uint64_t volume(const device::Dim3& d) {
  return uint64_t{d.x} * d.y * d.z;  // callers check the factors first
}

/// End of the last argument that the caller supplies.
uint32_t explicit_bytes(const codeobject::Kernel& kernel) {
  uint32_t end = 0;
  for (const auto& argument : kernel.signature())
    end = std::max(end, argument.offset + argument.size);
  return end;
}

Result<void> check_grid(const device::Launch& launch) {
  const auto& grid = launch.grid;
  const auto& block = launch.block;
  const uint32_t counts[] = {grid.x, grid.y, grid.z}, sizes[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i)
    if (uint64_t{counts[i]} * sizes[i] > UINT32_MAX)
      return bad("grid", "one dimension has more work-items than a dispatch can count",
                 "below 2^32", text(grid));
  const auto plane = checked_mul<uint64_t>(grid.x, grid.y);
  if (!plane || !checked_mul<uint64_t>(*plane, grid.z))
    return bad("grid", "the grid is too large", "", text(grid));
  return {};
}

uint64_t hidden_value(const std::string& kind, const device::Launch& launch) {
  const auto& grid = launch.grid;
  const auto& block = launch.block;
  const auto dims = [](const device::Dim3& g, const device::Dim3& b) -> uint64_t {
    return g.z * b.z > 1 ? 3 : (g.y * b.y > 1 ? 2 : 1);
  };
  if (kind == "hidden_block_count_x") return grid.x;
  if (kind == "hidden_block_count_y") return grid.y;
  if (kind == "hidden_block_count_z") return grid.z;
  if (kind == "hidden_group_size_x") return block.x;
  if (kind == "hidden_group_size_y") return block.y;
  if (kind == "hidden_group_size_z") return block.z;
  if (kind == "hidden_grid_dims") return dims(grid, block);
  if (kind == "hidden_dynamic_lds_size") return launch.dynamic_lds_bytes;
  if (kind == "hidden_private_base") return kPrivateAperture >> 32;
  if (kind == "hidden_shared_base") return kSharedAperture >> 32;
  return 0;  // remainders, global offsets, and pointers to services that are not there
}

Bytes argument_bytes(const Program& program, const device::Launch& launch) {
  Bytes bytes(program.info.kernarg_segment_size);
  if (!launch.arguments.empty())
    std::memcpy(bytes.data(), launch.arguments.data(), launch.arguments.size());
  for (const auto& argument : program.info.arguments) {
    if (argument.kind.rfind("hidden_", 0) != 0) continue;
    const uint64_t value = hidden_value(argument.kind, launch);
    if (slice(bytes, argument.offset, argument.size) && argument.size <= 8)
      std::memcpy(bytes.data() + argument.offset, &value, argument.size);
  }
  return bytes;
}

template <class T>
void put(Bytes& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

/// The AQL kernel dispatch packet, as far as kernels read it.
Bytes packet_bytes(const Dispatch& dispatch) {
  Bytes bytes(kPacketBytes);
  const auto& [grid, block] = std::pair{dispatch.launch.grid, dispatch.launch.block};
  put<uint16_t>(bytes, 0, 2);
  put<uint16_t>(bytes, 2, 3);
  put(bytes, 4, static_cast<uint16_t>(block.x));
  put(bytes, 6, static_cast<uint16_t>(block.y));
  put(bytes, 8, static_cast<uint16_t>(block.z));
  put<uint32_t>(bytes, 12, grid.x * block.x);
  put<uint32_t>(bytes, 16, grid.y * block.y);
  put<uint32_t>(bytes, 20, grid.z * block.z);
  put<uint32_t>(bytes, 24, dispatch.program->setup.private_bytes);
  put(bytes, 28, static_cast<uint32_t>(dispatch.lds_bytes));
  put<uint64_t>(bytes, 40, dispatch.arguments);
  return bytes;
}

Result<uint64_t> place(AddressSpace& memory, const Bytes& bytes, const char* kind,
                       std::vector<uint64_t>& owned) {
  HIPPLAN_TRY_ASSIGN(const uint64_t address, memory.allocate(bytes.size(), kind));
  owned.push_back(address);
  HIPPLAN_TRY_ASSIGN(std::byte* const host, memory.reach(address, bytes.size()));
  if (!bytes.empty()) std::memcpy(host, bytes.data(), bytes.size());
  memory.protect(address);
  return address;
}

/// Writes SGPRs one after the other.
class SgprWriter {
 public:
  explicit SgprWriter(Wave& wave) : wave_(wave) {}
  void word(uint32_t value) {
    if (at_ < 104) wave_.scalars[at_++] = value;
  }
  void pair(uint64_t value) {
    word(static_cast<uint32_t>(value));
    word(static_cast<uint32_t>(value >> 32));
  }
  void seek(unsigned at) { at_ = at; }

 private:
  Wave& wave_;
  unsigned at_ = 0;
};

void start_sgprs(const Dispatch& dispatch, const uint32_t (&group)[3], Wave& wave) {
  const Setup& setup = dispatch.program->setup;
  SgprWriter out(wave);
  if (setup.private_segment_buffer) {
    out.pair(kPrivateResource);
    out.word(0xffffffffu);
    out.word(0);
  }
  if (setup.dispatch_ptr) out.pair(dispatch.packet);
  if (setup.queue_ptr) out.pair(0);
  if (setup.kernarg_ptr) out.pair(dispatch.arguments);
  if (setup.dispatch_id) out.pair(1);
  if (setup.flat_scratch_init) out.pair(0);
  if (setup.private_segment_size) out.word(setup.private_bytes);
  for (const uint32_t word : dispatch.preloaded) out.word(word);
  out.seek(setup.user_sgprs);
  if (setup.trap_register_ids) {
    wave.scalars[scalar::kTtmp + 9] = group[0];
    wave.scalars[scalar::kTtmp + 7] = (group[1] & 0xffffu) | group[2] << 16;
    return;
  }
  if (setup.group_id_x) out.word(group[0]);
  if (setup.group_id_y) out.word(group[1]);
  if (setup.group_id_z) out.word(group[2]);
  if (setup.group_info) out.word(0);
  if (setup.private_segment && !setup.architected_scratch) out.word(0);
}

void start_items(const Dispatch& dispatch, uint32_t index, Wave& wave) {
  const auto& block = dispatch.launch.block;
  uint64_t exec = 0;
  for (uint32_t lane = 0; lane < wave.lanes; ++lane) {
    const uint32_t item = index * wave.lanes + lane;
    if (item >= dispatch.items) break;
    exec |= uint64_t{1} << lane;
    const uint32_t x = item % block.x, y = item / block.x % block.y, z = item / block.x / block.y;
    if (dispatch.program->setup.packed_item_ids) {
      wave.rows[0].lane[lane] = x | y << 10 | z << 20;
    } else {
      wave.rows[0].lane[lane] = x;
      wave.rows[1].lane[lane] = y;
      wave.rows[2].lane[lane] = z;
    }
  }
  wave.set_exec(exec);
}

void poison(Row* rows, unsigned count) {
  for (unsigned r = 0; r < count; ++r)
    std::fill(std::begin(rows[r].lane), std::end(rows[r].lane), kPoison);
}

}  // namespace

Result<void> check_launch(const Program& program, const device::Launch& launch,
                          const target::Description& device) {
  const device::KernelLimits limits = {program.info.max_flat_workgroup_size,
                                       program.setup.lds_bytes};
  HIPPLAN_TRY(device::check_launch(launch, program.info.name, limits, device));
  if (auto grid = check_grid(launch); !grid)
    return grid.error().within(cat("launch of ", program.info.name));
  const uint32_t least = explicit_bytes(program.info);
  if (launch.arguments.size() < least ||
      launch.arguments.size() > program.info.kernarg_segment_size)
    return bad("arguments", "the kernel arguments have the wrong size",
               cat(least, " to ", program.info.kernarg_segment_size, " bytes"),
               cat(launch.arguments.size()))
        .within(cat("launch of ", program.info.name));
  return {};
}

Result<Dispatch> make_dispatch(const Program& program, const device::Launch& launch,
                               AddressSpace& memory, std::vector<uint64_t>& owned) {
  Dispatch dispatch;
  dispatch.program = &program;
  dispatch.launch = launch;
  dispatch.items = static_cast<uint32_t>(volume(launch.block));
  dispatch.waves = (dispatch.items + program.setup.lanes - 1) / program.setup.lanes;
  dispatch.groups = volume(launch.grid);
  dispatch.lds_bytes = uint64_t{program.setup.lds_bytes} + launch.dynamic_lds_bytes;
  Bytes arguments = argument_bytes(program, launch);
  // Compilers widen scalar loads past the last argument: up to 64 aligned bytes are there.
  arguments.resize((arguments.size() + 63) / 64 * 64);
  HIPPLAN_TRY_ASSIGN(dispatch.arguments, place(memory, arguments, "kernel arguments", owned));
  for (unsigned i = 0; i < program.setup.preload_dwords; ++i)
    dispatch.preloaded.push_back(
        load<uint32_t>(arguments, 4ull * (program.setup.preload_offset + i)).value_or(0));
  if (program.setup.dispatch_ptr) {
    HIPPLAN_TRY_ASSIGN(dispatch.packet,
                       place(memory, packet_bytes(dispatch), "dispatch packet", owned));
  }
  return dispatch;
}

void start_wave(const Dispatch& dispatch, const uint32_t (&group)[3], uint32_t index, Wave& wave) {
  const Setup& setup = dispatch.program->setup;
  std::fill(std::begin(wave.scalars), std::end(wave.scalars), 0u);
  wave.lanes = static_cast<uint8_t>(setup.lanes);
  wave.scc = false;
  wave.state = State::running;
  wave.next = 0;
  wave.index = index;
  wave.barriers = 0;
  wave.rounds = false;
  wave.row_offset = {};
  wave.vector_limit = setup.vgprs;
  wave.counters = {};
  wave.fault.reset();
  wave.scratch_lane_bytes = setup.private_bytes;
  wave.set_mode(setup.mode);
  poison(wave.rows, setup.vgprs);
  poison(wave.rows + kAccRow, setup.acc_vgprs);
  wave.scalars[scalar::kM0] = ~0u;
  start_sgprs(dispatch, group, wave);
  start_items(dispatch, index, wave);
}

}  // namespace hipplan::emulator
