#include "conformance.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <numeric>
#include <thread>

#include "codeobject/codeobject.h"

namespace hipplan::test {
namespace {

std::unique_ptr<device::Device> open(const Backend& backend) {
  auto device = backend.open();
  REQUIRE_MESSAGE(device.ok(), backend.name, ": ", (device.ok() ? "" : device.error().text()));
  return std::move(device).value();
}

template <class T>
void put(Bytes& block, T value) {
  while (block.size() % sizeof(T) != 0) block.push_back(std::byte{0});
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  block.insert(block.end(), from, from + sizeof(T));
}

const device::Kernel& kernel_of(device::Module& module, const char* name) {
  const auto kernel = module.kernel(name);
  REQUIRE_MESSAGE(kernel.ok(), name);
  return **kernel;
}

std::vector<uint32_t> words_at(device::Device& device, device::Address from, size_t count) {
  std::vector<uint32_t> out(count);
  REQUIRE(device.copy_out(std::as_writable_bytes(std::span(out)), from).ok());
  return out;
}

device::Address put_words(device::Device& device, const std::vector<uint32_t>& words) {
  const auto at = device.allocate(words.size() * 4);
  REQUIRE(at.ok());
  REQUIRE(device.copy_in(*at, std::as_bytes(std::span(words))).ok());
  return *at;
}

/// One condition, the same answer on every device.
void must_say(const Error& error, Code code, const std::string& reason,
              const device::Device& device) {
  CAPTURE(error.text());
  CHECK(error.code == code);
  CHECK(error.reason == reason);
  CHECK(error.where.rfind(device.name(), 0) == 0);
}

/// What no device launches.
void check_refused_launches(const Backend& backend, device::Device& device, ByteView code,
                            const device::Kernel& kernel) {
  const auto refused = [&](const device::Launch& launch, Code as, const char* reason) {
    const auto done = device.launch(kernel, launch);
    REQUIRE_FALSE(done.ok());
    must_say(done.error(), as, reason, device);
    CHECK(done.error().text().find("no_arguments") != std::string::npos);
  };
  device::Launch launch;
  launch.grid = {1, 0, 1};
  refused(launch, Code::bad_input, "grid");
  launch.grid = {};
  for (const device::Dim3 block :
       {device::Dim3{0, 1, 1}, device::Dim3{1025, 1, 1}, device::Dim3{64, 64, 1},
        device::Dim3{0x10000, 0x10000, 0x10000}}) {
    launch.block = block;
    refused(launch, Code::bad_input, "block");
  }
  launch.block = {};
  launch.dynamic_lds_bytes = device.description().lds_bytes_per_workgroup + 1;
  refused(launch, Code::unusable, "lds");

  const auto other = open(backend);
  auto loaded = other->load(code);
  REQUIRE(loaded.ok());
  const auto& foreign = kernel_of(**loaded, "no_arguments");
  const auto launched = device.launch(foreign, device::Launch{});
  REQUIRE_FALSE(launched.ok());
  must_say(launched.error(), Code::internal, "foreign-kernel", device);
  if (!backend.times) return;
  const device::KernelLaunch launches[] = {{&foreign, {}}};
  const auto replay = device.make_replay(launches);
  REQUIRE_FALSE(replay.ok());
  must_say(replay.error(), Code::internal, "foreign-kernel", device);
}

void add_one(device::Device& device, device::Module& module, device::Address at, uint32_t count) {
  Bytes arguments;
  put(arguments, at);
  put(arguments, count);
  device::Launch launch;
  launch.grid = {(count + 63) / 64, 1, 1};
  launch.block = {64, 1, 1};
  launch.arguments = arguments;
  const auto done = device.launch(kernel_of(module, "add_one"), launch);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().text()));
  REQUIRE(device.synchronize().ok());
}

}  // namespace

void check_memory(const Backend& backend) {
  const auto device = open(backend);
  CHECK(device->description().arch.base == backend.arch);
  // Odd sizes, and copies to and from the middle of an allocation.
  for (const size_t bytes : {size_t{1}, size_t{3}, size_t{255}, size_t{4097}}) {
    const auto at = device->allocate(bytes);
    REQUIRE(at.ok());
    CHECK(*at % 256 == 0);
    Bytes pattern(bytes);
    for (size_t i = 0; i < bytes; ++i) pattern[i] = static_cast<std::byte>(i * 7 + 1);
    REQUIRE(device->copy_in(*at, pattern).ok());
    REQUIRE(device->fill(*at + bytes / 2, std::byte{0xee}, bytes - bytes / 2).ok());
    Bytes back(bytes);
    REQUIRE(device->copy_out(back, *at).ok());
    for (size_t i = 0; i < bytes; ++i)
      CHECK(back[i] == (i < bytes / 2 ? pattern[i] : std::byte{0xee}));
    CHECK(device->release(*at).ok());
  }
  const auto nothing = device->allocate(0);
  REQUIRE(nothing.ok());
  CHECK(device->copy_in(*nothing, {}).ok());
  CHECK(device->fill(*nothing, std::byte{1}, 0).ok());
  CHECK(device->release(*nothing).ok());

  const auto twice = device->allocate(64);
  REQUIRE(twice.ok());
  CHECK(device->release(*twice).ok());
  const auto again = device->release(*twice);
  REQUIRE_FALSE(again.ok());
  must_say(again.error(), Code::machine, "bad-address", *device);

  if (!device->facts().ok()) {  // what a driver says of it is the driver's
    Bytes bytes(16);
    for (const auto& done : {device->copy_in(16, bytes), device->copy_out(bytes, 16),
                             device->fill(16, std::byte{1}, 16)}) {
      REQUIRE_FALSE(done.ok());
      must_say(done.error(), Code::machine, "bad-address", *device);
    }
  }

  const auto huge = device->allocate(uint64_t{1} << 60);
  REQUIRE_FALSE(huge.ok());
  must_say(huge.error(), Code::machine, "device-memory", *device);
}

void check_modules(const Backend& backend, ByteView code) {
  const auto device = open(backend);
  Bytes broken(code.begin(), code.end());
  broken.resize(broken.size() / 2);
  CHECK_FALSE(device->load(broken).ok());
  CHECK_FALSE(device->load({}).ok());
  std::vector<std::unique_ptr<device::Module>> many;
  for (int i = 0; i < 20; ++i) {
    auto module = device->load(code);
    REQUIRE_MESSAGE(module.ok(), (module.ok() ? "" : module.error().text()));
    many.push_back(std::move(module).value());
  }
  // Code that the caller has parsed is taken as that says.
  auto parsed = codeobject::parse(code, "code");
  REQUIRE(parsed.ok());
  CHECK(device->load(code, *parsed).ok());
  parsed->arch = target::Arch::parse(parsed->arch.is_amd() ? "gfx906" : "sm_100").value();
  const auto other = device->load(code, *parsed);
  REQUIRE_FALSE(other.ok());
  must_say(other.error(), Code::unusable, "driver-load", *device);

  const auto absent = many.back()->kernel("no_such_kernel");
  REQUIRE_FALSE(absent.ok());
  must_say(absent.error(), Code::unusable, "symbol", *device);
  CHECK(absent.error().text().find("no_such_kernel") != std::string::npos);
  CHECK(&kernel_of(*many.back(), "add_one") == &kernel_of(*many.back(), "add_one"));
}

void check_launches(const Backend& backend, ByteView code) {
  const auto device = open(backend);
  auto loaded = device->load(code);
  REQUIRE(loaded.ok());
  device::Module& module = **loaded;
  check_refused_launches(backend, *device, code, kernel_of(module, "no_arguments"));
  CHECK(device->launch(kernel_of(module, "no_arguments"), device::Launch{}).ok());
  CHECK(device->synchronize().ok());
  CHECK(device->counters().launches == 1);
  if (!backend.executes) return;

  // A grid that its last group does not fill.
  std::vector<uint32_t> words(1000);
  std::iota(words.begin(), words.end(), 5u);
  const auto at = put_words(*device, words);
  add_one(*device, module, at, 999);
  for (size_t i = 0; i < 999; ++i) ++words[i];
  CHECK(words_at(*device, at, 1000) == words);

  // Every kind of argument at its natural alignment.
  struct Mixed {
    uint8_t small;
    uint16_t middle;
    uint32_t word;
    uint64_t wide;
  };
  const auto out = device->allocate(80);
  REQUIRE(out.ok());
  Bytes arguments;
  put(arguments, *out);
  put(arguments, uint8_t{0xab});
  put(arguments, uint16_t{0xabcd});
  put(arguments, uint32_t{0xabcdef01});
  put(arguments, uint64_t{0xabcdef0123456789});
  put(arguments, 1.5f);
  put(arguments, -2.25);
  Mixed mixed{};
  mixed.small = 9, mixed.middle = 10, mixed.word = 11, mixed.wide = 12;
  put(arguments, uint64_t{});  // the structure's alignment is 8: its place
  arguments.resize(arguments.size() - 8);
  const auto* raw = reinterpret_cast<const std::byte*>(&mixed);
  arguments.insert(arguments.end(), raw, raw + sizeof(mixed));
  device::Launch launch;
  launch.block = {64, 1, 1};
  launch.arguments = arguments;
  REQUIRE(device->launch(kernel_of(module, "store_arguments"), launch).ok());
  REQUIRE(device->synchronize().ok());
  std::vector<uint64_t> got(10);
  REQUIRE(device->copy_out(std::as_writable_bytes(std::span(got)), *out).ok());
  CHECK(got == std::vector<uint64_t>{0xab, 0xabcd, 0xabcdef01, 0xabcdef0123456789,
                                     std::bit_cast<uint32_t>(1.5f), std::bit_cast<uint64_t>(-2.25),
                                     9, 10, 11, 12});

  // Three dimensions of grid and block.
  const auto place = put_words(*device, std::vector<uint32_t>(6 * 4 * 6));
  Bytes place_arguments;
  put(place_arguments, place);
  put(place_arguments, uint32_t{6});
  put(place_arguments, uint32_t{4});
  device::Launch cube;
  cube.grid = {2, 2, 3};
  cube.block = {3, 2, 2};
  cube.arguments = place_arguments;
  REQUIRE(device->launch(kernel_of(module, "store_place"), cube).ok());
  REQUIRE(device->synchronize().ok());
  const auto places = words_at(*device, place, 6 * 4 * 6);
  for (uint32_t z = 0; z < 6; ++z)
    for (uint32_t y = 0; y < 4; ++y)
      for (uint32_t x = 0; x < 6; ++x)
        CHECK(places[(z * 4 + y) * 6 + x] == x + 1000 * y + 1000000 * z);

  // LDS that the launch sizes.
  std::vector<uint32_t> row(64);
  std::iota(row.begin(), row.end(), 0u);
  const auto row_at = put_words(*device, row);
  Bytes row_arguments;
  put(row_arguments, row_at);
  device::Launch through_lds;
  through_lds.block = {64, 1, 1};
  through_lds.dynamic_lds_bytes = 256;
  through_lds.arguments = row_arguments;
  REQUIRE(device->launch(kernel_of(module, "reverse"), through_lds).ok());
  REQUIRE(device->synchronize().ok());
  CHECK(words_at(*device, row_at, 64) == std::vector<uint32_t>(row.rbegin(), row.rend()));
}

void check_threads(const Backend& backend, ByteView code) {
  if (!backend.executes) return;
  const auto device = open(backend);
  auto loaded = device->load(code);
  REQUIRE(loaded.ok());
  // Doctest's checks are not for threads: each one only records what it got.
  constexpr int kThreads = 8, kRounds = 5;
  std::vector<device::Address> places;
  for (int i = 0; i < kThreads; ++i)
    places.push_back(put_words(*device, std::vector<uint32_t>(256, static_cast<uint32_t>(i))));
  const device::Kernel& kernel = kernel_of(**loaded, "add_one");
  std::vector<int> failures(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      Bytes arguments;
      put(arguments, places[static_cast<size_t>(i)]);
      put(arguments, uint32_t{256});
      device::Launch launch;
      launch.grid = {4, 1, 1};
      launch.block = {64, 1, 1};
      launch.arguments = arguments;
      for (int round = 0; round < kRounds; ++round)
        if (!device->launch(kernel, launch).ok() || !device->synchronize().ok())
          ++failures[static_cast<size_t>(i)];
    });
  for (auto& thread : threads) thread.join();
  CHECK(failures == std::vector<int>(kThreads));
  for (int i = 0; i < kThreads; ++i)
    CHECK(words_at(*device, places[static_cast<size_t>(i)], 256) ==
          std::vector<uint32_t>(256, static_cast<uint32_t>(i + kRounds)));
}

}  // namespace hipplan::test
