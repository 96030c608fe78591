#include "base/replaced_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace hipplan {
namespace fs = std::filesystem;

void take_access_of(const fs::path& target, int descriptor) {
  struct stat old{}, fresh{};
  if (::stat(target.c_str(), &old) != 0 || !S_ISREG(old.st_mode)) return;
  if (::fchown(descriptor, old.st_uid, old.st_gid) != 0)
    (void)!::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid);
  constexpr mode_t kAll = 0777;
  mode_t mode = old.st_mode & kAll;
  const bool kept = ::fstat(descriptor, &fresh) == 0 && fresh.st_gid == old.st_gid;
  if (!kept) mode &= ~static_cast<mode_t>(S_IRWXG) | ((mode & S_IRWXO) << 3);
  // Where this fails the file stays the writer's alone.
  (void)!::fchmod(descriptor, mode);
}

bool names_descriptor(const fs::path& name) {
  constexpr int kMostLinks = 40;  // as the kernel follows
  fs::path at = name;
  for (int link = 0; link < kMostLinks; ++link) {
    std::error_code failed;
    const fs::path folder = fs::canonical(at.has_parent_path() ? at.parent_path() : ".", failed);
    if (failed) return false;
    const std::string text = folder.string();
    if (text.starts_with("/proc/") && text.ends_with("/fd")) return true;
    const fs::path to = fs::read_symlink(folder / at.filename(), failed);
    if (failed) return false;
    at = to.is_absolute() ? to : folder / to;
  }
  return false;
}

}  // namespace hipplan
