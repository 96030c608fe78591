// Rates of writing, looking up, reading and checking plans.
#include <benchmark/benchmark.h>
#include <fcntl.h>

#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

/// A library of plans with 8 code objects of 100 KB.
std::vector<Plan> plans(unsigned count) {
  std::vector<plan::Code> codes;
  std::vector<Digest> digests;
  for (unsigned i = 0; i < 8; ++i) {
    codes.push_back(sample_code(i, 100000));
    digests.push_back(sha256(*codes.back()));
  }
  std::vector<Plan> out;
  for (unsigned i = 0; i < count; ++i) {
    out.push_back(sample_plan(i));
    out.back().payload.kernels[0].code = codes[i % 8];
    out.back().payload.kernels[0].sha256 = digests[i % 8];
  }
  return out;
}

void write_library(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const auto input = plans(count);
  const ScratchFolder folder;
  for (auto _ : state) {
    Writer writer({});
    for (const auto& plan : input)
      if (!writer.add(plan)) state.SkipWithError("add");
    if (!writer.write(folder / "x.hplan")) state.SkipWithError("write");
  }
  state.SetItemsProcessed(state.iterations() * count);
}

void open_find_read(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const ScratchFolder folder;
  Writer writer({});
  for (const auto& plan : plans(count)) (void)writer.add(plan);
  (void)writer.write(folder / "x.hplan");
  unsigned i = 0;
  for (auto _ : state) {
    const auto file = plan::File::open(folder / "x.hplan", Check::lookup);
    const auto found = file->find(sample_key(i++ % count), "gfx942");
    if (!file->read_plan(**found, true)) state.SkipWithError("read");
  }
  state.SetItemsProcessed(state.iterations());
}

/// The same with nothing of the file in memory: pages come from the disk. The time includes
/// opening.
void open_find_read_cold(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const ScratchFolder folder;
  const auto path = folder / "x.hplan";
  Writer writer({});
  for (const auto& plan : plans(count)) (void)writer.add(plan);
  (void)writer.write(path);
  unsigned i = 0;
  for (auto _ : state) {
    state.PauseTiming();
    const int file_number = ::open(path.c_str(), O_RDONLY);
    if (file_number < 0 || ::posix_fadvise(file_number, 0, 0, POSIX_FADV_DONTNEED) != 0)
      state.SkipWithError("drop");
    ::close(file_number);
    state.ResumeTiming();
    const auto file = plan::File::open(path, Check::lookup);
    const auto found = file->find(sample_key((i += 7919) % count), "gfx942");
    if (!file->read_plan(**found, true)) state.SkipWithError("read");
  }
  state.SetItemsProcessed(state.iterations());
}

/// Single-plan files of 100 KB of code that does not compress, checked whole.
void verify_single(benchmark::State& state) {
  Plan plan = sample_plan(1);
  Bytes noise(100000);
  uint64_t word = 1;
  for (auto& byte : noise)
    byte = std::byte((word = word * 6364136223846793005ull + 1442695040888963407ull) >> 56);
  plan.payload.kernels[0].sha256 = sha256(noise);
  plan.payload.kernels[0].code = share(std::move(noise));
  const Bytes bytes = file_of({plan});
  const ScratchFolder folder;
  (void)write_file(folder / "x.hplan", bytes);
  for (auto _ : state)
    if (!plan::File::open(folder / "x.hplan", Check::full)) state.SkipWithError("check");
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
}

void verify_library(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const ScratchFolder folder;
  Writer writer({});
  for (const auto& plan : plans(count)) (void)writer.add(plan);
  (void)writer.write(folder / "x.hplan");
  for (auto _ : state)
    if (!plan::File::open(folder / "x.hplan", Check::full)) state.SkipWithError("check");
  state.SetItemsProcessed(state.iterations() * count);
}

void hash_100_kb(benchmark::State& state) {
  const Bytes bytes(100000);
  for (auto _ : state) benchmark::DoNotOptimize(sha256(bytes));
  state.SetBytesProcessed(state.iterations() * 100000);
}

}  // namespace

BENCHMARK(write_library)->Arg(1000)->Arg(5000)->Arg(20000)->Unit(benchmark::kMillisecond);
BENCHMARK(open_find_read)->Arg(1)->Arg(20000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(open_find_read_cold)
    ->Arg(100000)
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(200)
    ->UseRealTime();
BENCHMARK(verify_single)->Unit(benchmark::kMicrosecond);
BENCHMARK(verify_library)->Arg(5000)->Unit(benchmark::kMillisecond);
BENCHMARK(hash_100_kb)->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
