#include "device/emulator/monitor.h"

#include <atomic>

namespace hipplan::emulator {
namespace {

using device::InstructionClass;

std::string verb_of(AccessKind kind) {
  return kind == AccessKind::read ? "read" : kind == AccessKind::write ? "write" : "atomic";
}

/// Where bytes lie, for messages.
std::string place_text(const Touched& at) {
  if (at.kind == Touched::Kind::lds) return cat("LDS offset ", hex(at.offset));
  return hex(at.allocation->base + at.offset);
}

/// Coordinates of a workgroup number.
std::string group_text(const Dispatch& dispatch, uint64_t number) {
  const auto& grid = dispatch.launch.grid;
  return cat("(", number % grid.x, ",", number / grid.x % grid.y, ",", number / grid.x / grid.y,
             ")");
}

bool within(const std::byte* at, const std::vector<std::byte>& memory) {
  return std::less_equal<>()(memory.data(), at) && std::less<>()(at, memory.data() + memory.size());
}

void touch_lines(const Allocation& allocation, uint64_t offset, uint64_t bytes) {
  if (allocation.shadow == nullptr || allocation.shadow->lines.empty() || bytes == 0) return;
  std::vector<uint8_t>& lines = allocation.shadow->lines;
  for (uint64_t line = offset / kLineBytes; line <= (offset + bytes - 1) / kLineBytes; ++line)
    std::atomic_ref<uint8_t>(lines[line]).store(1, std::memory_order_relaxed);
}

}  // namespace

void Monitor::start_launch(const MonitorSettings& settings, const AddressSpace& memory) {
  memory.forget_accesses();
  if (!settings.profile) return;
  memory.for_each([](const Allocation& one) {
    if (one.shadow != nullptr) one.shadow->lines.resize(one.size / kLineBytes + 1);
  });
}

uint64_t Monitor::footprint(const AddressSpace& memory) {
  uint64_t lines = 0;
  memory.for_each([&](const Allocation& one) {
    if (one.shadow != nullptr)
      for (const uint8_t touched : one.shadow->lines) lines += touched;
  });
  return lines * kLineBytes;
}

Monitor::Monitor(const MonitorSettings& settings, const Dispatch& dispatch,
                 const AddressSpace& memory)
    : settings_(settings),
      dispatch_(dispatch),
      memory_(memory),
      tracer_(settings.trace, *dispatch.program) {}

void Monitor::start_group(const Workgroup& group) {
  if (settings_.uninitialized) lds_written_.assign(group.lds.size(), 0);
  if (settings_.races) {
    lds_accesses_.assign((group.lds.size() + 3) / 4, Shadow::Accesses{});
    order_.start_group(group.waves);
  }
}

void Monitor::start_wave(const Wave& wave) {
  if (settings_.uninitialized) registers_.start_wave(wave, dispatch_.program->setup);
}

void Monitor::before(Wave& wave, const Op& op) {
  tracer_.before(wave, op);
  const ProgramLine& line = line_of(op);
  if (settings_.races) {
    order_.pass_barriers(wave);
    if (line.fence == Fence::release) order_.release_fence(wave);
    if (line.fence == Fence::acquire) order_.acquire_fence(wave);
  }
  if (settings_.uninitialized)
    if (auto report = registers_.before(wave, op, line))
      wave.fail({.reason = "uninitialized", .what = std::move(report->what), .lane = report->lane});
  if (!settings_.profile || !op.first) return;
  ++counts_.instructions[static_cast<size_t>(line.kind)];
  if (!op.vector) return;
  const auto active = static_cast<uint64_t>(std::popcount(wave.exec()));
  counts_.active_lanes += active;
  counts_.lane_slots += wave.lanes;
  if (!line.operations.empty())
    counts_.operations[line.operations] += line.wave_operations + line.lane_operations * active;
}

void Monitor::after(Wave& wave, const Op& op) {
  if (settings_.uninitialized) registers_.after(wave, op, line_of(op));
  tracer_.after(wave, op);
}

Touched Monitor::find(const Wave& wave, const Op& op, const std::byte* at) const {
  if (within(at, wave.group->lds))
    return {Touched::Kind::lds, nullptr, static_cast<uint64_t>(at - wave.group->lds.data())};
  if (within(at, *wave.scratch))
    return {Touched::Kind::scratch, nullptr, static_cast<uint64_t>(at - wave.scratch->data())};
  const Allocation* known = wave.last_allocation[op.self];
  if (known == nullptr || std::less<>()(at, known->host) ||
      !std::less<>()(at, known->host + known->size))
    known = memory_.find_host(at);
  return {Touched::Kind::global, known,
          known == nullptr ? 0 : static_cast<uint64_t>(at - known->host)};
}

bool Monitor::check_race(Wave& wave, const Op& op, const Touched& at, unsigned bytes,
                         AccessKind kind, int lane) {
  const bool lds = at.kind == Touched::Kind::lds;
  std::vector<Shadow::Accesses>& cells = lds ? lds_accesses_ : at.allocation->shadow->accesses;
  if (!lds && cells.empty()) cells.resize((at.allocation->size + 3) / 4, Shadow::Accesses{});
  RaceAccess access;
  access.kind = kind;
  access.wave = wave.index;
  access.group = wave.group->number;
  access.epoch = wave.barriers;
  access.op = op.self;
  for (uint64_t cell = at.offset / 4; cell <= (at.offset + bytes - 1) / 4; ++cell) {
    const uint64_t first = std::max(at.offset, 4 * cell) - 4 * cell;
    const uint64_t last = std::min(at.offset + bytes, 4 * cell + 4) - 4 * cell;
    access.bytes = static_cast<uint32_t>(((1u << last) - 1u) & ~((1u << first) - 1u));
    const auto other = note_access(cells[cell], access, [&](const RaceAccess& earlier) {
      return order_.before(earlier, wave);
    });
    if (!other) continue;
    const bool known = other->op + 1 < RaceAccess::kOps;
    const ProgramLine& line =
        dispatch_.program->lines[dispatch_.program->ops[known ? other->op : 0].line];
    const std::string source = dispatch_.program->source_lines->find(line.address);
    wave.fail({.reason = "race",
               .what = cat(verb_of(kind), " of ", bytes, " bytes at ", place_text(at),
                           " races with another wavefront: no barrier or atomic orders the two"),
               .found = cat(verb_of(other->kind), " by workgroup ",
                            group_text(dispatch_, other->group), ", wavefront ", other->wave,
                            known ? cat(", pc ", hex(line.address), " '", line.text, "'") : "",
                            known && !source.empty() ? ", source " + source : "",
                            lds ? "" : "; " + memory_.nearest(at.allocation->base + at.offset)),
               .lane = lane});
    return false;
  }
  return true;
}

bool Monitor::check_written(Wave& wave, const Touched& at, unsigned bytes, bool reads, bool writes,
                            int lane) {
  const bool lds = at.kind == Touched::Kind::lds;
  std::vector<uint8_t>& written = lds ? lds_written_ : at.allocation->shadow->written;
  if (written.empty()) return true;
  for (uint64_t i = at.offset; i < at.offset + bytes; ++i) {
    const std::atomic_ref<uint8_t> byte(written[i]);
    if (reads && byte.load(std::memory_order_relaxed) == 0) {
      Touched wrong = at;
      wrong.offset = i;
      wave.fail({.reason = "uninitialized",
                 .what = cat("read of ", bytes, " bytes at ", place_text(at),
                             "; nothing has written ", place_text(wrong)),
                 .found = lds ? "" : memory_.nearest(at.allocation->base + i),
                 .lane = lane});
      return false;
    }
    if (writes) byte.store(1, std::memory_order_relaxed);
  }
  return true;
}

bool Monitor::check(Wave& wave, const Op& op, const Touched& at, bool write, int lane) {
  const Sharing sharing = line_of(op).sharing;
  if (settings_.races) {
    const AccessKind plain = write ? AccessKind::write : AccessKind::read;
    const AccessKind kind = sharing == Sharing::plain ? plain : AccessKind::atomic;
    if (!check_race(wave, op, at, op.bytes, kind, lane)) return false;
    if (sharing != Sharing::plain && at.kind == Touched::Kind::global)
      order_.synchronize(wave, at.allocation->base + at.offset,
                         !write || sharing == Sharing::atomic, write);
  }
  if (!settings_.uninitialized) return true;
  if (write)
    if (auto report = registers_.stored(wave, op, lane)) {
      wave.fail({.reason = "uninitialized", .what = std::move(report->what), .lane = lane});
      return false;
    }
  const bool reads = !write || sharing == Sharing::atomic;
  return check_written(wave, at, op.bytes, reads, write, lane);
}

bool Monitor::access(Wave& wave, const Op& op, bool write, const Places& places) {
  Lanes lds, global;
  uint64_t scratch = 0;
  for (uint64_t left = places.mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (places.at[lane] == nullptr) continue;
    const Touched at = find(wave, op, places.at[lane]);
    if (at.kind == Touched::Kind::scratch) {
      ++scratch;
      // A block is loaded register by register.
      const unsigned word = unsigned{op.to.index} - dispatch_.program->ops[op.self].to.index;
      if (settings_.uninitialized)
        registers_.private_access(wave, op, {at.offset, word, lane, write});
      continue;
    }
    const bool in_lds = at.kind == Touched::Kind::lds;
    if (!in_lds && (at.allocation == nullptr || at.allocation->shadow == nullptr)) continue;
    if ((in_lds || at.allocation->writable) && !check(wave, op, at, write, lane)) return false;
    Lanes& lanes = in_lds ? lds : global;
    lanes.address[lane] = in_lds ? at.offset : at.allocation->base + at.offset;
    lanes.mask |= uint64_t{1} << lane;
    if (settings_.profile && !in_lds) touch_lines(*at.allocation, at.offset, op.bytes);
  }
  if (settings_.profile) count(op, write, lds, global, scratch);
  return true;
}

void Monitor::count(const Op& op, bool write, const Lanes& lds, const Lanes& global,
                    uint64_t scratch) {
  const auto add = [&](uint64_t(&to)[2], uint64_t lanes) {
    const bool both = line_of(op).sharing == Sharing::atomic;
    if (!write || both) to[0] += lanes * op.bytes;
    if (write) to[1] += lanes * op.bytes;
  };
  add(counts_.private_bytes, scratch);
  if (lds.mask != 0) {
    add(counts_.lds_bytes, static_cast<uint64_t>(std::popcount(lds.mask)));
    ++counts_.lds_accesses;
    counts_.lds_conflict_cycles += bank_conflicts(lds.address, lds.mask, op.bytes);
  }
  if (global.mask != 0) {
    add(counts_.global_bytes, static_cast<uint64_t>(std::popcount(global.mask)));
    ++counts_.global_accesses;
    counts_.global_transactions += lines_of(global.address, global.mask, op.bytes);
  }
}

bool Monitor::scalar_access(Wave& wave, const Allocation& at, uint64_t address, uint64_t bytes,
                            bool write) {
  const Op& op = dispatch_.program->ops[wave.current];
  const Sharing sharing = line_of(op).sharing;
  const bool reads = !write || sharing == Sharing::atomic;
  if (settings_.profile) {
    if (reads) counts_.scalar_bytes += bytes;
    if (write) counts_.global_bytes[1] += bytes;
    touch_lines(at, address - at.base, bytes);
  }
  if (!at.writable || at.shadow == nullptr) return true;
  const Touched place{Touched::Kind::global, &at, address - at.base};
  const auto size = static_cast<unsigned>(bytes);
  if (settings_.races) {
    const AccessKind plain = write ? AccessKind::write : AccessKind::read;
    const AccessKind kind = sharing == Sharing::plain ? plain : AccessKind::atomic;
    if (!check_race(wave, op, place, size, kind, -1)) return false;
    if (sharing != Sharing::plain) order_.synchronize(wave, address, reads, write);
  }
  return !settings_.uninitialized || check_written(wave, place, size, reads, write, -1);
}

}  // namespace hipplan::emulator
