// The cuda device: its answers to what can go wrong, over the stand-in library; the conformance
// suite over the stand-in, and over a GPU where there is one.
//   HIPPLAN_TEST_CUDA_CODE  folder with conformance.ptx and conformance_sm_90.cubin, when the test
//                           runs on another machine than the one that built it
#include <doctest/doctest.h>

#include <cstdlib>

#include "base/file.h"
#include "conformance.h"
#include "device/cuda/api.h"
#include "device/cuda/cuda.h"
#include "driver_tests.h"

using namespace hipplan;
using namespace hipplan::test;
using device::cuda::Runtime;

namespace {

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

/// See driver_tests.h.
struct CudaStandIn {
  using Runtime = device::cuda::Runtime;
  static constexpr const char *kBackend = "cuda", *kLibrary = HIPPLAN_CUDA_STAND_IN,
                              *kFirstEntry = "cuInit", *kFaultVariable = "CUDA_STAND_IN_FAULT",
                              *kDevicesVariable = "CUDA_STAND_IN_DEVICES", *kTarget = "h200",
                              *kOtherTarget = "a100", *kArch = "sm_90", *kOtherArch = "sm_80",
                              *kOtherCodeArch = "compute_100";
  static constexpr int kManyGates = 1100;
  struct Entries {
    static constexpr const char* kQuestions[] = {
        "cuInit",          "cuDeviceGetCount",    "cuDeviceGetAttribute",
        "cuDeviceGetName", "cuDeviceTotalMem_v2", "cuDriverGetVersion"};
    static constexpr const char *kGetCurrent = "cuCtxGetCurrent", *kSetCurrent = "cuCtxSetCurrent",
                                *kRelease = "cuMemFree_v2", *kCopyIn = "cuMemcpyHtoD_v2",
                                *kCopyOut = "cuMemcpyDtoH_v2", *kFill = "cuMemsetD8_v2",
                                *kLaunch = "cuLaunchKernel", *kSynchronize = "cuCtxSynchronize",
                                *kModuleLoad = "cuModuleLoadDataEx",
                                *kEventCreate = "cuEventCreate", *kHold = "cuStreamWaitValue32_v2",
                                *kGraphCreate = "cuGraphCreate",
                                *kGraphAdd = "cuGraphAddKernelNode",
                                *kGraphInstantiate = "cuGraphInstantiateWithFlags";
  };
  static Bytes code() { return cubin(); }
  static Bytes other_code() {
    const std::string_view text = ".version 8.6\n.target sm_100\n.address_size 64\n";
    return {as_bytes(text).begin(), as_bytes(text).end()};
  }
  static auto open(std::shared_ptr<Runtime> runtime, int index, target::Description description,
                   std::chrono::milliseconds longest_hold) {
    return device::cuda::open_device(std::move(runtime), index, std::move(description),
                                     longest_hold);
  }
  static void* current_of(const device::cuda::Api& api, int index) {
    void* context = nullptr;
    REQUIRE(api.context_retain(&context, index) == device::kSuccess);
    return context;
  }
  static void give_back(const device::cuda::Api& api, int index) {
    CHECK(api.context_release(index) == device::kSuccess);
  }
};

/// The device over a stand-in that lacks the optional entry points, or has them.
Backend stand_in_backend(const char* library, bool times) {
  return {"cuda over the stand-in", "sm_90", false,
          [library]() -> Result<std::unique_ptr<device::Device>> {
            HIPPLAN_TRY_ASSIGN(auto runtime, Runtime::open(library));
            return device::cuda::open_device(runtime, 0, shipped_target("h200"));
          },
          times};
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

TEST_CASE("the cuda device conforms over the stand-in, with machine code") {
  check_all(stand_in_backend(HIPPLAN_CUDA_STAND_IN, true), cubin());
}

TEST_CASE("the cuda device conforms over the stand-in, with PTX") {
  const Bytes text = ptx();
  if (text.empty()) {
    MESSAGE("skipped: no compiler here makes PTX");
    return;
  }
  check_all(stand_in_backend(HIPPLAN_CUDA_STAND_IN, true), text);
}

TEST_CASE("a driver of the required entry points alone runs code, and lacks the rest") {
  const Backend backend = stand_in_backend(HIPPLAN_CUDA_PLAIN_STAND_IN, false);
  check_memory(backend);
  check_modules(backend, cubin());
  check_launches(backend, cubin());
  check_timing(backend, cubin());
  check_replays(backend, cubin());
  const auto device = must(backend.open());
  CHECK(mentions(refusal(device->make_event()), "cuEventCreate"));
  CHECK(mentions(refusal(device->close_gate()), "cuMemHostAlloc"));
  CHECK(mentions(refusal(device->make_replay({})), "cuGraphCreate"));
  CHECK(must(device->facts()).bus_id.empty());
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
  if (const Bytes text = ptx(); !text.empty())
    check_all(backend, text);
  else
    MESSAGE("PTX skipped: no compiler here makes it");
}

TEST_CASE("a library that is not there, and one that is no CUDA driver") {
  check_absent_libraries<CudaStandIn>();
}

TEST_CASE("a driver without a GPU has no devices, and none can be opened") {
  check_no_device<CudaStandIn>();
}

TEST_CASE("a device says what it is, and another description is refused") {
  check_identity<CudaStandIn>();
  const auto facts = must(stand_in<CudaStandIn>()->facts(0));
  CHECK(facts.driver_version == "CUDA 13.0");
  CHECK(facts.compute_units == 132);
}

TEST_CASE("a driver that does not start, count or tell fails with its own words") {
  check_silent_driver<CudaStandIn>();
  const auto no_context = failing<CudaStandIn>("cuDevicePrimaryCtxRetain", 46, [] {
    return CudaStandIn::open(stand_in<CudaStandIn>(), 0, shipped_target("h200"),
                             device::kLongestHold);
  });
  CHECK(no_context.reason == "driver");
}

TEST_CASE("out of device memory names the bytes asked for and the bytes free") {
  check_out_of_memory<CudaStandIn>();
}

TEST_CASE("memory that nobody has released goes with its device") {
  check_forgotten_memory<CudaStandIn>();
}

TEST_CASE("each call that fails is an error of its kind, and the device works again afterwards") {
  check_failing_calls<CudaStandIn>();
}

TEST_CASE("calls for timing that fail are errors of the driver, and nothing stays behind") {
  check_failing_timing<CudaStandIn>();
}

TEST_CASE("code for another architecture never reaches the driver") {
  check_other_architecture<CudaStandIn>();
}

TEST_CASE("the context that is current on a thread stays it, also where there is none") {
  check_current_device<CudaStandIn>();
  const auto runtime = stand_in<CudaStandIn>();
  const auto device = stand_in_device<CudaStandIn>();
  REQUIRE(runtime->api().set_current(nullptr) == device::kSuccess);
  must(device->synchronize());
  void* now = &now;
  REQUIRE(runtime->api().get_current(&now) == device::kSuccess);
  CHECK(now == nullptr);
}

TEST_CASE("a gate that nobody opens lets go by itself") {
  check_gate_expires<CudaStandIn>();
}

TEST_CASE("gates hold one after the other, also when their words are used again") {
  check_many_gates<CudaStandIn>();
}

TEST_CASE("a wait that a later gate on its word has passed is over") {
  // More gates than there are words, all behind the first: its word is used again.
  const auto device = stand_in_device<CudaStandIn>();
  auto first = must(device->close_gate());
  for (int i = 0; i < 1024; ++i) must(must(device->close_gate())->open());
  must(first->open());
  must(device->synchronize());
}

TEST_CASE("PTX that the driver refuses brings its compiler's log") {
  const Bytes text = ptx();
  if (text.empty()) {
    MESSAGE("skipped: no compiler here makes PTX");
    return;
  }
  const auto device = stand_in_device<CudaStandIn>();
  CHECK(
      mentions(failing<CudaStandIn>("cuModuleLoadDataEx", 218, [&] { return device->load(text); }),
               "ptxas fatal: told by the stand-in"));
}

TEST_CASE("more LDS than every kernel has is granted before the launch") {
  const auto device = stand_in_device<CudaStandIn>();
  const auto module = must(device->load(cubin()));
  const auto* kernel = must(module->kernel("no_arguments"));
  device::Launch wide;
  wide.dynamic_lds_bytes = 100000;
  failing<CudaStandIn>("cuFuncSetAttribute", 1, [&] { return device->launch(*kernel, wide); });
  must(device->launch(*kernel, wide));
  must(device->launch(*kernel, {}));
  must(device->synchronize());
}

TEST_CASE("what is granted only rises, however many threads ask") {
  const auto device = stand_in_device<CudaStandIn>();
  const auto module = must(device->load(cubin()));
  const auto* kernel = must(module->kernel("no_arguments"));
  // The driver takes its time to return from the larger of two sizes; the smaller comes between.
  const Setting slow("CUDA_STAND_IN_SLOW", "80000");
  const auto launch = [&](uint32_t bytes) {
    device::Launch wide;
    wide.dynamic_lds_bytes = bytes;
    return device->launch(*kernel, wide);
  };
  bool large_ran = false;
  std::thread large([&] { large_ran = launch(100000).ok(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(launch(60000).ok());
  large.join();
  CHECK(large_ran);
  CHECK(launch(100000).ok());
  CHECK(device->synchronize().ok());
}
