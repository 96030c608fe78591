#include "pack/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file_lock.h"
#include "base/folder.h"

namespace hipplan::pack {
namespace {

constexpr size_t kMaxOutput = 64u << 10;

/// How the names of temporary folders begin.
constexpr char kTemporaryMark[] = ".hipplan-pack-";

/// The descriptor that holds a folder's lock; below 0 when another process holds it, or when there
/// is no such folder.
int lock_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || lock_temporary(descriptor)) return descriptor;
  ::close(descriptor);
  return -1;
}

Error failed(const std::string& program, const char* doing, int number) {
  return Error{Code::machine,
               "program-start",
               program,
               cat(doing, " failed: ", std::strerror(number)),
               "",
               "",
               ""};
}

/// A pipe whose ends close themselves and do not reach other programs that start meanwhile.
struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
};

struct Actions {
  posix_spawn_file_actions_t raw;
  Actions() { posix_spawn_file_actions_init(&raw); }
  ~Actions() { posix_spawn_file_actions_destroy(&raw); }
};

std::string read_all(int descriptor) {
  std::string out;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return out;
    const size_t room = kMaxOutput - out.size();
    out.append(buffer, std::min(room, static_cast<size_t>(got)));
  }
}

/// Fails where the status is lost: a process that ignores SIGCHLD gets none (ECHILD).
Result<int> wait_for(pid_t child, const std::string& program) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return failed(program, "waiting for the program", errno);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<Finished> run_program(const std::vector<std::string>& arguments,
                             const std::filesystem::path& folder) {
  if (arguments.empty())
    return Error{Code::internal, "program-start", "", "no program was given", "", "", ""};
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  static const char* const environment[] = {"LC_ALL=C", "PATH=/usr/local/bin:/usr/bin:/bin",
                                            nullptr};
  Pipe pipe;
  if (::pipe2(pipe.ends, O_CLOEXEC) != 0) return failed(arguments[0], "making a pipe", errno);
  Actions actions;
  posix_spawn_file_actions_addopen(&actions.raw, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions.raw, pipe.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions.raw, pipe.ends[1], STDERR_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions.raw, folder.c_str());
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &actions.raw, nullptr, argv.data(),
                                   const_cast<char* const*>(environment));
  if (error != 0) return failed(arguments[0], "starting the program", error);
  pipe.close_end(1);
  Finished out;
  out.output = read_all(pipe.ends[0]);
  HIPPLAN_TRY_ASSIGN(out.status, wait_for(child, arguments[0]));
  return out;
}

Result<TemporaryFolder> TemporaryFolder::create(const std::filesystem::path& parent) {
  // Between its making and its locking another process may take a folder for a dead one's.
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = (parent / (std::string(kTemporaryMark) + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) break;
    const int lock = lock_folder(name);
    std::error_code failed;
    if (lock >= 0 && std::filesystem::exists(name, failed)) return TemporaryFolder(name, lock);
    if (lock >= 0) ::close(lock);
  }
  return folder_error(parent, "write into", {errno, std::generic_category()});
}

void TemporaryFolder::remove_stale(const std::filesystem::path& parent) {
  std::error_code failed;
  std::vector<std::filesystem::path> found;
  for (std::filesystem::directory_iterator it(parent, failed), end; !failed && it != end;
       it.increment(failed))
    if (it->path().filename().string().starts_with(kTemporaryMark)) found.push_back(it->path());
  for (const auto& path : found) {
    const int lock = lock_folder(path);
    if (lock < 0) continue;
    std::filesystem::remove_all(path, failed);
    ::close(lock);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

Error without_temporary(Error error, const std::filesystem::path& work,
                        const std::filesystem::path& asked) {
  const auto inside = std::filesystem::path(error.where).lexically_relative(work);
  if (inside.empty() || *inside.begin() == "..") return error;
  std::filesystem::path shown = asked;
  for (const auto& part : inside)
    if (part != "." && !part.string().starts_with(kTemporaryMark)) shown /= part;
  error.where = shown.string();
  return error;
}

}  // namespace hipplan::pack
