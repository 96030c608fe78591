// Looking at files maps nothing as code and opens no vendor library: counted, since this program's
// own mmap, mprotect and dlopen stand in front of the C library's.
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "hipplan/tools.h"
#include "sanitized.h"

namespace {

struct Counts {
  unsigned mappings = 0, executable = 0, opened = 0;
};
Counts counts;

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

// Sanitizers have functions of these names themselves.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HIPPLAN_NOT_COUNTING
#endif
#endif
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(HIPPLAN_NOT_COUNTING)
extern "C" {
// NOLINTBEGIN: these are the C library's names.
__attribute__((visibility("default"))) void* mmap(void* at, size_t size, int protection, int flags,
                                                  int file, off_t offset) noexcept {
  static const auto next = real<void* (*)(void*, size_t, int, int, int, off_t)>("mmap");
  ++counts.mappings;
  if ((protection & PROT_EXEC) != 0) ++counts.executable;
  return next(at, size, protection, flags, file, offset);
}
__attribute__((visibility("default"))) void* mmap64(void* at, size_t size, int protection,
                                                    int flags, int file, off64_t offset) noexcept {
  return mmap(at, size, protection, flags, file, offset);
}
__attribute__((visibility("default"))) int mprotect(void* at, size_t size,
                                                    int protection) noexcept {
  static const auto next = real<int (*)(void*, size_t, int)>("mprotect");
  if ((protection & PROT_EXEC) != 0) ++counts.executable;
  return next(at, size, protection);
}
__attribute__((visibility("default"))) void* dlopen(const char* name, int mode) noexcept {
  static const auto next = real<void* (*)(const char*, int)>("dlopen");
  ++counts.opened;
  return next(name, mode);
}
// NOLINTEND
}
#endif

namespace {
namespace fs = std::filesystem;

constexpr bool kCounting = !hipplan::test::kSanitized;

std::string golden(const char* name) {
  return (fs::path(HIPPLAN_SOURCE_DIR) / "tests" / "golden" / "1.0" / name).string();
}

std::string output;
void keep(void*, const char* bytes, size_t size) {
  output.append(bytes, size);
}

hipplan_tool_io tool_io() {
  hipplan_tool_io io{};
  io.struct_size = sizeof(io);
  io.result = keep;
  io.jobs = 2;
  return io;
}

int inspect(const char* command, const std::vector<const char*>& arguments,
            const char* part = nullptr, const char* target = nullptr) {
  hipplan_inspect_options options{};
  options.struct_size = sizeof(options);
  options.command = command;
  options.arguments = {arguments.data(), arguments.size()};
  options.part = part;
  if (part != nullptr) options.output = "-";
  if (target != nullptr) options.targets = {&target, 1};
  options.date = 0;
  const auto io = tool_io();
  return hipplan_tool_inspect(&options, &io);
}

int verify(const std::vector<const char*>& paths, const char* target) {
  hipplan_verify_options options{};
  options.struct_size = sizeof(options);
  options.paths = {paths.data(), paths.size()};
  if (target != nullptr) options.targets = {&target, 1};
  const auto io = tool_io();
  return hipplan_tool_verify(&options, &io);
}

}  // namespace

TEST_CASE("the counters count") {
  if (!kCounting) return;
  counts = {};
  void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(page != MAP_FAILED);
  ::mprotect(page, 4096, PROT_READ);
  ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
  ::munmap(page, 4096);
  if (void* library = ::dlopen("libm.so.6", RTLD_LAZY)) ::dlclose(library);
  CHECK(counts.mappings == 1);
  CHECK(counts.executable == 2);
  CHECK(counts.opened == 1);
}

TEST_CASE("inspect, verify and diff make no executable mapping and open no library") {
  if (!kCounting) return;
  const std::string library = golden("library.hplan"), single = golden("single.hplan"),
                    is_signed = golden("signed.hplan"), envelope = golden("single.envelope");
  // Beyond 1 MiB a file is mapped and not read.
  const fs::path large =
      fs::temp_directory_path() / ("hipplan-large-" + std::to_string(::getpid()));
  fs::copy_file(library, large, fs::copy_options::overwrite_existing);
  fs::resize_file(large, 2 << 20);
  counts = {};
  CHECK(inspect("show", {library.c_str()}) == 0);
  CHECK(inspect("show", {single.c_str(), is_signed.c_str(), envelope.c_str()}) == 0);
  CHECK(inspect("show", {large.c_str()}) == HIPPLAN_DAMAGED);
  CHECK(counts.mappings > 0);
  CHECK(inspect("diff", {library.c_str(), single.c_str()}) == HIPPLAN_NEGATIVE);
  CHECK(inspect("diff", {single.c_str(), single.c_str()}) == 0);
  CHECK(inspect("size", {library.c_str()}) == 0);
  CHECK(inspect("signatures", {is_signed.c_str()}) == 0);
  CHECK(inspect("extract", {single.c_str()}, "code") == 0);
  CHECK(inspect("extract", {single.c_str()}, "envelope") == 0);
  (void)inspect("resolve", {library.c_str()}, nullptr, "gfx942");
  (void)inspect("sbom", {library.c_str()});
  (void)inspect("why", {single.c_str()});
  (void)verify({library.c_str(), single.c_str(), is_signed.c_str(), large.c_str()}, nullptr);
  (void)verify({library.c_str()}, "gfx942");
  CHECK(!output.empty());
  CHECK(counts.executable == 0);
  CHECK(counts.opened == 0);
  fs::remove(large);
}
