#include "plan/folder_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/path_fault.h"
#include "base/replaced_file.h"
#include "plan/errors.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

constexpr char kStagingMark[] = ".hipplan-tmp-";

Error system_error(const fs::path& path, const std::string& doing, int number) {
  const std::string what = doing + " failed: " + std::generic_category().message(number);
  return is_wrong_path(number) ? bad_input("open", path.string(), what)
                               : machine("io", path.string(), what);
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

/// The file that `written` is to replace keeps its permissions and owner.
void keep_access(const fs::path& place, const fs::path& written) {
  const int opened = ::open(written.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened < 0) return;  // it may be read by nobody, and stays so
  take_access_of(place, opened);
  ::close(opened);
}

}  // namespace

FolderOutput::FolderOutput(FolderOutput&& other) noexcept
    : folder_(std::move(other.folder_)),
      staging_(std::exchange(other.staging_, {})),
      made_(std::move(other.made_)),
      members_(std::move(other.members_)),
      lock_(std::exchange(other.lock_, -1)) {}

FolderOutput::~FolderOutput() {
  close();  // before what holds the staging folder is removed
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
  HIPPLAN_TRY(out.made_.make(folder));
  HIPPLAN_TRY(out.open_staging());
  return out;
}

Result<void> FolderOutput::open_staging() {
  constexpr int kAttempts = 1000, kSwept = 16;
  const auto place = [&](int number) { return folder_ / (kStagingMark + std::to_string(number)); };
  for (int number = 0; number < kAttempts; ++number) {
    const fs::path at = place(number);
    remove_stale_folder(at);
    // What is to replace a file is nobody else's to read before it has that file's permissions.
    if (::mkdir(at.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;  // of a writer that is at work
      return folder_error(folder_, "write into", {errno, std::generic_category()});
    }
    lock_ = ::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ >= 0 && lock_temporary(lock_)) {
      staging_ = at;
      // Of several dead writers those behind this number are met by nobody else.
      for (int next = number + 1; next <= number + kSwept; ++next) remove_stale_folder(place(next));
      return {};
    }
    if (lock_ >= 0) ::close(std::exchange(lock_, -1));
  }
  return system_error(folder_, "making a temporary folder", EEXIST);
}

/// The place that a file is written for instead of where it is written.
Error FolderOutput::named(Error error) const {
  const auto shown_as = [&](const fs::path& hidden, const fs::path& place) {
    const std::string text = hidden.string();
    if (!error.where.starts_with(text)) return false;
    error.where = place.string() + error.where.substr(text.size());
    return true;
  };
  if (!members_.empty() && shown_as(members_.back().written, folder_ / members_.back().name))
    return error;
  shown_as(staging_, folder_);
  return error;
}

Result<void> FolderOutput::add(const fs::path& name,
                               const std::function<Result<void>(const fs::path&)>& write) {
  // Names without a suffix, so that nobody who searches the folder takes them for results.
  members_.push_back({staging_ / std::to_string(members_.size()), name});
  const auto done = write(members_.back().written);
  return done ? done : Result<void>(named(done.error()));
}

Result<void> FolderOutput::add(const fs::path& name, ByteView bytes) {
  return add(name, [&](const fs::path& path) { return write_file(path, bytes); });
}

Result<void> FolderOutput::check_places() const {
  for (const auto& member : members_) {
    std::error_code failed;
    const fs::path place = folder_ / member.name;
    if (fs::is_directory(fs::status(place, failed)))
      return bad_input("open", place.string(), "is a folder", "a file name");
    if (failed == std::errc::filename_too_long)
      return bad_input("open", place.string(), "cannot be a file's name: " + failed.message());
  }
  return {};
}

Result<void> FolderOutput::commit() {
  HIPPLAN_TRY(check_places());
  std::set<fs::path> touched{folder_};
  for (const auto& member : members_) {
    const fs::path parent = (folder_ / member.name).parent_path();
    if (touched.insert(parent).second) HIPPLAN_TRY(made_.make(parent));
  }
  for (const auto& member : members_) {
    const fs::path place = folder_ / member.name;
    keep_access(place, member.written);
    if (::rename(member.written.c_str(), place.c_str()) != 0)
      return system_error(place, "rename", errno);
    made_.keep();
  }
  made_.keep();
  close();
  for (const auto& folder : touched) HIPPLAN_TRY(sync_one(folder));
  return {};
}

}  // namespace hipplan::plan
