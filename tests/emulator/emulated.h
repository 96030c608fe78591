// HIP text compiled by clang and run on the emulator, for tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "device/device.h"

namespace hipplan::test {

/// What kernels in these tests need of a HIP header.
inline constexpr const char* kPrelude = R"(
#define KERNEL extern "C" __attribute__((global)) void
#define DEVICE static inline __attribute__((device))
#define SHARED __attribute__((shared))
typedef unsigned int u32; typedef unsigned long long u64; typedef int i32; typedef long long i64;
DEVICE u32 item() { return __builtin_amdgcn_workitem_id_x(); }
DEVICE u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
DEVICE u32 index() { return group() * __builtin_amdgcn_workgroup_size_x() + item(); }
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
)";

inline target::Description mi300x() {
  target::Description d;
  d.name = "test device";
  d.arch = {.base = "gfx942", .features = {}};
  d.wavefront_size = 64;
  d.max_workgroup_size = 1024;
  d.lds_bytes_per_workgroup = 65536;
  d.max_vgprs_per_wave = 512;
  d.max_sgprs_per_wave = 102;
  d.memory_bytes = 1ull << 32;
  return d;
}
inline target::Description rx7900() {
  target::Description d = mi300x();
  d.arch.base = "gfx1100";
  d.wavefront_size = 32;
  d.max_vgprs_per_wave = 256;
  return d;
}

/// A device of any architecture; `lanes` in a wavefront, or what is usual for it.
inline target::Description device_for(const std::string& arch, uint32_t lanes = 0) {
  target::Description d = arch.rfind("gfx9", 0) == 0 ? mi300x() : rx7900();
  d.arch.base = arch;
  if (lanes != 0) d.wavefront_size = lanes;
  return d;
}

/// Compiles HIP text (behind kPrelude); nothing, with a message, when there is no clang-22.
inline std::optional<Bytes> compile(const std::string& text, const std::string& arch,
                                    const std::string& options = "-O3") {
  static const bool there = std::system("clang-22 --version > /dev/null 2>&1") == 0;
  if (!there) {
    MESSAGE("skipped: no clang-22");
    return std::nullopt;
  }
  static int number = 0;
  const auto folder = std::filesystem::temp_directory_path() /
                      ("hipplan-emulator-test-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::string stem = (folder / ("k" + std::to_string(number++))).string();
  std::ofstream(stem + ".hip") << kPrelude << text;
  const std::string command =
      "clang-22 -x hip --cuda-device-only --offload-arch=" + arch + " -w -nogpuinc -nogpulib " +
      options + " --no-gpu-bundle-output -mcode-object-version=5 -fuse-cuid=none -c " + stem +
      ".hip -o " + stem + ".hsaco";
  REQUIRE(std::system(command.c_str()) == 0);
  auto bytes = read_file(stem + ".hsaco");
  REQUIRE(bytes.ok());
  std::filesystem::remove_all(folder);
  return std::move(bytes).value();
}

/// Everything is looked for.
inline device::OpenOptions strict() {
  device::OpenOptions options;
  options.check_uninitialized = options.check_races = true;
  return options;
}

/// A device with one loaded code object.
class Emulated {
 public:
  explicit Emulated(const target::Description& description, unsigned jobs = 0, uint64_t budget = 0)
      : Emulated(description, options_of(jobs, budget)) {}
  Emulated(const target::Description& description, device::OpenOptions options) {
    options.module_folder = HIPPLAN_MODULE_FOLDER;
    auto opened = device::open_emulator(description, options);
    REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? std::string() : opened.error().text()));
    device_ = std::move(opened).value();
  }
  void load(ByteView code) {
    auto loaded = device_->load(code);
    REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? std::string() : loaded.error().text()));
    module_ = std::move(loaded).value();
  }
  [[nodiscard]] device::Device& device() { return *device_; }

  /// Memory that nothing has been written to.
  device::Address reserve(uint64_t bytes) {
    const auto address = device_->allocate(bytes);
    REQUIRE(address.ok());
    return *address;
  }
  template <class T>
  device::Address put(const std::vector<T>& values) {
    auto address = device_->allocate(values.size() * sizeof(T));
    REQUIRE(address.ok());
    REQUIRE(device_->copy_in(*address, std::as_bytes(std::span(values))).ok());
    return *address;
  }
  template <class T>
  std::vector<T> get(device::Address address, size_t count) {
    std::vector<T> values(count);
    REQUIRE(device_->copy_out(std::as_writable_bytes(std::span(values)), address).ok());
    return values;
  }

  /// Launches with arguments packed at their natural alignment.
  template <class... A>
  Result<void> launch(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                      const A&... arguments) {
    return launch_with(kernel, grid, block, 0, arguments...);
  }
  template <class... A>
  Result<void> launch_with(const std::string& kernel, device::Dim3 grid, device::Dim3 block,
                           uint32_t dynamic_lds, const A&... arguments) {
    auto found = module_->kernel(kernel);
    if (!found) return found.error();
    Bytes bytes;
    [[maybe_unused]] const auto add = [&](const auto& value) {  // a kernel may take no arguments
      while (bytes.size() % sizeof(value) != 0) bytes.push_back(std::byte{0});
      append(bytes, value);
    };
    (add(arguments), ...);
    device::Launch launch;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_lds_bytes = dynamic_lds;
    launch.arguments = bytes;
    HIPPLAN_TRY(device_->launch(**found, launch));
    return device_->synchronize();
  }

 private:
  static device::OpenOptions options_of(unsigned jobs, uint64_t budget) {
    device::OpenOptions options;
    options.jobs = jobs;
    options.instruction_budget = budget;
    return options;
  }
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Module> module_;
};

/// The launch failed in the kernel, for `reason`, and the message holds all `parts`.
inline void check_fault(const Result<void>& result, const std::string& reason,
                        const std::vector<std::string>& parts) {
  REQUIRE(!result.ok());
  const std::string text = result.error().text();
  CAPTURE(text);
  CHECK(result.error().code == Code::machine);
  CHECK(result.error().reason == reason);
  for (const auto& part : parts) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

inline void check_ok(const Result<void>& result) {
  CHECK_MESSAGE(result.ok(), (result.ok() ? std::string() : result.error().text()));
}

}  // namespace hipplan::test
