// Rates of writing, looking up, reading and checking plans.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "plan/layout.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

constexpr unsigned kLargeCode = 100'000;
/// As kernels that are compiled from a few dozen lines are on average: 5 KB when compressed.
constexpr unsigned kUsualCode = 8'000;

/// A library of plans with 8 code objects of that size.
std::vector<Plan> plans(unsigned count, unsigned code_bytes = kLargeCode) {
  std::vector<plan::Code> codes;
  std::vector<Digest> digests;
  for (unsigned i = 0; i < 8; ++i) {
    codes.push_back(sample_code(i, code_bytes));
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

/// A file with `count` plans, written once.
class Library {
 public:
  static const Library& of(unsigned count, unsigned code_bytes) {
    static std::map<std::pair<unsigned, unsigned>, Library> made;
    return made.try_emplace({count, code_bytes}, count, code_bytes).first->second;
  }
  Library(unsigned count, unsigned code_bytes) : path_(folder_ / "x.hplan") {
    Writer writer({});
    for (const auto& plan : plans(count, code_bytes)) (void)writer.add(plan);
    (void)writer.write(path_);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Drops what of the file is in memory.
  [[nodiscard]] bool drop() const {
    const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    const bool dropped = file >= 0 && ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
    ::close(file);
    return dropped;
  }
  /// How many pages of the file are in memory.
  [[nodiscard]] uint64_t pages_in_memory() const {
    const auto file = FileView::open(path_);
    const auto bytes = file->view();
    std::vector<unsigned char> there((bytes.size() + kPageBytes - 1) / kPageBytes);
    (void)::mincore(const_cast<std::byte*>(bytes.data()), bytes.size(), there.data());
    return static_cast<uint64_t>(
        std::count_if(there.begin(), there.end(), [](unsigned char page) { return page & 1; }));
  }

 private:
  ScratchFolder folder_;
  std::filesystem::path path_;
};

bool look_up(const std::filesystem::path& path, unsigned number) {
  const auto file = plan::File::open(path, Check::lookup);
  const auto found = file->find(sample_key(number), "gfx942");
  return file->read_plan(**found, true).ok();
}

void open_find_read(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const auto& library = Library::of(count, kLargeCode);
  unsigned i = 0;
  for (auto _ : state)
    if (!look_up(library.path(), i++ % count)) state.SkipWithError("read");
  state.SetItemsProcessed(state.iterations());
}

/// Times `action(i)` with nothing of the file in memory, and tells the median: other work on the
/// disk makes a few of many very slow.
template <typename Action>
void time_cold(benchmark::State& state, const Library& library, const Action& action) {
  std::vector<double> seconds;
  uint64_t pages = 0;
  unsigned i = 0;
  for (auto _ : state) {
    if (!library.drop()) state.SkipWithError("drop");
    const auto start = std::chrono::steady_clock::now();
    if (!action(i += 7919)) state.SkipWithError("read");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(took.count());
    seconds.push_back(took.count());
    pages = std::max(pages, library.pages_in_memory());
  }
  if (seconds.empty()) return;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  state.counters["median_us"] = *middle * 1e6;
  state.counters["most_pages"] = static_cast<double>(pages);
}

/// open_find_read with nothing of the file in memory: pages come from the disk.
void open_find_read_cold(benchmark::State& state) {
  const auto count = static_cast<unsigned>(state.range(0));
  const auto& library = Library::of(count, static_cast<unsigned>(state.range(1)));
  time_cold(state, library, [&](unsigned i) { return look_up(library.path(), i % count); });
}

/// What the disk alone takes: a bare pread of so many pages of that file, one after the other.
void pages_cold(benchmark::State& state) {
  const auto& library = Library::of(100'000, kUsualCode);
  const auto count = static_cast<unsigned>(state.range(0));
  const auto size = std::filesystem::file_size(library.path());
  const int file = ::open(library.path().c_str(), O_RDONLY | O_CLOEXEC);
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  Bytes page(kPageBytes);
  time_cold(state, library, [&](unsigned i) {
    for (unsigned n = 0; n < count; ++n) {
      const uint64_t number = (uint64_t{i} * count + n) * 7919 % (size / kPageBytes);
      if (::pread(file, page.data(), page.size(), static_cast<off_t>(number * kPageBytes)) <= 0)
        return false;
    }
    return true;
  });
  ::close(file);
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
    ->ArgNames({"plans", "code"})
    ->Args({100'000, kUsualCode})
    ->Args({100'000, kLargeCode})
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(500)
    ->UseManualTime();
BENCHMARK(pages_cold)
    ->Arg(1)
    ->Arg(6)
    ->Arg(16)
    ->Unit(benchmark::kMicrosecond)
    ->Iterations(500)
    ->UseManualTime();
BENCHMARK(verify_single)->Unit(benchmark::kMicrosecond);
BENCHMARK(verify_library)->Arg(5000)->Unit(benchmark::kMillisecond);
BENCHMARK(hash_100_kb)->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
