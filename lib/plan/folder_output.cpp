#include "plan/folder_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/file_lock.h"
#include "base/path_fault.h"
#include "base/replaced_file.h"
#include "plan/errors.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

constexpr char kStagingMark[] = ".hipplan-tmp-";

Error system_error(const fs::path& path, const std::string& doing, int number) {
  return machine("io", path.string(),
                 doing + " failed: " + std::generic_category().message(number));
}

/// Removes a staging folder whose writer is gone: nobody holds its lock.
void remove_stale_folder(const fs::path& staging) {
  const int opened = ::open(staging.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0) return;
  std::error_code ignored;
  if (lock_temporary(opened)) fs::remove_all(staging, ignored);
  ::close(opened);
}

Result<void> sync_one(const fs::path& folder) {
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return system_error(folder, "open", errno);
  const int failed = ::fsync(opened) != 0 && errno != EINVAL ? errno : 0;
  ::close(opened);
  if (failed != 0) return system_error(folder, "fsync", failed);
  return {};
}

/// The folders on the way to `folder` that do not exist yet, the outermost first.
std::vector<fs::path> missing_folders(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code ignored;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, ignored); at = at.parent_path()) {
    if (at.has_filename()) out.insert(out.begin(), at);
    if (at == at.parent_path()) break;
  }
  return out;
}

/// The file that `written` is to replace keeps its permissions and owner.
void keep_access(const fs::path& place, const fs::path& written) {
  const int opened = ::open(written.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0) return;  // it may be read by nobody, and stays so
  take_access_of(place, opened);
  ::close(opened);
}

}  // namespace

Error folder_error(const fs::path& folder, const std::error_code& why) {
  const int number = why.value();
  const bool callers_fault = is_wrong_path(number) || number == EEXIST || number == EINVAL;
  const std::string what = "cannot make the folder: " + why.message();
  return callers_fault ? bad_input("open", folder.string(), what)
                       : machine("io", folder.string(), what);
}

FolderOutput::FolderOutput(FolderOutput&& other) noexcept
    : folder_(std::move(other.folder_)),
      staging_(std::exchange(other.staging_, {})),
      made_(std::exchange(other.made_, {})),
      members_(std::move(other.members_)),
      lock_(std::exchange(other.lock_, -1)) {}

FolderOutput::~FolderOutput() {
  close();
  std::error_code ignored;
  for (auto at = made_.rbegin(); at != made_.rend(); ++at) fs::remove(*at, ignored);
}

void FolderOutput::close() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
  staging_.clear();
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

Result<FolderOutput> FolderOutput::create(const fs::path& folder) {
  FolderOutput out;
  out.folder_ = folder.has_filename() ? folder : folder.parent_path();
  if (out.folder_.empty()) out.folder_ = folder;
  out.made_ = missing_folders(out.folder_);
  std::error_code failed;
  fs::create_directories(out.folder_, failed);
  if (!failed && !fs::is_directory(out.folder_, failed))
    failed = std::make_error_code(std::errc::not_a_directory);
  if (failed) return folder_error(folder, failed);
  HIPPLAN_TRY(out.open_staging());
  return out;
}

Result<void> FolderOutput::open_staging() {
  constexpr int kAttempts = 1000;
  for (int number = 0; number < kAttempts; ++number) {
    const fs::path at = folder_ / (kStagingMark + std::to_string(number));
    remove_stale_folder(at);
    // What is to replace a file is nobody else's to read before it has that file's permissions.
    if (::mkdir(at.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;  // of a writer that is at work
      return folder_error(folder_, {errno, std::generic_category()});
    }
    lock_ = ::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0 && lock_temporary(lock_)) {
      staging_ = at;
      return {};
    }
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  }
  return system_error(folder_, "making a temporary folder", EEXIST);
}

fs::path FolderOutput::place(const fs::path& name) {
  // Names without a suffix, so that nobody who searches the folder takes them for results.
  members_.push_back({staging_ / std::to_string(members_.size()), name});
  return members_.back().written;
}

Result<void> FolderOutput::check_places() const {
  for (const auto& member : members_) {
    std::error_code ignored;
    if (fs::is_directory(folder_ / member.name, ignored))
      return bad_input("open", (folder_ / member.name).string(), "is a folder", "a file name");
  }
  return {};
}

Result<void> FolderOutput::commit() {
  HIPPLAN_TRY(check_places());
  std::set<fs::path> touched{folder_};
  for (const auto& member : members_) {
    const fs::path parent = (folder_ / member.name).parent_path();
    if (!touched.insert(parent).second) continue;
    std::error_code failed;
    fs::create_directories(parent, failed);
    if (failed) return folder_error(parent, failed);
  }
  for (const auto& member : members_) {
    const fs::path place = folder_ / member.name;
    keep_access(place, member.written);
    if (::rename(member.written.c_str(), place.c_str()) != 0)
      return system_error(place, "rename", errno);
  }
  made_.clear();
  close();
  for (const auto& folder : touched) HIPPLAN_TRY(sync_one(folder));
  return {};
}

}  // namespace hipplan::plan
