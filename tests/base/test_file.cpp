#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "base/file.h"
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

TEST_CASE("files that only look like temporaries are left alone") {
  const Folder folder;
  for (const char* name :
       {"a.hipplan-tmp-", "a.hipplan-tmp-x", "a.hipplan-tmp--5", "aa.hipplan-tmp-999999999-0"})
    std::ofstream(folder / name) << "mine";
  REQUIRE(write_file(folder / "a", as_bytes("new")).ok());
  CHECK(folder.names().size() == 5);
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
