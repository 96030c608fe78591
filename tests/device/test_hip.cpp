// The hip device's answers to what can go wrong, over the stand-in library.
#include <doctest/doctest.h>

#include "base/file.h"
#include "device/hip/api.h"
#include "device/hip/hip.h"
#include "driver_tests.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

Bytes code_of(const char* arch) {
  return must(read_file(cat(HIPPLAN_CONFORMANCE_FOLDER "/", arch, ".hsaco")));
}

/// See driver_tests.h.
struct HipStandIn {
  using Runtime = device::hip::Runtime;
  static constexpr const char *kBackend = "hip", *kLibrary = HIPPLAN_HIP_STAND_IN,
                              *kFirstEntry = "hipInit", *kFaultVariable = "STAND_IN_FAULT",
                              *kDevicesVariable = "STAND_IN_DEVICES", *kTarget = "mi300x",
                              *kOtherTarget = "rx7900xtx", *kArch = "gfx942",
                              *kOtherArch = "gfx1100", *kOtherCodeArch = "gfx1100";
  static constexpr int kManyGates = 3;
  struct Entries {
    static constexpr const char* kQuestions[] = {
        "hipInit",          "hipGetDeviceCount", "hipGetDevicePropertiesR0600",
        "hipDeviceGetName", "hipDeviceTotalMem", "hipDriverGetVersion"};
    static constexpr const char *kGetCurrent = "hipGetDevice", *kSetCurrent = "hipSetDevice",
                                *kRelease = "hipFree", *kCopyIn = "hipMemcpyHtoD",
                                *kCopyOut = "hipMemcpyDtoH", *kFill = "hipMemsetD8",
                                *kLaunch = "hipModuleLaunchKernel",
                                *kSynchronize = "hipDeviceSynchronize",
                                *kModuleLoad = "hipModuleLoadData",
                                *kEventCreate = "hipEventCreate", *kHold = "hipLaunchHostFunc",
                                *kGraphCreate = "hipGraphCreate",
                                *kGraphAdd = "hipGraphAddKernelNode",
                                *kGraphInstantiate = "hipGraphInstantiate";
  };
  static Bytes code() { return code_of("gfx942"); }
  static Bytes other_code() { return code_of("gfx1100"); }
  static auto open(std::shared_ptr<Runtime> runtime, int index, target::Description description,
                   std::chrono::milliseconds longest_hold) {
    return device::hip::open_device(std::move(runtime), index, std::move(description),
                                    longest_hold);
  }
  static int current_of(const device::hip::Api&, int index) { return index; }
  static void give_back(const device::hip::Api&, int) {}
};

}  // namespace

TEST_CASE("a library that is not there, and one that is no HIP library") {
  check_absent_libraries<HipStandIn>();
}

TEST_CASE("a machine without a GPU has no devices, and none can be opened") {
  check_no_device<HipStandIn>();
}

TEST_CASE("a device says what it is, and another description is refused") {
  check_identity<HipStandIn>();
}

TEST_CASE("a runtime that does not start, count or tell fails with its own words") {
  check_silent_driver<HipStandIn>();
}

TEST_CASE("out of device memory names the bytes asked for and the bytes free") {
  check_out_of_memory<HipStandIn>();
}

TEST_CASE("memory that nobody has released goes with its device") {
  check_forgotten_memory<HipStandIn>();
}

TEST_CASE("each call that fails is an error of its kind, and a lost device stays one") {
  check_failing_calls<HipStandIn>();
}

TEST_CASE("calls for timing that fail are errors of the driver, and nothing stays behind") {
  check_failing_timing<HipStandIn>();
}

TEST_CASE("code for another architecture never reaches the driver") {
  check_other_architecture<HipStandIn>();
}

TEST_CASE("the device that is current on a thread stays it") {
  check_current_device<HipStandIn>();
}

TEST_CASE("a gate that nobody opens lets go by itself") {
  check_gate_expires<HipStandIn>();
}

TEST_CASE("gates hold one after the other") {
  check_many_gates<HipStandIn>();
}

TEST_CASE("the time between two events behind a gate holds no cost of starting") {
  const auto device = stand_in_device<HipStandIn>();
  const auto module = must(device->load(HipStandIn::code()));
  const auto* kernel = must(module->kernel("no_arguments"));
  const auto before = must(device->make_event()), after = must(device->make_event());
  const auto time = [&](bool held) {
    std::unique_ptr<device::Gate> gate;
    if (held) gate = must(device->close_gate());
    std::this_thread::sleep_for(
        std::chrono::milliseconds(20));  // a gate holds for as long as asked
    must(before->record());
    for (int i = 0; i < 10; ++i) must(device->launch(*kernel, {}));
    must(after->record());
    if (gate) must(gate->open());
    return must(after->microseconds_since(*before));
  };
  // The stand-in makes each launch that the device had to wait for 5 us longer.
  CHECK(time(false) - time(true) == doctest::Approx(50).epsilon(0.01));
}
