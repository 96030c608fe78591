// How fast the emulator runs: lane-instructions per second by kind of work, and whole matmuls.
//   ninja -C build/release bench_emulator && build/release/bin/bench_emulator
// Arguments: [MODULE_FOLDER [JOBS]]; 1 job by default. Each figure is the best of five launches, as
// wall time and as lane-instructions per second of processor time, that is per core.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "base/file.h"
#include "device/device.h"
#include "emulated_target.h"

namespace {

using namespace hipplan;
using Clock = std::chrono::steady_clock;

/// A value or the end of the program.
template <class T>
T need(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "bench_emulator: %s\n", result.error().text().c_str());
    std::exit(1);
  }
  return std::move(result).value();
}
void need(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "bench_emulator: %s\n", result.error().text().c_str());
  std::exit(1);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Processor time of all threads.
double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class Bench {
 public:
  Bench(const std::string& arch, const device::OpenOptions& options) : arch_(arch) {
    const auto start = Clock::now();
    const double used = processor_seconds();
    device_ = need(device::open_emulator(test::emulated_target(arch), options));
    const auto code =
        need(read_file(std::string(HIPPLAN_BENCH_FOLDER) + "/bench_" + arch + ".hsaco"));
    module_ = need(device_->load(code));
    std::printf("%s: open and load %.1f ms, %.1f ms of processor time\n", arch.c_str(),
                1e3 * seconds_since(start), 1e3 * (processor_seconds() - used));
    for (auto& buffer : buffers_) {
      buffer = need(device_->allocate(kBytes));
      need(device_->fill(buffer, std::byte{0x3c}, kBytes));
    }
  }

  /// Arguments: the first `pointers` buffers, then n (left out when 0).
  void run(const char* name, uint32_t groups, uint32_t items, unsigned pointers, uint32_t n) {
    Bytes arguments;
    for (unsigned i = 0; i < pointers; ++i) append(arguments, buffers_[i]);
    if (n != 0) append(arguments, n);
    const auto* kernel = need(module_->kernel(name));
    const device::Launch launch{{groups}, {items}, 0, arguments};
    double best = 1e9, busy = 1e9;
    uint64_t lanes = 0;
    for (int turn = 0; turn < 5; ++turn) {
      const auto before = device_->counters().lane_instructions;
      const auto start = Clock::now();
      const double used = processor_seconds();
      need(device_->launch(*kernel, launch));
      need(device_->synchronize());
      best = std::min(best, seconds_since(start));
      busy = std::min(busy, processor_seconds() - used);
      lanes = device_->counters().lane_instructions - before;
    }
    std::printf("  %-16s %8.2f ms  %8.0f million lane-instructions/s and core\n", name, 1e3 * best,
                static_cast<double>(lanes) / busy / 1e6);
  }

 private:
  static constexpr uint64_t kBytes = 1u << 20;
  std::string arch_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Module> module_;
  device::Address buffers_[3] = {};
};

}  // namespace

int main(int argc, char** argv) {
  device::OpenOptions options;
  options.module_folder = argc > 1 ? argv[1] : HIPPLAN_MODULE_FOLDER;
  options.jobs = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  for (const std::string arch : {"gfx942", "gfx1100"}) {
    Bench bench(arch, options);
    bench.run("vector_float", 16, 256, 1, 2000);
    bench.run("vector_integer", 16, 256, 1, 1000);
    bench.run("stream", 16, 256, 2, 60);
    bench.run("lds_exchange", 16, 256, 1, 500);
    bench.run("matmul_float", 16, 256, 3, 0);
    bench.run("matmul_matrix", 64, arch == "gfx942" ? 256 : 128, 3, 0);
  }
  return 0;
}
