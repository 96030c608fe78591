#include "device/emulator/scheduler.h"

#include <atomic>
#include <cstdlib>

#include "base/parallel.h"

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
  std::string where =
      cat("kernel ", program.info.name, ", pc ", hex(line.address), " '", line.text,
          "', workgroup (", id[0], ",", id[1], ",", id[2], "), wavefront ", wave.index);
  if (fault.lane >= 0) where += cat(", lane ", fault.lane);
  return {.code = Code::machine,
          .reason = fault.reason,
          .where = std::move(where),
          .what = fault.what,
          .expected = fault.expected,
          .found = fault.found};
}

void run_wave(Wave& wave, const Op* ops, uint64_t budget) {
  uint64_t instructions = wave.counters.instructions, lanes = 0;
  while (wave.state == State::running) {
    const Op& op = ops[wave.next];
    wave.current = wave.next;
    wave.next = op.next;
    lanes += op.vector ? static_cast<uint64_t>(std::popcount(wave.exec())) : 1u;
    op.run(wave, op);
    if (++instructions > budget)
      wave.fail({.reason = "instruction-budget",
                 .what = "the wavefront does not come to an end",
                 .expected = cat("at most ", budget, " instructions")});
  }
  wave.counters.instructions = instructions;
  wave.counters.lane_instructions += lanes;
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
  bool prepare(const Dispatch& dispatch, const AddressSpace& memory) {
    if (waves_.size() < dispatch.waves) {
      rows_ = allocate_rows(dispatch.waves);
      if (!rows_) return false;
      waves_.resize(dispatch.waves);
      scratch_.resize(dispatch.waves);
    }
    group_.lds.resize(dispatch.lds_bytes);
    group_.waves = dispatch.waves;
    last_allocation_.assign(dispatch.program->ops.size(), nullptr);
    for (uint32_t i = 0; i < dispatch.waves; ++i) {
      Wave& wave = waves_[i];
      scratch_[i].resize(uint64_t{dispatch.program->setup.private_bytes} * kMaxLanes);
      wave.rows = rows_.get() + size_t{i} * kVectorRows;
      wave.group = &group_;
      wave.memory = &memory;
      wave.last_allocation = last_allocation_.data();
      wave.scratch = &scratch_[i];
    }
    counters = {};
    return true;
  }

  Result<void> run_group(const Dispatch& dispatch, uint64_t number, uint64_t budget) {
    const auto& grid = dispatch.launch.grid;
    group_.id[0] = static_cast<uint32_t>(number % grid.x);
    group_.id[1] = static_cast<uint32_t>(number / grid.x % grid.y);
    group_.id[2] = static_cast<uint32_t>(number / grid.x / grid.y);
    std::fill(group_.lds.begin(), group_.lds.end(), std::byte{0xcd});
    for (uint32_t i = 0; i < dispatch.waves; ++i) start_wave(dispatch, group_.id, i, waves_[i]);
    Result<void> done = run_waves(dispatch, budget);
    for (uint32_t i = 0; i < dispatch.waves; ++i) add(counters, waves_[i].counters);
    return done;
  }

  WaveCounters counters;

 private:
  Result<void> run_waves(const Dispatch& dispatch, uint64_t budget) {
    for (;;) {
      uint32_t waiting = 0;
      for (uint32_t i = 0; i < dispatch.waves; ++i) {
        Wave& wave = waves_[i];
        run_wave(wave, dispatch.program->ops.data(), budget);
        if (wave.state == State::faulted) return describe(dispatch, wave);
        if (wave.state == State::barrier) ++waiting;
      }
      if (waiting == 0) return {};
      if (Wave* stray = other_barrier(dispatch)) return describe(dispatch, *stray);
      for (uint32_t i = 0; i < dispatch.waves; ++i)
        if (waves_[i].state == State::barrier) waves_[i].state = State::running;
    }
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
};

Scheduler::Scheduler(unsigned jobs, uint64_t instruction_budget, std::function<bool()> interrupted)
    : jobs_(worker_count(jobs)),
      budget_(instruction_budget),
      interrupted_(std::move(interrupted)) {}
Scheduler::~Scheduler() = default;

Result<void> Scheduler::run(const Dispatch& dispatch, const AddressSpace& memory,
                            WaveCounters& counters) {
  const auto count = static_cast<unsigned>(std::min<uint64_t>(jobs_, dispatch.groups));
  while (workers_.size() < count) workers_.push_back(std::make_unique<Worker>());
  for (unsigned i = 0; i < count; ++i)
    if (!workers_[i]->prepare(dispatch, memory))
      return Error{.code = Code::machine,
                   .reason = "out-of-memory",
                   .what = "the host has not enough memory for the wavefronts' registers"};
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::vector<std::optional<Error>> errors(count);
  std::vector<uint64_t> failed(count, UINT64_MAX);
  parallel_for(count, count, [&](size_t worker) {
    for (uint64_t group = next++; group < dispatch.groups && !stop; group = next++) {
      Result<void> done = interrupted_ && interrupted_()
                              ? Result<void>(Error{.code = Code::interrupted,
                                                   .reason = "interrupted",
                                                   .what = "stopped on request"})
                              : workers_[worker]->run_group(dispatch, group, budget_);
      if (done) continue;
      errors[worker] = std::move(done).error();
      failed[worker] = group;
      stop = true;
    }
  });
  for (unsigned i = 0; i < count; ++i) add(counters, workers_[i]->counters);
  const auto first = std::min_element(failed.begin(), failed.end()) - failed.begin();
  if (failed[static_cast<size_t>(first)] != UINT64_MAX) return *errors[static_cast<size_t>(first)];
  return {};
}

}  // namespace hipplan::emulator
