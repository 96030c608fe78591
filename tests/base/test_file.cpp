#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <functional>
#include <thread>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/interruption.h"
#include "base/shared_library.h"

using namespace hipplan;
namespace fs = std::filesystem;

namespace {

/// A new folder that goes away with the object.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "hipplan-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] fs::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path_))
      out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  fs::path path_;
};

std::string content(const fs::path& path) {
  const auto bytes = read_file(path);
  return bytes ? std::string(as_text(*bytes)) : "unreadable: " + bytes.error().text();
}

/// Runs `work` in a child process; its exit status, or 128 + the signal that ended it.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("files come back as written, empty ones too") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("hello")).ok());
  CHECK(content(folder / "a") == "hello");
  REQUIRE(write_file(folder / "a", as_bytes("")).ok());
  CHECK(content(folder / "a").empty());
  CHECK(folder.names() == std::vector<std::string>{"a"});
  const auto view = FileView::open(folder / "a");
  REQUIRE(view.ok());
  CHECK(view->view().empty());
}

TEST_CASE("a view stays valid when it is copied, moved and its file replaced") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("first")).ok());
  FileView kept;
  {
    auto opened = FileView::open(folder / "a");
    REQUIRE(opened.ok());
    kept = std::move(*opened);
  }
  REQUIRE(write_file(folder / "a", as_bytes("second")).ok());
  CHECK(as_text(kept.view()) == "first");
  CHECK(content(folder / "a") == "second");
}

TEST_CASE("what cannot be opened is told by class") {
  const Folder folder;
  CHECK(FileView::open(folder / "none").error().code == Code::bad_input);
  CHECK(FileView::open(folder.path()).error().what == "is a folder");
  REQUIRE(write_file(folder / "a", as_bytes("12345")).ok());
  CHECK(FileView::open(folder / "a", 5).ok());
  CHECK(FileView::open(folder / "a", 4).error().reason == "too-large");
  CHECK(FileView::open(folder / "a" / "b").error().code == Code::bad_input);
}

TEST_CASE("pipes are read to their end, within the limit") {
  const Folder folder;
  const fs::path fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string text(100000, 'x');
  for (const uint64_t limit : {uint64_t{100000}, uint64_t{99999}}) {
    const pid_t writer = ::fork();
    if (writer == 0) {
      ::signal(SIGPIPE, SIG_IGN);
      std::ofstream(fifo) << text;
      ::_exit(0);
    }
    const auto read = FileView::open(fifo, limit);
    if (limit == text.size()) {
      REQUIRE(read.ok());
      CHECK(as_text(read->view()) == text);
    } else {
      CHECK(read.error().reason == "too-large");
    }
    ::waitpid(writer, nullptr, 0);
  }
}

TEST_CASE("a write that is not committed leaves nothing") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("old")).ok());
  {
    auto file = AtomicFile::create(folder / "a");
    REQUIRE(file.ok());
    REQUIRE(file->write(as_bytes("new content")).ok());
    CHECK(file->size() == 11);
    CHECK(content(folder / "a") == "old");
    CHECK(folder.names().size() == 2);
    AtomicFile moved = std::move(*file);
    CHECK(moved.size() == 11);
  }
  CHECK(content(folder / "a") == "old");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("write_at fills in what was left out before") {
  const Folder folder;
  auto file = AtomicFile::create(folder / "a");
  REQUIRE(file.ok());
  REQUIRE(file->write(as_bytes("????body")).ok());
  REQUIRE(file->write_at(0, as_bytes("head")).ok());
  CHECK(file->size() == 8);
  REQUIRE(file->write(as_bytes("end")).ok());
  REQUIRE(file->commit().ok());
  CHECK(content(folder / "a") == "headbodyend");
}

TEST_CASE("two writers at once: the last to commit wins, both whole") {
  const Folder folder;
  auto one = AtomicFile::create(folder / "a"), two = AtomicFile::create(folder / "a");
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  REQUIRE(one->write(as_bytes("one")).ok());
  REQUIRE(two->write(as_bytes("two")).ok());
  REQUIRE(two->commit().ok());
  CHECK(content(folder / "a") == "two");
  REQUIRE(one->commit().ok());
  CHECK(content(folder / "a") == "one");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a target that is a folder, or lies in none, is refused") {
  const Folder folder;
  fs::create_directory(folder / "sub");
  CHECK(AtomicFile::create(folder / "sub").error().code == Code::bad_input);
  CHECK(AtomicFile::create(folder / "none" / "a").error().code == Code::bad_input);
  CHECK(folder.names() == std::vector<std::string>{"sub"});
}

TEST_CASE("a disk that is full gives an error and keeps the old file") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("old")).ok());
  const int status = in_child([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = write_file(folder / "a", Bytes(100000, std::byte{7}));
    if (result.ok()) return 1;
    return result.error().code == Code::machine ? 0 : 2;
  });
  CHECK(status == 0);
  CHECK(content(folder / "a") == "old");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("a folder without permission gives an error and keeps the old file") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("old")).ok());
  REQUIRE(::chmod(folder.path().c_str(), 0555) == 0);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return 3;
    const auto result = write_file(folder / "a", as_bytes("new"));
    if (result.ok()) return 1;
    return result.error().code == Code::bad_input ? 0 : 2;
  });
  ::chmod(folder.path().c_str(), 0755);
  CHECK(status == 0);
  CHECK(content(folder / "a") == "old");
}

TEST_CASE(
    "kill -9 in the middle of a write: the old file stays, the rubbish goes with the next write") {
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("old")).ok());
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto file = AtomicFile::create(folder / "a");
    if (!file || !file->write(as_bytes("half of the new cont"))) ::_exit(1);
    if (::write(ready[1], "x", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char mark = 0;
  REQUIRE(::read(ready[0], &mark, 1) == 1);
  // The writer lives: another writer must leave its temporary alone.
  REQUIRE(write_file(folder / "a", as_bytes("between")).ok());
  CHECK(folder.names().size() == 2);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  CHECK(content(folder / "a") == "between");
  CHECK(folder.names().size() == 2);
  REQUIRE(write_file(folder / "b", as_bytes("other target")).ok());
  CHECK(folder.names().size() == 3);  // only the writer of "a" cleans up after "a"
  REQUIRE(write_file(folder / "a", as_bytes("new")).ok());
  CHECK(content(folder / "a") == "new");
  CHECK(folder.names() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("names as long as a folder takes them are written, and their temporaries go") {
  const Folder folder;
  // Whole, cut, and cut where a character of two bytes would be split.
  for (const std::string& name : {std::string(241, 'a'), std::string(242, 'b'),
                                  std::string(255, 'c'), std::string(1, 'd') + [] {
                                    std::string out;
                                    while (out.size() < 254) out += "\u00e9";
                                    return out;
                                  }()}) {
    INFO(name.size());
    REQUIRE(write_file(folder / name, as_bytes("old")).ok());
    const int ended = in_child([&] {
      auto file = AtomicFile::create(folder / name);
      // Without its destructor it leaves the temporary as a killed writer does.
      ::_exit(file && file->write(as_bytes("half")).ok() ? 7 : 1);
      return 0;
    });
    CHECK(ended == 7);
    CHECK(content(folder / name) == "old");
    REQUIRE(write_file(folder / name, as_bytes("new")).ok());
    CHECK(content(folder / name) == "new");
    CHECK(folder.names() == std::vector<std::string>{name});
    fs::remove(folder / name);
  }
  CHECK(write_file(folder / std::string(256, 'e'), as_bytes("x")).error().code == Code::bad_input);
  CHECK(folder.names().empty());
}

TEST_CASE("files that only look like temporaries are left alone") {
  const Folder folder;
  for (const char* name :
       {"a.hipplan-tmp-", "a.hipplan-tmp-x", "a.hipplan-tmp--5", "aa.hipplan-tmp-999999999-0"})
    std::ofstream(folder / name) << "mine";
  REQUIRE(write_file(folder / "a", as_bytes("new")).ok());
  CHECK(folder.names().size() == 5);
}

TEST_CASE("a file that is replaced keeps its permissions, a new one has what umask leaves") {
  const Folder folder;
  const auto mode_of = [&](const char* name) {
    struct stat info{};
    REQUIRE(::stat((folder / name).c_str(), &info) == 0);
    return info.st_mode & 0777u;
  };
  const mode_t old_mask = ::umask(022);
  REQUIRE(write_file(folder / "new", as_bytes("x")).ok());
  CHECK(mode_of("new") == 0644);
  for (const mode_t mode : {0600u, 0640u, 0444u, 0666u}) {
    REQUIRE(::chmod((folder / "new").c_str(), mode) == 0);
    REQUIRE(write_file(folder / "new", as_bytes("y")).ok());
    CHECK(mode_of("new") == mode);
  }
  // While it is written it is nobody else's to read.
  REQUIRE(::chmod((folder / "new").c_str(), 0644) == 0);
  auto file = AtomicFile::create(folder / "new");
  REQUIRE(file.ok());
  CHECK(mode_of("new.hipplan-tmp-0") == 0600);
  REQUIRE(file->commit().ok());
  CHECK(mode_of("new") == 0644);
  ::umask(old_mask);
}

TEST_CASE("a file that is replaced keeps its group, and its owner where the process may") {
  if (::geteuid() != 0) return;
  const Folder folder;
  REQUIRE(write_file(folder / "a", as_bytes("x")).ok());
  if (::chown((folder / "a").c_str(), 12, 34) != 0) return;  // no such ids in this container
  REQUIRE(write_file(folder / "a", as_bytes("y")).ok());
  struct stat info{};
  REQUIRE(::stat((folder / "a").c_str(), &info) == 0);
  CHECK(info.st_uid == 12);
  CHECK(info.st_gid == 34);
}

TEST_CASE("a signal ends the wait for a pipe's other end when the caller is asked to stop") {
  const Folder folder;
  const fs::path fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  static int signals = 0;
  signals = 0;
  struct sigaction action{}, old{};
  action.sa_handler = [](int) { ++signals; };
  REQUIRE(::sigaction(SIGALRM, &action, &old) == 0);
  const itimerval every{{0, 5000}, {0, 5000}}, never{};
  REQUIRE(::setitimer(ITIMER_REAL, &every, nullptr) == 0);
  {
    const InterruptionScope scope([] { return signals >= 3; });
    CHECK(FileView::open(fifo).error().code == Code::interrupted);
    CHECK(signals >= 3);  // the first ones were no reason to stop
    CHECK(AtomicFile::create(fifo).error().code == Code::interrupted);
    const int both = ::open(fifo.c_str(), O_RDWR | O_CLOEXEC);
    CHECK(FileView::open(fifo).error().what == "stopped on request");  // opened, but silent
    ::close(both);
  }
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &old, nullptr);
}

TEST_CASE("who is asked to stop replaces no file and leaves no temporary") {
  const Folder folder;
  REQUIRE(write_file(folder / "kept", as_bytes("old")).ok());
  bool stop = false;
  const InterruptionScope scope([&stop] { return stop; });
  CHECK(write_file(folder / "kept", as_bytes("older")).ok());
  {
    auto file = AtomicFile::create(folder / "kept");
    REQUIRE(file.ok());
    REQUIRE(file->write(as_bytes("new")).ok());
    stop = true;
    CHECK(file->write(as_bytes("more")).error().code == Code::interrupted);
    CHECK(file->commit().error().code == Code::interrupted);
  }
  CHECK(content(folder / "kept") == "older");
  CHECK(std::distance(fs::directory_iterator(folder / "."), fs::directory_iterator()) == 1);
}

TEST_CASE("a lock is of the file that has the name when it is taken") {
  const Folder folder;
  REQUIRE(write_file(folder / "count", as_bytes("")).ok());
  std::vector<std::thread> threads;
  std::atomic<bool> good{true};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int turn = 0; turn < 5; ++turn) {
        const auto lock = FileLock::take(folder / "count");
        const std::string now = content(folder / "count") + "x";
        if (!lock || !write_file(folder / "count", as_bytes(now)).ok()) good = false;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(good);
  CHECK(content(folder / "count") == std::string(40, 'x'));
  CHECK(FileLock::take(folder / "none").ok());
  CHECK(FileLock::take(folder.path()).ok());
}

TEST_CASE("shared libraries: symbols are found, missing files and symbols told") {
  CHECK(SharedLibrary::open("/nonexistent/lib.so").ok() == false);
  const auto math = SharedLibrary::open("libm.so.6");
  REQUIRE(math.ok());
  auto* cosine = math->function<double(double)>("cos");
  REQUIRE(static_cast<bool>(cosine != nullptr));
  CHECK(cosine(0) == 1);
  CHECK(math->symbol("no_such_symbol_here") == nullptr);
  CHECK(fs::is_directory(own_folder()));
}
