#include "device/emulator/scheduler.h"

#include <atomic>
#include <cfenv>
#include <cstdlib>

#include "base/interruption.h"
#include "base/parallel.h"
#include "device/emulator/scheduler_order.h"

namespace hipplan::emulator {
namespace {

struct FreeRows {
  void operator()(Row* rows) const { std::free(rows); }
};
using Rows = std::unique_ptr<Row, FreeRows>;

Rows allocate_rows(size_t waves) {
  return Rows(
      static_cast<Row*>(std::aligned_alloc(alignof(Row), waves * kVectorRows * sizeof(Row))));
}

/// The fault of a wave with everything around it.
Error describe(const Dispatch& dispatch, const Wave& wave) {
  const Program& program = *dispatch.program;
  const Fault& fault = *wave.fault;
  const auto& line = program.lines[program.ops[wave.current].line];
  const auto& id = wave.group->id;
  const std::string source = program.source_lines->find(line.address);
  std::string where =
      cat("kernel ", program.info.name, ", pc ", hex(line.address), " '", line.text,
          "', workgroup (", id[0], ",", id[1], ",", id[2], "), wavefront ", wave.index);
  if (fault.lane >= 0) where += cat(", lane ", fault.lane);
  if (!source.empty()) where += cat(", source ", source);
  return {.code = Code::machine,
          .reason = fault.reason,
          .where = std::move(where),
          .what = fault.what,
          .expected = fault.expected,
          .found = fault.found};
}

/// Instructions of a wavefront's turn when no order is asked for: long, but short enough that a
/// wavefront that waits for another one of its workgroup in a loop lets it run.
constexpr uint64_t kTurn = 100'000;

/// Sets the host's rounding direction while an operation that follows MODE runs.
class HostRounding {
 public:
  HostRounding(const Wave& wave, const ProgramLine& line) {
    constexpr int kDirections[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    if (!wave.rounds || line.rounding == Rounding::none) return;
    const unsigned field =
        line.rounding == Rounding::f32 ? wave.mode.round32() : wave.mode.round16_64();
    std::fesetround(kDirections[field]);
    changed_ = field != 0;
    halves_ = changed_ && line.rounding == Rounding::f16;
  }
  ~HostRounding() {
    if (changed_) std::fesetround(FE_TONEAREST);
  }
  /// The result is a half, and Op::directed must make it.
  [[nodiscard]] bool halves() const { return halves_; }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  bool changed_ = false, halves_ = false;
};

/// Runs `wave` for at most `turn` instructions. `Slow` also serves the monitor, MODE's rounding,
/// and operations that read the clock, for which the wavefront's count is kept up.
template <bool Slow>
void run_turn(Wave& wave, const Program& program, uint64_t turn, uint64_t budget) {
  const Op* const ops = program.ops.data();
  uint64_t instructions = wave.counters.instructions, lanes = 0;
  const uint64_t stop = instructions + std::min(turn, budget + 1 - instructions);
  while (wave.state == State::running) {
    const Op& op = ops[wave.next];
    wave.current = wave.next;
    wave.next = op.next;
    const uint64_t counted = op.last ? ~0ull : 0;  // a pair is one instruction
    lanes += (op.vector ? static_cast<uint64_t>(std::popcount(wave.exec())) : 1u) & counted;
    if constexpr (Slow) {
      wave.counters.instructions = instructions;
      if (wave.monitor != nullptr) wave.monitor->before(wave, op);
      {
        const HostRounding rounding(wave, program.lines[op.line]);
        (rounding.halves() ? op.directed : op.run)(wave, op);
      }
      if (wave.monitor != nullptr) wave.monitor->after(wave, op);
    } else {
      op.run(wave, op);
    }
    instructions += counted & 1u;
    if (instructions >= stop) break;
  }
  wave.counters.instructions = instructions;
  wave.counters.lane_instructions += lanes;
  if (wave.state == State::paused) wave.state = State::running;
  if (instructions > budget && wave.state == State::running)
    wave.fail({.reason = "instruction-budget",
               .what = "the wavefront does not come to an end",
               .expected = cat("at most ", budget, " instructions")});
}

void run_wave(Wave& wave, const Program& program, uint64_t turn, uint64_t budget) {
  if (wave.state == State::paused) wave.state = State::running;
  if (wave.monitor != nullptr || wave.rounds || program.timed)
    run_turn<true>(wave, program, turn, budget);
  else
    run_turn<false>(wave, program, turn, budget);
}

void add(WaveCounters& sum, const WaveCounters& part) {
  sum.instructions += part.instructions;
  sum.lane_instructions += part.lane_instructions;
  sum.bytes_read += part.bytes_read;
  sum.bytes_written += part.bytes_written;
  sum.matrix_flops += part.matrix_flops;
}

}  // namespace

class Worker {
 public:
  /// Makes room for a workgroup of `dispatch`; false when the host has no memory.
  bool prepare(const Dispatch& dispatch, const AddressSpace& memory,
               const MonitorSettings& settings) {
    if (waves_.size() < dispatch.waves) {
      rows_ = allocate_rows(dispatch.waves);
      if (!rows_) return false;
      waves_.resize(dispatch.waves);
      scratch_.resize(dispatch.waves);
    }
    group_.lds.resize(dispatch.lds_bytes);
    group_.waves = dispatch.waves;
    last_allocation_.assign(dispatch.program->ops.size(), nullptr);
    monitor_.reset();
    if (settings.any()) monitor_.emplace(settings, dispatch, memory);
    for (uint32_t i = 0; i < dispatch.waves; ++i) {
      Wave& wave = waves_[i];
      scratch_[i].resize(uint64_t{dispatch.program->setup.private_bytes} * kMaxLanes);
      wave.rows = rows_.get() + size_t{i} * kVectorRows;
      wave.group = &group_;
      wave.memory = &memory;
      wave.last_allocation = last_allocation_.data();
      wave.scratch = &scratch_[i];
      wave.monitor = monitor_ ? &*monitor_ : nullptr;
    }
    counters = {};
    return true;
  }

  Result<void> run_group(const Dispatch& dispatch, uint64_t number, const Schedule& schedule) {
    const auto& grid = dispatch.launch.grid;
    group_.number = number;
    group_.signals = 0;
    group_.id[0] = static_cast<uint32_t>(number % grid.x);
    group_.id[1] = static_cast<uint32_t>(number / grid.x % grid.y);
    group_.id[2] = static_cast<uint32_t>(number / grid.x / grid.y);
    std::fill(group_.lds.begin(), group_.lds.end(), std::byte{0xcd});
    if (monitor_) monitor_->start_group(group_);
    for (uint32_t i = 0; i < dispatch.waves; ++i) {
      start_wave(dispatch, group_.id, i, waves_[i]);
      if (monitor_) monitor_->start_wave(waves_[i]);
    }
    Result<void> done = run_waves(dispatch, number, schedule);
    for (uint32_t i = 0; i < dispatch.waves; ++i) add(counters, waves_[i].counters);
    return done;
  }

  void add_profile(ProfileCounts& profile) const {
    if (monitor_) profile.add(monitor_->counts());
  }

  WaveCounters counters;

 private:
  static bool can_run(const Wave& wave) {
    return wave.state == State::running || wave.state == State::paused;
  }

  /// The next wavefront to run: the one after `last`, or with a seed any; dispatch.waves when all
  /// of them wait or have ended.
  uint32_t choose(const Dispatch& dispatch, uint32_t last, Random* random) const {
    uint32_t at = random != nullptr ? static_cast<uint32_t>(random->next() % dispatch.waves)
                                    : (last + 1) % dispatch.waves;
    for (uint32_t tried = 0; tried < dispatch.waves; ++tried, at = (at + 1) % dispatch.waves)
      if (can_run(waves_[at])) return at;
    return dispatch.waves;
  }

  Result<void> run_waves(const Dispatch& dispatch, uint64_t number, const Schedule& schedule) {
    constexpr uint64_t kLongestSeededTurn = 48;
    Random random(schedule.seed ^ (number * 0xd1342543de82ef95ull));
    Random* const seeded = schedule.seed != 0 ? &random : nullptr;
    uint32_t at = dispatch.waves - 1;
    for (uint64_t unasked = 0;;) {
      at = choose(dispatch, at, seeded);
      if (at == dispatch.waves) {
        HIPPLAN_TRY_ASSIGN(const bool more, pass_barrier(dispatch));
        if (!more) return {};
        at = dispatch.waves - 1;
        continue;
      }
      const uint64_t turn = seeded != nullptr ? 1 + random.next() % kLongestSeededTurn : kTurn;
      run_wave(waves_[at], *dispatch.program, turn, schedule.instruction_budget);
      if (waves_[at].state == State::faulted) return describe(dispatch, waves_[at]);
      unasked += turn;
      if (unasked < kTurn) continue;
      unasked = 0;
      if (schedule.interrupted && schedule.interrupted()) return interrupted_error();
    }
  }

  /// Lets the waiting wavefronts go on; false when none waits.
  Result<bool> pass_barrier(const Dispatch& dispatch) {
    bool more = false;
    if (Wave* stray = other_barrier(dispatch)) return describe(dispatch, *stray);
    group_.signals = 0;
    for (uint32_t i = 0; i < dispatch.waves; ++i) {
      if (waves_[i].state != State::barrier) continue;
      waves_[i].state = State::running;
      ++waves_[i].barriers;
      more = true;
    }
    return more;
  }

  /// A wave that waits at another barrier instruction than the first waiting one, now faulted.
  Wave* other_barrier(const Dispatch& dispatch) {
    const Wave* first = nullptr;
    for (uint32_t i = 0; i < dispatch.waves; ++i) {
      Wave& wave = waves_[i];
      if (wave.state != State::barrier) continue;
      if (first == nullptr) first = &wave;
      if (wave.current == first->current) continue;
      const auto& line = dispatch.program->lines[dispatch.program->ops[first->current].line];
      wave.fail({.reason = "barrier-divergence",
                 .what = "wavefronts of one workgroup wait at different barriers",
                 .expected =
                     cat("the barrier at ", hex(line.address), " like wavefront ", first->index)});
      return &wave;
    }
    return nullptr;
  }

  Workgroup group_;
  Rows rows_;
  std::vector<Wave> waves_;
  std::vector<std::vector<std::byte>> scratch_;
  std::vector<const Allocation*> last_allocation_;
  std::optional<Monitor> monitor_;
};

Scheduler::Scheduler(Schedule schedule, MonitorSettings monitor)
    : schedule_(std::move(schedule)), monitor_(std::move(monitor)) {
  schedule_.jobs = schedule_.seed != 0 || monitor_.one_worker() ? 1 : worker_count(schedule_.jobs);
}
Scheduler::~Scheduler() = default;

Result<void> Scheduler::run(const Dispatch& dispatch, const AddressSpace& memory,
                            WaveCounters& counters, ProfileCounts& profile) {
  const auto count = static_cast<unsigned>(std::min<uint64_t>(schedule_.jobs, dispatch.groups));
  while (workers_.size() < count) workers_.push_back(std::make_unique<Worker>());
  if (monitor_.any()) Monitor::start_launch(monitor_, memory);
  for (unsigned i = 0; i < count; ++i)
    if (!workers_[i]->prepare(dispatch, memory, monitor_))
      return Error{.code = Code::machine,
                   .reason = "out-of-memory",
                   .what = "the host has not enough memory for the wavefronts' registers"};
  const GroupOrder order(schedule_.seed, dispatch.groups);
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::vector<std::optional<Error>> errors(count);
  std::vector<uint64_t> failed(count, UINT64_MAX);
  parallel_for(count, count, [&](size_t worker) {
    for (uint64_t group = next++; group < dispatch.groups && !stop; group = next++) {
      Result<void> done = schedule_.interrupted && schedule_.interrupted()
                              ? Result<void>(interrupted_error())
                              : workers_[worker]->run_group(dispatch, order.at(group), schedule_);
      if (done) continue;
      errors[worker] = std::move(done).error();
      failed[worker] = group;
      stop = true;
    }
  });
  for (unsigned i = 0; i < count; ++i) {
    add(counters, workers_[i]->counters);
    workers_[i]->add_profile(profile);
  }
  const auto first = std::min_element(failed.begin(), failed.end()) - failed.begin();
  if (failed[static_cast<size_t>(first)] != UINT64_MAX) return *errors[static_cast<size_t>(first)];
  return {};
}

}  // namespace hipplan::emulator
