// The hip device's answers to what can go wrong, over the stand-in library.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/file.h"
#include "device/hip/hip.h"
#include "target_files.h"

using namespace hipplan;
using device::hip::Runtime;
using test::shipped_target;

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

std::shared_ptr<Runtime> stand_in() {
  auto runtime = Runtime::open(HIPPLAN_HIP_STAND_IN);
  REQUIRE_MESSAGE(runtime.ok(), (runtime.ok() ? "" : runtime.error().text()));
  return std::move(runtime).value();
}

std::unique_ptr<device::Device> stand_in_device() {
  auto device = device::hip::open_device(stand_in(), 0, shipped_target("mi300x"));
  REQUIRE_MESSAGE(device.ok(), (device.ok() ? "" : device.error().text()));
  return std::move(device).value();
}

bool mentions(const Error& error, const std::string& text) {
  return error.text().find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("a library that is not there, and one that is no HIP library") {
  const auto absent = Runtime::open("/nowhere/libamdhip64.so");
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().code == Code::machine);
  CHECK(absent.error().reason == "hip-library");
  CHECK(mentions(absent.error(), "/nowhere/libamdhip64.so"));

  const auto other = Runtime::open("libc.so.6");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().reason == "hip-symbol");
  CHECK(mentions(other.error(), "hipInit"));
}

TEST_CASE("a machine without a GPU has no devices, and none can be opened") {
  const Setting none("STAND_IN_TARGET", "none");
  const auto runtime = stand_in();
  REQUIRE(runtime->count().ok());
  CHECK(*runtime->count() == 0);
  const auto device = device::hip::open_device(runtime, 0, shipped_target("mi300x"));
  REQUIRE_FALSE(device.ok());
  CHECK(device.error().code == Code::machine);
  CHECK(device.error().reason == "no-device");
}

TEST_CASE("a device says what it is, and another description is refused") {
  const auto runtime = stand_in();
  const auto identity = runtime->identify(0);
  REQUIRE(identity.ok());
  CHECK(identity->arch.base == "gfx942");
  CHECK(identity->memory_bytes == shipped_target("mi300x").memory_bytes);
  CHECK_FALSE(runtime->identify(1).ok());
  CHECK_FALSE(runtime->identify(-1).ok());
  const auto device = device::hip::open_device(runtime, 0, shipped_target("rx7900xtx"));
  REQUIRE_FALSE(device.ok());
  CHECK(device.error().reason == "device-arch");
  CHECK(mentions(device.error(), "gfx942"));
  CHECK(mentions(device.error(), "gfx1100"));
}

TEST_CASE("a runtime that does not start, count or tell fails with its own words") {
  for (const char* entry : {"hipInit", "hipGetDeviceCount", "hipGetDevicePropertiesR0600",
                            "hipDeviceGetName", "hipDeviceTotalMem", "hipDriverGetVersion"}) {
    CAPTURE(entry);
    const Setting fault("STAND_IN_FAULT", std::string(entry) + "=999");
    const auto runtime = Runtime::open(HIPPLAN_HIP_STAND_IN);
    const Error error = runtime.ok() ? (*runtime)->identify(0).error() : runtime.error();
    CHECK(error.code == Code::machine);
    CHECK(error.reason == "driver");
    CHECK(mentions(error, "999"));
    CHECK(mentions(error, "told by the stand-in"));
  }
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

TEST_CASE("each call that fails is an error of its kind, and a lost device stays one") {
  const auto device = stand_in_device();
  auto code = read_file(HIPPLAN_CONFORMANCE_FOLDER "/gfx942.hsaco");
  REQUIRE(code.ok());
  auto module = device->load(*code);
  REQUIRE(module.ok());
  const auto kernel = (*module)->kernel("no_arguments");
  REQUIRE(kernel.ok());
  const auto memory = device->allocate(64);
  REQUIRE(memory.ok());
  Bytes bytes(64);

  const auto with = [](const char* entry, int status, const std::function<Result<void>()>& call) {
    const Setting fault("STAND_IN_FAULT", std::string(entry) + "=" + std::to_string(status));
    const auto done = call();
    REQUIRE_FALSE(done.ok());
    CHECK(mentions(done.error(), std::to_string(status)));
    return done.error();
  };
  const auto copied_in = with("hipMemcpyHtoD", 1, [&] { return device->copy_in(*memory, bytes); });
  CHECK(copied_in.code == Code::machine);
  with("hipMemcpyDtoH", 1, [&] { return device->copy_out(bytes, *memory); });
  with("hipMemsetD8", 1, [&] { return device->fill(*memory, std::byte{1}, 64); });
  const auto launched =
      with("hipModuleLaunchKernel", 719, [&] { return device->launch(**kernel, {}); });
  CHECK(launched.code == Code::machine);
  with("hipDeviceSynchronize", 719, [&] { return device->synchronize(); });
  const auto lost = with("hipSetDevice", 101, [&] { return device->synchronize(); });
  CHECK(lost.reason == "no-device");
  const auto refused = with("hipModuleLoadData", 209, [&]() -> Result<void> {
    auto loaded = device->load(*code);
    if (!loaded) return loaded.error();
    return {};
  });
  CHECK(refused.code == Code::unusable);
  CHECK(refused.reason == "driver-load");
  // Once the fault is gone the device works as before.
  CHECK(device->launch(**kernel, {}).ok());
  CHECK(device->synchronize().ok());
  CHECK(device->release(*memory).ok());
}

TEST_CASE("code for another architecture never reaches the driver") {
  const auto device = stand_in_device();
  auto code = read_file(HIPPLAN_CONFORMANCE_FOLDER "/gfx1100.hsaco");
  REQUIRE(code.ok());
  const auto refused = device->load(*code);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == Code::unusable);
  CHECK(mentions(refused.error(), "gfx942"));
  CHECK(mentions(refused.error(), "gfx1100"));
}

TEST_CASE("the time between two events behind a gate holds no cost of starting") {
  const auto device = stand_in_device();
  auto code = read_file(HIPPLAN_CONFORMANCE_FOLDER "/gfx942.hsaco");
  REQUIRE(code.ok());
  auto module = device->load(*code);
  REQUIRE(module.ok());
  const auto kernel = (*module)->kernel("no_arguments");
  REQUIRE(kernel.ok());
  const auto before = device->make_event(), after = device->make_event();
  REQUIRE((before.ok() && after.ok()));
  const auto time = [&](bool held) {
    std::unique_ptr<device::Gate> gate;
    if (held) gate = device->close_gate().value();
    std::this_thread::sleep_for(
        std::chrono::milliseconds(20));  // a gate holds for as long as asked
    REQUIRE((*before)->record().ok());
    for (int i = 0; i < 10; ++i) REQUIRE(device->launch(**kernel, {}).ok());
    REQUIRE((*after)->record().ok());
    if (gate) REQUIRE(gate->open().ok());
    return (*after)->microseconds_since(**before).value();
  };
  // The stand-in makes each launch that the device had to wait for 5 us longer.
  CHECK(time(false) - time(true) == doctest::Approx(50).epsilon(0.01));
}

TEST_CASE("calls for timing that fail are errors of the driver, and nothing stays behind") {
  const auto device = stand_in_device();
  const auto with = [&](const char* entry, int status, const auto& call) {
    const Setting fault("STAND_IN_FAULT", std::string(entry) + "=" + std::to_string(status));
    const auto made = call();
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == Code::machine);
    CHECK(mentions(made.error(), std::to_string(status)));
  };
  with("hipEventCreate", 2, [&] { return device->make_event(); });
  with("hipLaunchHostFunc", 999, [&] { return device->close_gate(); });
  with("hipGraphCreate", 2, [&] { return device->make_replay({}); });
  with("hipGraphInstantiate", 1, [&] { return device->make_replay({}); });
  // Nothing is held up or kept after a failure.
  CHECK(device->synchronize().ok());
  CHECK(device->make_event().ok());
}
