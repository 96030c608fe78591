// The cuda device: its answers to what can go wrong, over the stand-in library; the conformance
// suite over the stand-in, and over a GPU where there is one.
//   HIPPLAN_TEST_CUDA_CODE  folder with conformance.ptx and conformance_sm_90.cubin, when the test
//                           runs on another machine than the one that built it
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/file.h"
#include "conformance.h"
#include "device/cuda/cuda.h"
#include "target_files.h"

using namespace hipplan;
using namespace hipplan::test;
using device::cuda::Runtime;

namespace {

/// A variable of the stand-in for the length of a scope.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

Bytes code_in(const char* elsewhere, const std::string& here) {
  const char* folder = std::getenv("HIPPLAN_TEST_CUDA_CODE");
  auto code = read_file(folder != nullptr ? cat(folder, "/", elsewhere) : here);
  REQUIRE_MESSAGE(code.ok(), here);
  return std::move(code).value();
}
Bytes cubin() {
  return code_in("conformance_sm_90.cubin",
                 HIPPLAN_SOURCE_DIR "/tests/device/data/conformance_sm_90.cubin");
}
#if !defined(HIPPLAN_CONFORMANCE_PTX)
#define HIPPLAN_CONFORMANCE_PTX ""
#endif
/// Empty where no compiler makes PTX.
Bytes ptx() {
  if (std::string_view(HIPPLAN_CONFORMANCE_PTX).empty()) return {};
  return code_in("conformance.ptx", HIPPLAN_CONFORMANCE_PTX);
}

std::shared_ptr<Runtime> stand_in() {
  auto runtime = Runtime::open(HIPPLAN_CUDA_STAND_IN);
  REQUIRE_MESSAGE(runtime.ok(), (runtime.ok() ? "" : runtime.error().text()));
  return std::move(runtime).value();
}

std::unique_ptr<device::Device> stand_in_device() {
  auto device = device::cuda::open_device(stand_in(), 0, shipped_target("h200"));
  REQUIRE_MESSAGE(device.ok(), (device.ok() ? "" : device.error().text()));
  return std::move(device).value();
}

bool mentions(const Error& error, const std::string& text) {
  return error.text().find(text) != std::string::npos;
}

/// The first GPU of this machine, or why there is none.
struct Gpu {
  std::shared_ptr<Runtime> runtime;
  target::Description description;
  std::string skip;
};
Gpu find_gpu() {
  auto runtime = Runtime::open("");
  if (!runtime) return {nullptr, {}, runtime.error().text()};
  const auto count = (*runtime)->count();
  if (!count || *count == 0) return {nullptr, {}, "the CUDA driver sees no GPU"};
  const auto identity = (*runtime)->identify(0);
  if (!identity) return {nullptr, {}, identity.error().text()};
  target::Description description = shipped_target("h200");
  description.arch = identity->arch;
  return {*runtime, description, ""};
}

void check_all(const Backend& backend, ByteView code) {
  CAPTURE(backend.name);
  check_memory(backend);
  check_modules(backend, code);
  check_launches(backend, code);
  check_threads(backend, code);
  check_timing(backend, code);
  check_replays(backend, code);
  check_facts(backend);
}

}  // namespace

TEST_CASE("the cuda device conforms over the stand-in, with machine code and with PTX") {
  const Backend backend{"cuda over the stand-in", "sm_90", false,
                        []() -> Result<std::unique_ptr<device::Device>> {
                          HIPPLAN_TRY_ASSIGN(auto runtime, Runtime::open(HIPPLAN_CUDA_STAND_IN));
                          return device::cuda::open_device(runtime, 0, shipped_target("h200"));
                        }};
  for (const Bytes& code : {cubin(), ptx()}) {
    if (code.empty()) continue;
    check_memory(backend);
    check_modules(backend, code);
  }
}

TEST_CASE("the cuda device conforms on a GPU") {
  const Gpu gpu = find_gpu();
  if (!gpu.skip.empty()) {
    MESSAGE("skipped: " << gpu.skip);
    return;
  }
  const Backend backend{"cuda:0", gpu.description.arch.base, true,
                        [&] { return device::cuda::open_device(gpu.runtime, 0, gpu.description); },
                        true};
  if (backend.arch == "sm_90") check_all(backend, cubin());
  if (const Bytes text = ptx(); !text.empty()) check_all(backend, text);
}

TEST_CASE("a library that is not there, and one that is no CUDA driver") {
  const auto absent = Runtime::open("/nowhere/libcuda.so.1");
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().code == Code::machine);
  CHECK(absent.error().reason == "cuda-library");
  CHECK(mentions(absent.error(), "/nowhere/libcuda.so.1"));

  const auto other = Runtime::open("libc.so.6");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().code == Code::machine);
  CHECK(other.error().reason == "cuda-symbol");
  CHECK(mentions(other.error(), "cuInit"));
}

TEST_CASE("a driver without a GPU has no devices, and none can be opened") {
  const Setting none("CUDA_STAND_IN_DEVICES", "0");
  const auto runtime = stand_in();
  REQUIRE(runtime->count().ok());
  CHECK(*runtime->count() == 0);
  const auto device = device::cuda::open_device(runtime, 0, shipped_target("h200"));
  REQUIRE_FALSE(device.ok());
  CHECK(device.error().code == Code::machine);
  CHECK(device.error().reason == "no-device");
}

TEST_CASE("a device says what it is, and another description is refused") {
  const auto runtime = stand_in();
  const auto identity = runtime->identify(0);
  REQUIRE(identity.ok());
  CHECK(identity->arch.base == "sm_90");
  CHECK(identity->name == "NVIDIA H200");
  CHECK_FALSE(runtime->identify(1).ok());
  CHECK_FALSE(runtime->identify(-1).ok());
  const auto facts = runtime->facts(0);
  REQUIRE(facts.ok());
  CHECK(facts->driver_version == "CUDA 13.0");
  CHECK(facts->compute_units == 132);
  const auto device = device::cuda::open_device(runtime, 0, shipped_target("a100"));
  REQUIRE_FALSE(device.ok());
  CHECK(device.error().reason == "device-arch");
  CHECK(mentions(device.error(), "sm_80"));
  CHECK(mentions(device.error(), "sm_90"));
}

TEST_CASE("a driver that does not start, count or tell fails with its own words") {
  for (const char* entry : {"cuInit", "cuDeviceGetCount", "cuDeviceGetAttribute", "cuDeviceGetName",
                            "cuDeviceTotalMem_v2", "cuDriverGetVersion"}) {
    CAPTURE(entry);
    const Setting fault("CUDA_STAND_IN_FAULT", std::string(entry) + "=999");
    const auto runtime = Runtime::open(HIPPLAN_CUDA_STAND_IN);
    const Error error = runtime.ok() ? (*runtime)->identify(0).error() : runtime.error();
    CHECK(error.code == Code::machine);
    CHECK(error.reason == "driver");
    CHECK(mentions(error, "999"));
    CHECK(mentions(error, "told by the stand-in"));
  }
  const Setting fault("CUDA_STAND_IN_FAULT", "cuDevicePrimaryCtxRetain=46");
  CHECK(device::cuda::open_device(stand_in(), 0, shipped_target("h200")).error().reason ==
        "driver");
}

TEST_CASE("out of device memory names the bytes asked for and the bytes free") {
  const auto device = stand_in_device();
  const auto refused = device->allocate(uint64_t{1} << 50);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::machine);
  CHECK(refused.error().reason == "device-memory");
  CHECK(mentions(refused.error(), std::to_string(uint64_t{1} << 50)));
  CHECK(mentions(refused.error(), "free"));
}

TEST_CASE("each call that fails is an error of its kind, and the device works again afterwards") {
  const auto device = stand_in_device();
  const Bytes code = cubin(), text = ptx();
  auto module = device->load(code);
  REQUIRE_MESSAGE(module.ok(), (module.ok() ? "" : module.error().text()));
  const auto kernel = (*module)->kernel("no_arguments");
  REQUIRE(kernel.ok());
  const auto memory = device->allocate(64);
  REQUIRE(memory.ok());
  Bytes bytes(64);
  const auto with = [](const char* entry, int status, const std::function<Result<void>()>& call) {
    CAPTURE(entry);
    const Setting fault("CUDA_STAND_IN_FAULT", std::string(entry) + "=" + std::to_string(status));
    const auto done = call();
    REQUIRE_FALSE(done.ok());
    CHECK(mentions(done.error(), std::to_string(status)));
    return done.error();
  };
  CHECK(with("cuMemcpyHtoD_v2", 1, [&] { return device->copy_in(*memory, bytes); }).code ==
        Code::machine);
  with("cuMemcpyDtoH_v2", 1, [&] { return device->copy_out(bytes, *memory); });
  with("cuMemsetD8_v2", 1, [&] { return device->fill(*memory, std::byte{1}, 64); });
  CHECK(with("cuLaunchKernel", 719, [&] { return device->launch(**kernel, {}); }).code ==
        Code::machine);
  with("cuCtxSynchronize", 700, [&] { return device->synchronize(); });
  CHECK(with("cuCtxSetCurrent", 101, [&] { return device->synchronize(); }).reason == "no-device");
  const auto load = [&](const Bytes& image) -> Result<void> {
    auto loaded = device->load(image);
    if (!loaded) return loaded.error();
    return {};
  };
  const auto refused = with("cuModuleLoadDataEx", 209, [&] { return load(code); });
  CHECK(refused.code == Code::unusable);
  CHECK(refused.reason == "driver-load");
  if (!text.empty())
    CHECK(mentions(with("cuModuleLoadDataEx", 218, [&] { return load(text); }),
                   "ptxas fatal: told by the stand-in"));
  // More LDS than every kernel has must be granted first.
  device::Launch wide;
  wide.dynamic_lds_bytes = 100000;
  with("cuFuncSetAttribute", 1, [&] { return device->launch(**kernel, wide); });
  CHECK(device->launch(**kernel, wide).ok());
  CHECK(device->launch(**kernel, {}).ok());
  CHECK(device->synchronize().ok());
  CHECK(device->release(*memory).ok());
}

TEST_CASE("code for another architecture never reaches the driver") {
  const auto device = stand_in_device();
  const std::string text = ".version 8.6\n.target sm_100\n.address_size 64\n";
  const auto refused = device->load(as_bytes(text));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::unusable);
  CHECK(mentions(refused.error(), "sm_90"));
  CHECK(mentions(refused.error(), "compute_100"));
}
