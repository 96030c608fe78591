// Writers that are killed, that run out of space, that follow dead ones; files that shrink.
// HIPPLAN_CRASH_RUNS sets how many writers are killed (1000, with sanitizers 30). Tools that are
// killed: kill_tools.sh.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>

#include "plan/bundle.h"
#include "sample.h"
#include "sanitized.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;
namespace fs = std::filesystem;

namespace {

/// Some 200 KB that do not compress well.
Writer& library() {
  static Writer writer = [] {
    WriteOptions options;
    options.compress_code = false;
    return Writer(options);
  }();
  if (writer.entry_count() == 0)
    for (unsigned i = 0; i < 40; ++i) {
      Plan plan = sample_plan(i);
      plan.payload.kernels = {sample_kernel("", sample_code(1000 + i, 5000))};
      REQUIRE(writer.add(plan));
    }
  return writer;
}

size_t files_in(const fs::path& folder) {
  size_t out = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++out;
  return out;
}

/// Some times what one write takes, in microseconds: a writer that is killed within it has written
/// nothing, a part, or more than once.
unsigned window(const fs::path& path, Writer& writer) {
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(writer.write(path));
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return static_cast<unsigned>(std::clamp(4 * took.count(), 4000.0, 15000.0));
}

/// Forks; the child writes over and over until it is killed.
pid_t start_writer(const fs::path& path, Writer& writer) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  while (true)
    if (!writer.write(path)) ::_exit(1);
}

}  // namespace

TEST_CASE("a writer that is killed leaves the old file, the new one or none") {
  const char* asked = std::getenv("HIPPLAN_CRASH_RUNS");
  const int runs = asked != nullptr ? std::atoi(asked) : kSanitized ? 30 : 1000;
  const ScratchFolder folder;
  const auto path = folder / "x.hplan";
  const Bytes fresh = *library().to_bytes(), old = file_of({sample_plan(1)});
  const unsigned longest = window(path, library());
  std::mt19937 random(5);
  int none = 0, kept = 0, replaced = 0;
  for (int i = 0; i < runs; ++i) {
    std::error_code ignored;
    fs::remove(path, ignored);
    if (i % 2 == 0) REQUIRE(write_file(path, old));
    const pid_t child = start_writer(path, library());
    REQUIRE(child > 0);
    ::usleep(static_cast<useconds_t>(random() % longest));
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    if (!fs::exists(path)) {
      ++none;
      CHECK(i % 2 == 1);
      continue;
    }
    const auto found = read_file(path);
    REQUIRE(found);
    const bool is_old = *found == old;
    CHECK((is_old || *found == fresh));
    ++(is_old ? kept : replaced);
  }
  MESSAGE("no file ", none, ", the old one ", kept, ", the new one ", replaced);
  if (runs >= 1000) {
    CHECK(kept > 0);
    CHECK(replaced > 0);
  }
  // What dead writers left goes with the next write.
  REQUIRE(library().write(path));
  CHECK(*read_file(path) == fresh);
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("no space: a failure of the machine, the old file stays, nothing is left over") {
  const ScratchFolder folder;
  const auto path = folder / "x.hplan";
  const Bytes old = file_of({sample_plan(1)}), fresh = *library().to_bytes();
  std::mt19937 random(9);
  for (int i = 0; i < 8; ++i) {
    REQUIRE(write_file(path, old));
    const pid_t child = ::fork();
    if (child == 0) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlim_t most = 1 + random() % (fresh.size() - 1);
      const rlimit limit{most, most};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const auto written = library().write(path);
      ::_exit(!written && exit_code(written.error().code) == 6 ? 0 : 1);
    }
    random();
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(*read_file(path) == old);
    CHECK(files_in(folder.path()) == 1);
  }
}

TEST_CASE("a file that shrinks after it was opened is still what it was") {
  const ScratchFolder folder;
  const auto path = folder / "x.hplan";
  REQUIRE(library().write(path));
  const auto view = FileView::open(path);
  REQUIRE(view);
  const Digest before = sha256(view->view());
  fs::resize_file(path, 10);
  CHECK(sha256(view->view()) == before);
}

TEST_CASE("looking into a large library takes little memory") {
  if (kSanitized) return;
  const ScratchFolder folder;
  const auto path = folder / "large.hplan";
  {
    WriteOptions options;
    options.compress_code = false;
    Writer writer(options);
    for (unsigned i = 0; i < 12; ++i) {
      Plan plan = sample_plan(i);
      plan.payload.kernels = {sample_kernel("", sample_code(2000 + i, 4 << 20))};
      REQUIRE(writer.add(plan));
    }
    REQUIRE(writer.write(path));
  }
  REQUIRE(fs::file_size(path) > (48u << 20));
  const pid_t child = ::fork();
  if (child == 0) {
    // What is private and writable may grow by 16 MiB from here.
    std::FILE* status = std::fopen("/proc/self/status", "r");
    char line[256];
    unsigned long data = 0;
    while (std::fgets(line, sizeof line, status) != nullptr)
      (void)std::sscanf(line, "VmData: %lu kB", &data);
    std::fclose(status);
    const rlimit limit{(data << 10) + (16u << 20), (data << 10) + (16u << 20)};
    ::setrlimit(RLIMIT_DATA, &limit);
    try {
      const auto file = plan::File::open(path, Check::lookup);
      unsigned seen = 0;
      const auto walked = file->for_each([&](const EntryInfo& entry) {
        seen += file->read_plan(entry, false).ok();
        return true;
      });
      // One whole plan fits as well, and a check of every byte.
      const auto one = file->find(sample_key(3), "gfx942");
      const bool whole = file->read_plan(**one, true).ok();
      const bool checked = plan::File::open(path, Check::full).ok();
      ::_exit(walked && seen == 12 && whole && checked ? 0 : 1);
    } catch (const std::bad_alloc&) {
      ::_exit(2);
    }
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
