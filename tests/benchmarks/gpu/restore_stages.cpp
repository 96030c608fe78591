// Times a restore on a CUDA GPU stage by stage, beside bare driver calls with the same code object,
// and what an execution costs host and device.
// Usage: restore_stages PLAN [--key DIGITS] [--target ARCH] [--repeat COUNT]
// Times are microseconds: the first round of this process, then the median of the rounds. The
// context exists before the first round; the file is in the page cache after it.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "device/cuda/api.h"
#include "device/cuda/cuda.h"
#include "plan/extract.h"
#include "plan/plan.h"
#include "restore/restore.h"

using namespace hipplan;
namespace cuda = device::cuda;

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::micro>(Clock::now() - from).count();
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "restore_stages: %s\n", why.c_str());
  std::exit(1);
}
template <class T>
T must(Result<T> result) {
  if (!result) give_up(result.error().text());
  return std::move(result).value();
}
void must(const Result<void>& result) {
  if (!result) give_up(result.error().text());
}
void must(device::Status status, const char* what) {
  if (status != device::kSuccess) give_up(std::string(what) + ": status " + std::to_string(status));
}

/// Stages by name, each with a time per round.
class Stages {
 public:
  void add(const std::string& name, double time) {
    if (times_.find(name) == times_.end()) order_.push_back(name);
    times_[name].push_back(time);
  }
  void print() const {
    std::printf("%-34s %10s %10s\n", "stage (us)", "first", "median");
    for (const auto& name : order_) {
      auto rest = times_.at(name);
      const double first = rest.front();
      if (rest.size() > 1) rest.erase(rest.begin());
      std::nth_element(rest.begin(), rest.begin() + static_cast<long>(rest.size() / 2), rest.end());
      std::printf("%-34s %10.1f %10.1f\n", name.c_str(), first, rest[rest.size() / 2]);
    }
  }

 private:
  std::vector<std::string> order_;
  std::map<std::string, std::vector<double>> times_;
};

/// Calls `f` and adds what it took.
template <class F>
auto timed(Stages& stages, const std::string& name, const F& f) {
  const auto from = Clock::now();
  if constexpr (std::is_void_v<decltype(f())>) {
    f();
    stages.add(name, microseconds(from));
  } else {
    auto out = f();
    stages.add(name, microseconds(from));
    return out;
  }
}

struct Options {
  std::string file, key, target = "sm_90";
  int repeat = 21;
};

Options read_options(int count, char** arguments) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const bool more = i + 1 < count;
    if (word == "--key" && more)
      out.key = arguments[++i];
    else if (word == "--target" && more)
      out.target = arguments[++i];
    else if (word == "--repeat" && more)
      out.repeat = std::max(2, std::atoi(arguments[++i]));
    else
      out.file = word;
  }
  if (out.file.empty()) give_up("no plan given");
  return out;
}

/// Values around one of either sign in any of the 16- and 32-bit float types, never twice the same.
Bytes random_block() {
  Bytes out(16u << 20);
  uint32_t state = 1;
  for (size_t i = 0; i + 1 < out.size(); i += 2) {
    state = state * 1664525u + 1013904223u;
    out[i] = static_cast<std::byte>(state >> 16);
    out[i + 1] = static_cast<std::byte>((0x3cu + ((state >> 24) & 3u)) | ((state >> 20) & 0x80u));
  }
  return out;
}

/// Memory for every tensor of a plan, filled.
std::vector<restore::TensorAddress> make_tensors(device::Device& device,
                                                 const engine::PreparedKernel& prepared,
                                                 uint64_t& bytes) {
  static const Bytes kBlock = random_block();
  std::vector<restore::TensorAddress> out;
  for (const auto& binding : prepared.bindings) {
    bytes += binding.min_bytes;
    const bool known = std::any_of(out.begin(), out.end(),
                                   [&](const auto& tensor) { return tensor.uid == binding.uid; });
    if (known) continue;
    const auto address = must(device.allocate(binding.min_bytes));
    for (uint64_t at = 0; at < binding.min_bytes; at += kBlock.size())
      must(device.copy_in(address + at, ByteView(kBlock).first(std::min<uint64_t>(
                                            kBlock.size(), binding.min_bytes - at))));
    out.push_back({binding.uid, address});
  }
  return out;
}

/// The launch that a plan makes, as bare driver calls see it.
struct BareLaunch {
  const engine::PreparedLaunch* launch = nullptr;
  Bytes arguments;
  size_t bytes = 0;
  void* extra[5] = {};
};

void prepare_bare(BareLaunch& out, const engine::PreparedKernel& prepared,
                  const std::vector<restore::TensorAddress>& tensors) {
  out.launch = &prepared.launches.front();
  out.arguments = out.launch->arguments;
  for (const auto& patch : out.launch->patches) {
    if (patch.binding == engine::PreparedLaunch::kWorkspace) continue;
    for (const auto& tensor : tensors)
      if (tensor.uid == prepared.bindings[patch.binding].uid) {
        const uint64_t value = tensor.address + patch.add;
        std::memcpy(out.arguments.data() + patch.offset, &value, sizeof(value));
      }
  }
  out.bytes = out.arguments.size();
  void* extra[] = {device::kArgumentBuffer, out.arguments.data(), device::kArgumentSize, &out.bytes,
                   cuda::Api::argument_end()};
  std::copy(std::begin(extra), std::end(extra), out.extra);
}

device::Status launch_bare(const cuda::Api& api, void* function, BareLaunch& bare) {
  const auto& l = *bare.launch;
  return api.launch(function, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z,
                    l.dynamic_lds_bytes, nullptr, nullptr, bare.extra);
}

/// Microseconds that one call of `f` keeps the host, the device running along.
template <class F>
double host_cost(device::Device& device, const F& f) {
  constexpr int kBatch = 200, kBatches = 25;
  std::vector<double> times;
  for (int batch = 0; batch < kBatches; ++batch) {
    must(device.synchronize());
    const auto from = Clock::now();
    for (int i = 0; i < kBatch; ++i) f();
    times.push_back(microseconds(from) / kBatch);
  }
  std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
  return times[kBatches / 2];
}

/// Microseconds of device time of one call of `f`, the cost of starting hidden behind a gate.
template <class F>
double device_time(device::Device& device, const F& f) {
  constexpr int kCalls = 50, kSamples = 9;
  const auto from = must(device.make_event()), to = must(device.make_event());
  std::vector<double> times;
  for (int sample = 0; sample < kSamples; ++sample) {
    must(device.synchronize());
    auto gate = must(device.close_gate());
    must(from->record());
    for (int i = 0; i < kCalls; ++i) f();
    must(to->record());
    must(gate->open());
    times.push_back(must(to->microseconds_since(*from)) / kCalls);
  }
  std::nth_element(times.begin(), times.begin() + kSamples / 2, times.end());
  return times[kSamples / 2];
}

/// GB/s of reading and writing, of copies from device memory to device memory.
double copy_bandwidth(device::Device& device, uint64_t bytes) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  using Copy = int (*)(unsigned long long, unsigned long long, size_t, void*);
  auto* copy =
      library == nullptr ? nullptr : reinterpret_cast<Copy>(dlsym(library, "cuMemcpyDtoDAsync_v2"));
  if (copy == nullptr) return 0;
  const auto from = must(device.allocate(bytes)), to = must(device.allocate(bytes));
  must(device.fill(from, std::byte{1}, bytes));
  const double time =
      device_time(device, [&] { must(copy(to, from, bytes, nullptr), "cuMemcpyDtoDAsync"); });
  must(device.release(from));
  must(device.release(to));
  return 2 * static_cast<double>(bytes) / time / 1000;
}

/// One restore and its first execution; then the floor: the same code object by bare driver calls.
void round_of(const Options& options, const std::string& key, device::Device& device,
              const cuda::Api& api, Stages& stages) {
  const auto start = Clock::now();
  const auto file = timed(stages, "open, directory", [&] {
    return must(plan::File::open(options.file, plan::Check::lookup));
  });
  auto plan = timed(stages, "look up, decode, digests", [&] {
    const auto entry = must(plan::choose_entry(file, key, options.target));
    return must(file.read_decisions(entry));
  });
  const auto executable = timed(stages, "check, module load, symbols", [&] {
    return must(restore::Executable::create(std::move(plan), restore::built_in_provider(), device));
  });
  stages.add("RESTORE: file to launchable", microseconds(start));
  const auto& kernel = executable->plan().payload.kernels.front();
  const std::string symbol = kernel.symbol;
  Bytes code(kernel.code->begin(), kernel.code->end());
  code.push_back(std::byte{0});  // PTX ends so
  uint64_t bytes = 0;
  const auto tensors = make_tensors(device, executable->prepared(), bytes);
  const uint64_t workspace_bytes = executable->prepared().workspace_bytes;
  const device::Address workspace =
      workspace_bytes == 0 ? 0 : must(device.allocate(workspace_bytes));
  must(device.synchronize());
  const auto first = Clock::now();
  timed(stages, "first execution, started",
        [&] { must(executable->execute(device, tensors, workspace)); });
  must(device.synchronize());
  stages.add("first execution, ended", microseconds(first));

  timed(stages, "of it: checks of the code",
        [&] { must(restore::check_code(executable->plan())); });
  timed(stages, "floor: SHA-256 of the code", [&] { return sha256(code); });
  BareLaunch bare;
  prepare_bare(bare, executable->prepared(), tensors);
  void *module = nullptr, *function = nullptr;
  const auto floor = Clock::now();
  must(api.module_load(&module, code.data(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
  must(api.module_function(&function, module, symbol.c_str()), "cuModuleGetFunction");
  stages.add("FLOOR: module load, symbol", microseconds(floor));
  const auto bare_first = Clock::now();
  must(launch_bare(api, function, bare), "cuLaunchKernel");
  must(device.synchronize());
  stages.add("floor: first launch, ended", microseconds(bare_first));
  must(api.module_unload(module), "cuModuleUnload");
  for (const auto& tensor : tensors) must(device.release(tensor.address));
  if (workspace != 0) must(device.release(workspace));
}

void running_costs(const Options& options, const std::string& key, device::Device& device,
                   const cuda::Api& api) {
  const auto file = must(plan::File::open(options.file, plan::Check::lookup));
  auto plan = must(file.read_decisions(must(plan::choose_entry(file, key, options.target))));
  const auto& held = *plan.payload.kernels.front().code;
  Bytes code(held.begin(), held.end());
  code.push_back(std::byte{0});
  const std::string symbol = plan.payload.kernels.front().symbol;
  const auto executable =
      must(restore::Executable::create(std::move(plan), restore::built_in_provider(), device));
  uint64_t bytes = 0;
  const auto tensors = make_tensors(device, executable->prepared(), bytes);
  const auto execute = [&] { must(executable->execute(device, tensors, 0)); };
  if (executable->prepared().workspace_bytes == 0) {
    execute();
    BareLaunch bare;
    prepare_bare(bare, executable->prepared(), tensors);
    void *module = nullptr, *function = nullptr;
    must(api.module_load(&module, code.data(), 0, nullptr, nullptr), "cuModuleLoadDataEx");
    must(api.module_function(&function, module, symbol.c_str()), "cuModuleGetFunction");
    const double ours = host_cost(device, execute);
    const double floor =
        host_cost(device, [&] { must(launch_bare(api, function, bare), "cuLaunchKernel"); });
    void* context = nullptr;
    must(api.get_current(&context), "cuCtxGetCurrent");
    must(api.set_current(nullptr), "cuCtxSetCurrent");
    const double elsewhere = host_cost(device, execute);
    must(api.set_current(context), "cuCtxSetCurrent");
    const double kernel = device_time(device, execute);
    const double copy = copy_bandwidth(device, uint64_t{1} << 30);
    std::printf("host cost of an execution          %10.2f us, bare launch %.2f us\n", ours, floor);
    std::printf("the same on a thread without context %8.2f us\n", elsewhere);
    std::printf(
        "kernel                             %10.2f us, %.1f GB/s of tensors; copies %.0f GB/s\n",
        kernel, static_cast<double>(bytes) / kernel / 1000, copy);
    must(device.synchronize());
    must(api.module_unload(module), "cuModuleUnload");
  }
  for (const auto& tensor : tensors) must(device.release(tensor.address));
}

}  // namespace

int main(int count, char** arguments) {
  const Options options = read_options(count, arguments);
  const auto runtime = must(cuda::Runtime::open(""));
  const auto identity = must(runtime->identify(0));
  target::Description description;
  description.arch = identity.arch;
  const auto from = Clock::now();
  const auto device = must(cuda::open_device(runtime, 0, description));
  std::printf("%s, %s; context %.0f us\n", identity.name.c_str(), identity.arch.text().c_str(),
              microseconds(from));
  // Bare driver calls need a context on this thread; hipplan puts back what was there, nothing.
  void* context = nullptr;
  must(runtime->api().context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  must(runtime->api().set_current(context), "cuCtxSetCurrent");
  must(device->synchronize());
  Stages stages;
  for (int i = 0; i < options.repeat; ++i)
    round_of(options, options.key, *device, runtime->api(), stages);
  stages.print();
  running_costs(options, options.key, *device, runtime->api());
  return 0;
}
