#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "base/file.h"
#include "conformance.h"
#include "device/hip/hip.h"
#include "target_files.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

Backend null_backend(const std::string& stem) {
  const auto description = shipped_target(stem);
  return {"null:" + stem, description.arch.base, false,
          [description] { return device::open_null(description); }};
}

Backend emulator_backend(const std::string& stem) {
  const auto description = shipped_target(stem);
  return {"emulator:" + stem, description.arch.base, true, [description] {
            device::OpenOptions options;
            options.module_folder = HIPPLAN_MODULE_FOLDER;
            return device::open_emulator(description, options);
          }};
}

/// The hip device over the stand-in, which is one device for the whole program.
Backend hip_backend() {
  const auto description = shipped_target("mi300x");
  return {"hip:0", description.arch.base, true,
          [description]() -> Result<std::unique_ptr<device::Device>> {
            HIPPLAN_TRY_ASSIGN(auto runtime, device::hip::Runtime::open(HIPPLAN_HIP_STAND_IN));
            return device::hip::open_device(runtime, 0, description);
          },
          true};
}

std::vector<Backend> backends() {
  std::vector<Backend> out = {null_backend("mi300x"), hip_backend()};
  for (const char* stem : {"mi210", "mi300x", "mi355x", "rx7900xtx", "strix-halo", "rx9070xt"})
    out.push_back(emulator_backend(stem));
  return out;
}

/// Throws an E when it is copied while it is armed.
template <class E>
struct ThrowingCopy {
  explicit ThrowingCopy(std::shared_ptr<bool> when) : armed(std::move(when)) {}
  ThrowingCopy(const ThrowingCopy& other) : armed(other.armed) {
    if (*armed) throw E{};
  }
  ThrowingCopy& operator=(const ThrowingCopy&) = delete;
  bool operator()() const { return false; }
  std::shared_ptr<bool> armed;
};

/// What opening an emulator says when an E is thrown in its module.
template <class E>
Error opened_with_throw() {
  const auto armed = std::make_shared<bool>(false);
  device::OpenOptions options;
  options.module_folder = HIPPLAN_MODULE_FOLDER;
  options.interrupted = ThrowingCopy<E>(armed);
  *armed = true;
  const auto opened = device::open_emulator(shipped_target("mi300x"), options);
  REQUIRE_FALSE(opened.ok());
  CHECK(opened.error().where == "emulator:gfx942");
  return opened.error();
}

Bytes code_for(const Backend& backend) {
  auto code = read_file(std::string(HIPPLAN_CONFORMANCE_FOLDER "/") + backend.arch + ".hsaco");
  REQUIRE_MESSAGE(code.ok(), backend.arch);
  return std::move(code).value();
}

}  // namespace

TEST_CASE("a file that is no emulator's module is told by its place, with what to do") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / cat("hipplan-no-emulator-", ::getpid());
  fs::create_directories(folder);
  device::OpenOptions options;
  options.module_folder = folder.string();
  const auto absent = device::open_emulator(shipped_target("mi300x"), options);
  fs::create_symlink(HIPPLAN_HIP_STAND_IN, folder / "libhipplan-emulator.so");
  const auto other = device::open_emulator(shipped_target("mi300x"), options);
  fs::remove_all(folder);
  REQUIRE_FALSE(absent.ok());
  CHECK(absent.error().reason == "no-emulator");
  REQUIRE_FALSE(other.ok());
  CHECK(other.error().reason == "emulator-version");
  for (const Error& error : {absent.error(), other.error()}) {
    CHECK(error.where.rfind(folder.string(), 0) == 0);
    CHECK_FALSE(error.advice.empty());
  }
  auto nvidia = shipped_target("h200");
  options.module_folder = HIPPLAN_MODULE_FOLDER;
  const auto refused = device::open_emulator(nvidia, options);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().reason == "arch");
  CHECK(refused.error().where == "emulator:sm_90");
}

TEST_CASE("only missing memory is told as such when an emulator opens") {
  const Error memory = opened_with_throw<std::bad_alloc>();
  CHECK(memory.code == Code::machine);
  CHECK(memory.reason == "out-of-memory");
  for (const Error& error :
       {opened_with_throw<std::bad_function_call>(), opened_with_throw<int>()}) {
    CHECK(error.code == Code::internal);
    CHECK(error.reason == "exception");
  }
}

TEST_CASE("every device keeps what is written to its memory") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_memory(backend);
  }
}

TEST_CASE("every device loads modules, many at once, and refuses what is none") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_modules(backend, code_for(backend));
  }
}

TEST_CASE("every device launches with all kinds of arguments, grids and LDS") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_launches(backend, code_for(backend));
  }
}

TEST_CASE("every device serves several threads") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_threads(backend, code_for(backend));
  }
}

TEST_CASE("every device times its work behind a gate, or says that it cannot") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_timing(backend, code_for(backend));
  }
}

TEST_CASE("every device replays recorded launches, or says that it cannot") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_replays(backend, code_for(backend));
  }
}

TEST_CASE("every device says what its driver tells of it, or that it has none") {
  for (const auto& backend : backends()) {
    CAPTURE(backend.name);
    check_facts(backend);
  }
}
