// The timing protocol over a device whose clock and faults the test writes down.
#include <doctest/doctest.h>

#include "bench/protocol.h"

using namespace hipplan;
using namespace hipplan::bench;

namespace {

/// A device that only keeps time: each launch takes what `cost` says of its number.
struct ScriptedDevice final : device::Device {
  std::function<double(unsigned)> cost = [](unsigned) { return 10.0; };
  bool has_events = true, has_gates = true;
  std::optional<Error> gate_fault{};
  double clock = 0;
  unsigned launches = 0, gates = 0, open_gates = 0, launched_free = 0, most_behind_gate = 0;
  unsigned behind_gate = 0;
  bool closed = false;

  struct Mark final : device::Event {
    explicit Mark(ScriptedDevice& device) : owner(device) {}
    Result<void> record() override {
      at = owner.clock;
      return {};
    }
    Result<double> microseconds_since(const device::Event& earlier) override {
      CHECK_FALSE(owner.closed);  // it would wait for ever
      return at - dynamic_cast<const Mark&>(earlier).at;
    }
    ScriptedDevice& owner;
    double at = 0;
  };
  struct Hold final : device::Gate {
    explicit Hold(ScriptedDevice& device) : owner(device) {}
    ~Hold() override { (void)open(); }
    Result<void> open() override {
      owner.closed = false;
      if (owner.gate_fault) return *owner.gate_fault;
      return {};
    }
    ScriptedDevice& owner;
  };

  void work() {
    clock += cost(launches++);
    if (closed)
      most_behind_gate = std::max(most_behind_gate, ++behind_gate);
    else
      ++launched_free, clock += 100;  // the cost of starting
  }
  [[nodiscard]] std::string name() const override { return "scripted:0"; }
  [[nodiscard]] const target::Description& description() const override { return description_; }
  Result<device::Address> allocate(uint64_t) override { return device::Address{256}; }
  Result<void> release(device::Address) override { return {}; }
  Result<void> copy_in(device::Address, ByteView) override { return {}; }
  Result<void> copy_out(std::span<std::byte>, device::Address) override { return {}; }
  Result<void> fill(device::Address, std::byte, uint64_t) override { return {}; }
  Result<std::unique_ptr<device::Module>> load(ByteView, const codeobject::CodeObject&) override {
    return Error{};
  }
  Result<void> launch(const device::Kernel&, const device::Launch&) override { return {}; }
  Result<void> synchronize() override {
    CHECK_FALSE(closed);
    return {};
  }
  [[nodiscard]] device::Counters counters() const override {
    device::Counters out;
    out.launches = launches;
    out.instructions = launches * 7;
    return out;
  }
  Result<std::unique_ptr<device::Event>> make_event() override {
    if (!has_events) return device::Device::make_event();
    return std::unique_ptr<device::Event>(new Mark(*this));
  }
  Result<std::unique_ptr<device::Gate>> close_gate() override {
    if (!has_gates) return device::Device::close_gate();
    closed = true;
    ++gates;
    behind_gate = 0;
    return std::unique_ptr<device::Gate>(new Hold(*this));
  }

 private:
  target::Description description_;
};

Work work_on(ScriptedDevice& device) {
  return {[&device](uint64_t) -> Result<void> {
            device.work();
            return {};
          },
          1};
}

}  // namespace

TEST_CASE("samples hold what executions take, and nothing of starting them") {
  ScriptedDevice device;
  const auto measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->clock == Clock::device_events);
  CHECK(measured->starts_hidden);
  CHECK(measured->microseconds == std::vector<double>(7, 10.0));
  CHECK(measured->statistics.median == 10);
  CHECK(measured->executions_per_sample == 50);  // half a millisecond
  CHECK(measured->counters.launches == 1);
  CHECK(measured->counters.instructions == 7);
  CHECK(device.launched_free == 2);  // one to warm up, one to count
  CHECK(device.gates == 8);          // one to learn how long one takes
}

TEST_CASE("short executions share a sample, long ones have it alone") {
  ScriptedDevice device;
  device.cost = [](unsigned) { return 0.5; };
  auto measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->executions_per_sample == device::kMaxGatedCalls - 2);
  CHECK(device.most_behind_gate == device::kMaxGatedCalls - 2);
  CHECK(measured->statistics.median == doctest::Approx(0.5));
  device.cost = [](unsigned) { return 5000.0; };
  measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->executions_per_sample == 1);
  // Executions of several launches: all of them fit behind the gate.
  device.cost = [](unsigned) { return 0.5; };
  Work several = work_on(device);
  several.launches = 100;
  measured = measure(device, several, {});
  REQUIRE(measured.ok());
  CHECK(measured->executions_per_sample == 2);
}

TEST_CASE("executions of more launches than a gate holds up are timed without one") {
  ScriptedDevice device;
  Work large = work_on(device);
  large.launches = device::kMaxGatedCalls - 2;
  auto measured = measure(device, large, {});
  REQUIRE(measured.ok());
  CHECK(measured->starts_hidden);
  CHECK(measured->executions_per_sample == 1);
  const unsigned gates = device.gates;
  large.launches = device::kMaxGatedCalls - 1;
  measured = measure(device, large, {});
  REQUIRE(measured.ok());
  CHECK(device.gates == gates);
  CHECK_FALSE(measured->starts_hidden);
  CHECK(measured->executions_per_sample == 1);
  CHECK(measured->not_hidden.find("255 launches") != std::string::npos);
  CHECK(measured->not_hidden.find("at most 254") != std::string::npos);
}

TEST_CASE("executions are numbered one after the other") {
  ScriptedDevice device;
  std::vector<uint64_t> numbers;
  const Work work = {[&](uint64_t number) -> Result<void> {
                       numbers.push_back(number);
                       device.work();
                       return {};
                     },
                     1};
  REQUIRE(measure(device, work, {}).ok());
  for (size_t i = 0; i < numbers.size(); ++i) CHECK(numbers[i] == i);
}

TEST_CASE("a device without gates is timed and the cost of starting told") {
  ScriptedDevice device;
  device.has_gates = false;
  const auto measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK_FALSE(measured->starts_hidden);
  CHECK(measured->not_hidden.find("holding up work") != std::string::npos);
  CHECK(measured->host_microseconds == 0);
  CHECK(measured->statistics.median == 110);
  CHECK(text_of(*measured).find("cost of starting") != std::string::npos);
}

TEST_CASE("a device without events counts, and has no times") {
  ScriptedDevice device;
  device.has_events = false;
  const auto measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->clock == Clock::counters);
  CHECK(measured->microseconds.empty());
  CHECK(measured->counters.instructions == 7);
  CHECK(device.launches == 1);
}

TEST_CASE("a clock that slows down and a sample that is off are told") {
  ScriptedDevice device;
  device.cost = [](unsigned launch) { return 10.0 + 0.01 * launch; };
  auto measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->statistics.drifts);
  CHECK(text_of(*measured).find("drifting") != std::string::npos);
  device.launches = 0;
  device.cost = [](unsigned launch) { return launch == 150 ? 900.0 : 10.0; };
  measured = measure(device, work_on(device), {});
  REQUIRE(measured.ok());
  CHECK(measured->statistics.outliers.size() == 1);
  CHECK(measured->statistics.median == 10);
  CHECK(text_of(*measured).find("1 outlier") != std::string::npos);
}

TEST_CASE("what fails ends the measurement, and the gate opens") {
  ScriptedDevice device;
  const Work failing = {[&](uint64_t number) -> Result<void> {
                          device.work();
                          if (number == 20) return Error{.code = Code::machine, .reason = "driver"};
                          return {};
                        },
                        1};
  const auto failed = measure(device, failing, {});
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().reason == "driver");
  CHECK_FALSE(device.closed);

  device.gate_fault = Error{.code = Code::machine, .reason = "gate-expired"};
  const auto expired = measure(device, work_on(device), {});
  REQUIRE_FALSE(expired.ok());
  CHECK(expired.error().reason == "gate-expired");

  device.gate_fault.reset();
  Protocol stopped;
  stopped.check = [&]() -> Result<void> {
    if (device.gates > 3) return Error{.code = Code::interrupted, .reason = "interrupted"};
    return {};
  };
  device.gates = 0;
  const auto interrupted = measure(device, work_on(device), stopped);
  REQUIRE_FALSE(interrupted.ok());
  CHECK(interrupted.error().code == Code::interrupted);
  CHECK(device.gates == 4);
}
